package tiles

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
)

// DefaultSide is a good side of tiles: 8 MB each, so that not much is lost with one.
const DefaultSide = 1024

// Layout identifies a Gram matrix, and says how it is cut into tiles. Files with equal layouts have
// tiles of the same matrix.
type Layout struct {
	Model      string `json:"model"`      // its fingerprint, hexadecimal
	Kernel     string `json:"kernel"`     // for people
	Collection string `json:"collection"` // hash of features, identifiers and targets, hexadecimal
	Graphs     int    `json:"graphs"`     // rows and columns of the matrix
	Side       int    `json:"side"`       // of a tile; those at the end are smaller
}

// NewLayout returns the layout of a collection of graphs. blocks has the hashes of the features of
// one block after the other, as HashFeatures returns them.
func NewLayout(model, kernel string, side int, blocks [][sha256.Size]byte, axis matrixfile.Axis) (Layout, error) {
	p := Layout{Model: model, Kernel: kernel, Graphs: len(axis.IDs), Side: side}
	if err := p.Validate(); err != nil {
		return p, err
	}
	if len(blocks) != p.Blocks() {
		return p, fmt.Errorf("plan: features of %d blocks, want %d for %d identifiers", len(blocks), p.Blocks(), p.Graphs)
	}
	h := sha256.New()
	for _, b := range blocks {
		h.Write(b[:])
	}
	if err := axis.WriteCSV(h); err != nil {
		return p, err
	}
	p.Collection = hex.EncodeToString(h.Sum(nil))
	return p, nil
}

// HashFeatures returns the SHA-256 hash of encoded features.
func HashFeatures(a kernel.Features) ([sha256.Size]byte, error) {
	b, err := a.AppendBinary(nil)
	return sha256.Sum256(b), err
}

// Bounds that keep the bytes of a tile below 2³¹, and the number of tiles in reach of a list.
const (
	maxSide   = 1 << 14
	maxBlocks = 1 << 14
)

// Validate returns an error that says what is wrong with the plan.
func (p Layout) Validate() error {
	if p.Side < 1 || p.Side > maxSide {
		return fmt.Errorf("plan: tiles with side %d, want 1 to %d", p.Side, maxSide)
	}
	if p.Graphs < 0 || p.Graphs > maxBlocks*p.Side {
		return fmt.Errorf("plan: %d graphs, want at most %d by tiles of %d", p.Graphs, maxBlocks*p.Side, p.Side)
	}
	return nil
}

// Blocks returns the number of blocks of graphs.
func (p Layout) Blocks() int { return (p.Graphs + p.Side - 1) / p.Side }

// Block returns the graphs of a block, lo … hi-1.
func (p Layout) Block(b int) (lo, hi int) {
	return b * p.Side, min((b+1)*p.Side, p.Graphs)
}

// Tiles returns the number of tiles.
func (p Layout) Tiles() int { return p.Blocks() * (p.Blocks() + 1) / 2 }

// Index returns the number of the tile with the given blocks, row ≤ col. Tiles are numbered as
// if those below the diagonal were there too.
func (p Layout) Index(row, col int) int { return row*p.Blocks() + col }

// Place is the inverse of Index: the blocks of tile t.
func (p Layout) Place(t int) (row, col int) { return t / p.Blocks(), t % p.Blocks() }

// shape returns the numbers of rows and columns of tile t.
func (p Layout) shape(t int) (rows, cols int) {
	row, col := p.Place(t)
	lo, hi := p.Block(row)
	first, last := p.Block(col)
	return hi - lo, last - first
}

// name returns the name of tile t, and of its section.
func (p Layout) name(t int) string {
	row, col := p.Place(t)
	return fmt.Sprintf("tile/%d/%d", row, col)
}

// shard returns the tiles of shard i of n, 1 ≤ i ≤ n: every n-th, from the i-th on. Each tile is
// in one shard, and the shards have the same number of tiles but for one.
func (p Layout) shard(i, n int) []int {
	var out []int
	count := 0
	for row := range p.Blocks() {
		for col := row; col < p.Blocks(); col++ {
			if count++; count%n == i%n {
				out = append(out, p.Index(row, col))
			}
		}
	}
	return out
}

// difference says how the plan differs from the wanted one.
func (p Layout) difference(want Layout) string {
	switch {
	case p.Model != want.Model || p.Kernel != want.Kernel:
		return fmt.Sprintf("another model: %.12s (%s), want %.12s (%s)", p.Model, p.Kernel, want.Model, want.Kernel)
	case p.Graphs != want.Graphs || p.Side != want.Side:
		return fmt.Sprintf("another plan: %d graphs by tiles of %d, want %d by %d", p.Graphs, p.Side, want.Graphs, want.Side)
	}
	return "other graphs, or graphs with other identifiers or targets"
}

// Gram is a Gram matrix that is computed in tiles: the features of graphs and their kernel.
type Gram struct {
	Kernel      *kernel.FittedSum
	Fingerprint string // of the model that has the kernel, hexadecimal
	Graphs      int
	// Features returns the features of the graphs lo … hi-1. It is called concurrently.
	Features func(lo, hi int) (kernel.Features, error)
	matrixfile.Axis
}

// NewGram returns the matrix of graphs with the given features under a model.
func NewGram(m *model.Model, graphs int, features func(lo, hi int) (kernel.Features, error), axis matrixfile.Axis) (*Gram, error) {
	f, err := m.Fingerprint()
	return &Gram{m.Kernel, hex.EncodeToString(f[:]), graphs, features, axis}, err
}

// whole reports whether a factor of the kernel computes a block with all goroutines (kernel.Whole).
func (g *Gram) whole() bool {
	return slices.ContainsFunc(g.Kernel.Factors, func(f *kernel.FittedFactor) bool {
		_, whole := f.Known().Map.(kernel.Whole)
		return whole
	})
}

// Layout returns the layout of the matrix.
func (g *Gram) Layout(side int) (Layout, error) {
	p := Layout{Graphs: g.Graphs, Side: side}
	if err := p.Validate(); err != nil {
		return p, err
	}
	var blocks [][sha256.Size]byte
	for b := range p.Blocks() {
		a, err := g.Features(p.Block(b))
		if err != nil {
			return p, err
		}
		hash, err := HashFeatures(a)
		if err != nil {
			return p, err
		}
		blocks = append(blocks, hash)
	}
	return NewLayout(g.Fingerprint, g.Kernel.String(), side, blocks, g.Axis)
}

// Encode returns the plan as JSON. Equal plans give equal bytes.
func (p Layout) Encode() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // a struct of numbers and strings
	}
	return text
}

// DecodeLayout is the inverse of Layout.Encode.
func DecodeLayout(text []byte) (Layout, error) {
	var p Layout
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("not a plan of tiles: %w", err)
	}
	return p, p.Validate()
}
