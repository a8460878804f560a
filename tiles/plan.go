package tiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mlgkernel/mlg/store"
)

// DefaultSide is a good side of tiles: 8 MB each, so that there are not too many files, and
// not much is lost with one.
const DefaultSide = 1024

// Plan says how a Gram matrix is cut into tiles. Equal plans have equal tiles.
type Plan struct {
	Model  store.Digest `json:"model"`  // the fingerprint of the model
	Graphs int          `json:"graphs"` // rows and columns of the matrix
	Side   int          `json:"side"`   // of a tile; those at the end are smaller
}

// maxSide keeps the bytes of a tile below 2³¹.
const maxSide = 1 << 14

// Validate returns an error that says what is wrong with the plan.
func (p Plan) Validate() error {
	if p.Graphs < 0 || p.Graphs > 1<<40 {
		return fmt.Errorf("plan: %d graphs, want a number that is not negative, at most 2^40", p.Graphs)
	}
	if p.Side < 1 || p.Side > maxSide {
		return fmt.Errorf("plan: tiles with side %d, want 1 to %d", p.Side, maxSide)
	}
	return nil
}

// Blocks returns the number of blocks of graphs.
func (p Plan) Blocks() int { return (p.Graphs + p.Side - 1) / p.Side }

// Block returns the graphs of a block, lo … hi-1.
func (p Plan) Block(b int) (lo, hi int) {
	return b * p.Side, min((b+1)*p.Side, p.Graphs)
}

// Tiles returns the number of tiles.
func (p Plan) Tiles() int { return p.Blocks() * (p.Blocks() + 1) / 2 }

// Index returns the number of the tile with the given blocks, row ≤ col.
func (p Plan) Index(row, col int) int {
	if row < 0 || row > col || col >= p.Blocks() {
		panic(fmt.Sprintf("tiles: blocks %d and %d, want them rising and below %d", row, col, p.Blocks()))
	}
	return p.before(row) + col - row
}

// before returns the number of tiles in the rows of blocks before the given one.
func (p Plan) before(row int) int { return row*p.Blocks() - row*(row-1)/2 }

// Place is the inverse of Index: the blocks of tile t.
func (p Plan) Place(t int) (row, col int) {
	if t < 0 || t >= p.Tiles() {
		panic(fmt.Sprintf("tiles: tile %d of %d", t, p.Tiles()))
	}
	lo, hi := 0, p.Blocks() // the last row that does not begin behind t is in [lo, hi)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; p.before(mid) <= t {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, lo + t - p.before(lo)
}

// Shard returns the tiles of shard i of n, 1 ≤ i ≤ n: every n-th, from tile i−1 on. Each
// tile is in one shard, and the shards have the same number of tiles but for one.
func (p Plan) Shard(i, n int) iter.Seq[int] {
	if n < 1 || i < 1 || i > n {
		panic(fmt.Sprintf("tiles: shard %d of %d", i, n))
	}
	return func(yield func(int) bool) {
		for t := i - 1; t < p.Tiles(); t += n {
			if !yield(t) {
				return
			}
		}
	}
}

// Manifest describes a set of tiles: what Merge needs to know besides the tiles.
type Manifest struct {
	Plan
	Kernel  string         `json:"kernel"`            // for people
	Digests []store.Digest `json:"digests"`           // of the records of each block
	IDs     []string       `json:"ids"`               // of the graphs
	Targets []string       `json:"targets,omitempty"` // of the graphs, or none
}

// NewManifest returns the manifest of a collection.
func NewManifest(s *store.Space, side int, src store.Source, kernel string, ids, targets []string) (*Manifest, error) {
	m := &Manifest{
		Plan:   Plan{Model: s.Fingerprint(), Graphs: src.Len(), Side: side},
		Kernel: kernel, IDs: ids, Targets: targets,
	}
	if err := m.Plan.Validate(); err != nil {
		return nil, err
	}
	for b := range m.Blocks() {
		records, err := src.Records(m.Block(b))
		if err != nil {
			return nil, err
		}
		m.Digests = append(m.Digests, store.Sum(records))
	}
	return m, m.Validate()
}

// Validate returns an error if the parts of the manifest do not belong together.
func (m *Manifest) Validate() error {
	if err := m.Plan.Validate(); err != nil {
		return err
	}
	if len(m.Digests) != m.Blocks() {
		return fmt.Errorf("manifest: %d digests for %d blocks", len(m.Digests), m.Blocks())
	}
	if len(m.IDs) != m.Graphs || m.Targets != nil && len(m.Targets) != m.Graphs {
		return fmt.Errorf("manifest: %d identifiers and %d targets for %d graphs", len(m.IDs), len(m.Targets), m.Graphs)
	}
	return nil
}

// format is the version of the encoded manifest and tile.
const format = 1

// sealed is a manifest as it is written. The checksum is that of the text in which it is empty.
type sealed struct {
	Format int    `json:"mlg_tiles"`
	SHA256 string `json:"sha256"`
	*Manifest
}

// Encode returns the manifest as JSON with a checksum. Equal manifests give equal bytes.
func (m *Manifest) Encode() ([]byte, error) {
	valid := *m // JSON has no other text
	valid.Kernel, valid.IDs, valid.Targets = validText(m.Kernel)[0], validText(m.IDs...), validText(m.Targets...)
	s := sealed{Format: format, Manifest: &valid}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	s.SHA256 = store.Digest(sha256.Sum256(text)).String()
	text, err = json.Marshal(s)
	return append(text, '\n'), err
}

func validText(texts ...string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = strings.ToValidUTF8(t, "\ufffd")
	}
	return out
}

// DecodeManifest is the inverse of Manifest.Encode.
func DecodeManifest(text []byte) (*Manifest, error) {
	s := sealed{Manifest: &Manifest{}}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("not a manifest of tiles: %w", err)
	}
	if s.Format != format {
		return nil, fmt.Errorf("manifest of format %d, want %d", s.Format, format)
	}
	if err := s.Manifest.Validate(); err != nil {
		return nil, err
	}
	again, err := s.Manifest.Encode()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(bytes.TrimSpace(again), bytes.TrimSpace(text)) {
		return nil, errors.New("the manifest is damaged: it does not match its checksum")
	}
	return s.Manifest, nil
}
