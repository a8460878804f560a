package tiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/store"
)

// Tile is a piece of a Gram matrix.
type Tile struct {
	Header
	Values []float64 // rows by columns, row-major; square and symmetric on the diagonal
}

// Header says which piece of which matrix a tile is.
type Header struct {
	Plan
	Row, Col int          // blocks, Row ≤ Col
	Rows     store.Digest // of the records of the block of rows
	Cols     store.Digest // of the records of the block of columns
}

// Shape returns the numbers of rows and columns of the tile.
func (h *Header) Shape() (rows, cols int) {
	lo, hi := h.Block(h.Row)
	first, last := h.Block(h.Col)
	return hi - lo, last - first
}

// Compute returns tile t of a plan from the records of its two blocks, in the calling
// goroutine. On the diagonal both are the same. A value has the bits of the model's Gram.
func Compute(ctx context.Context, s *store.Space, p Plan, t int, rows, cols []float64) (*Tile, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Model != s.Fingerprint() {
		return nil, fmt.Errorf("plan: model %s, but this is %s", short(p.Model), short(s.Fingerprint()))
	}
	tile := &Tile{Header: Header{Plan: p}}
	tile.Row, tile.Col = p.Place(t)
	n, m := tile.Shape()
	if len(rows) != n*s.Size() || len(cols) != m*s.Size() {
		return nil, fmt.Errorf("tile %d: %d and %d numbers, want records of %d and %d graphs with %d each", t, len(rows), len(cols), n, m, s.Size())
	}
	tile.Rows = store.Sum(rows)
	a, err := s.Block(rows)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", tile.Row, err)
	}
	b := a
	tile.Cols = tile.Rows
	if tile.Row != tile.Col {
		tile.Cols = store.Sum(cols)
		if b, err = s.Block(cols); err != nil {
			return nil, fmt.Errorf("block %d: %w", tile.Col, err)
		}
	}
	tile.Values = make([]float64, n*m)
	s.Compare(tile.Values, m, a, 0, n, b, 0, m)
	for i, v := range tile.Values {
		if math.IsNaN(v) {
			lo, _ := p.Block(tile.Row)
			first, _ := p.Block(tile.Col)
			return nil, fmt.Errorf("the kernel of graphs %d and %d is not a number: their covariances are nearly singular; raise gamma", lo+i/m, first+i%m)
		}
	}
	return tile, ctx.Err()
}

func short(d store.Digest) string { return d.String()[:12] }

// An encoded tile is a header of headerSize bytes and the values, all in little-endian order:
//
//	  0  magic, as in model files: no text, and line ends that betray a changed transfer
//	  8  format, 4 bytes; 4 bytes of 0
//	 16  graphs, side, block of rows, block of columns, 8 bytes each
//	 48  digests: model, records of the rows, records of the columns, values
//	176  digest of the 176 bytes before
//	208  values
const (
	magic      = "\x89MLT\r\n\x1a\n"
	headerSize = 208
	sumAt      = headerSize - sha256.Size // the digest of the header
	valuesAt   = sumAt - sha256.Size      // the digest of the values
)

// Encode returns the tile as bytes. Equal tiles give equal bytes.
func (t *Tile) Encode() []byte {
	le := binary.LittleEndian
	out := make([]byte, headerSize, headerSize+8*len(t.Values))
	for _, v := range t.Values {
		out = le.AppendUint64(out, math.Float64bits(v))
	}
	copy(out, magic)
	le.PutUint32(out[8:], format)
	for i, x := range []int{t.Graphs, t.Side, t.Row, t.Col} {
		le.PutUint64(out[16+8*i:], uint64(x))
	}
	values := store.Digest(sha256.Sum256(out[headerSize:]))
	for i, d := range []store.Digest{t.Model, t.Rows, t.Cols, values} {
		copy(out[48+sha256.Size*i:], d[:])
	}
	sum := sha256.Sum256(out[:sumAt])
	copy(out[sumAt:], sum[:])
	return out
}

// ErrDamaged is the error, as told by errors.Is, of bytes that are not a whole tile.
var ErrDamaged = errors.New("damaged tile")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// Decode is the inverse of Encode. Every byte is checked; an error is ErrDamaged.
func Decode(data []byte) (*Tile, error) {
	h, err := check(data)
	if err != nil {
		return nil, err
	}
	values := data[headerSize:]
	t := &Tile{Header: *h, Values: make([]float64, len(values)/8)}
	for i := range t.Values {
		t.Values[i] = math.Float64frombits(binary.LittleEndian.Uint64(values[8*i:]))
	}
	return t, nil
}

// check checks every byte of an encoded tile and returns its header.
func check(data []byte) (*Header, error) {
	h, err := decodeHeader(data, int64(len(data)))
	if err != nil {
		return nil, err
	}
	if sha256.Sum256(data[headerSize:]) != [sha256.Size]byte(data[valuesAt:]) {
		return nil, damaged("the values do not match their checksum")
	}
	return h, nil
}

// decodeHeader reads the header of a tile of the given number of bytes.
func decodeHeader(data []byte, size int64) (*Header, error) {
	le := binary.LittleEndian
	switch {
	case len(data) < headerSize:
		return nil, damaged("%d bytes, want at least %d", len(data), headerSize)
	case !bytes.HasPrefix(data, []byte(magic)):
		return nil, damaged("it does not begin as a tile does")
	case sha256.Sum256(data[:sumAt]) != [sha256.Size]byte(data[sumAt:]):
		return nil, damaged("the header does not match its checksum")
	case le.Uint32(data[8:]) != format:
		return nil, fmt.Errorf("tile of format %d, want %d: it was written by another version of mlg", le.Uint32(data[8:]), format)
	}
	h := &Header{}
	for i, x := range []*int{&h.Graphs, &h.Side, &h.Row, &h.Col} {
		*x = int(le.Uint64(data[16+8*i:]))
	}
	for i, d := range []*store.Digest{&h.Model, &h.Rows, &h.Cols} {
		copy(d[:], data[48+sha256.Size*i:])
	}
	if err := h.Plan.Validate(); err != nil {
		return nil, damaged("%v", err)
	}
	if h.Row < 0 || h.Row > h.Col || h.Col >= h.Blocks() {
		return nil, damaged("blocks %d and %d of %d", h.Row, h.Col, h.Blocks())
	}
	rows, cols := h.Shape()
	if want := headerSize + 8*int64(rows)*int64(cols); size != want {
		return nil, damaged("%d bytes, want %d", size, want)
	}
	return h, nil
}

// Check returns an error that says in what a tile does not belong to the manifest.
func (m *Manifest) Check(h *Header) error {
	switch {
	case h.Model != m.Model:
		return fmt.Errorf("is of another model: %s, want %s", short(h.Model), short(m.Model))
	case h.Plan != m.Plan:
		return fmt.Errorf("is of another plan: %d graphs by tiles of %d, want %d by %d", h.Graphs, h.Side, m.Graphs, m.Side)
	case h.Rows != m.Digests[h.Row]:
		return fmt.Errorf("is of other graphs: block %d differs", h.Row)
	case h.Cols != m.Digests[h.Col]:
		return fmt.Errorf("is of other graphs: block %d differs", h.Col)
	}
	return nil
}
