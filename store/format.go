package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/mlgkernel/mlg/spd"
)

// The format (docs/store-format.md): a head with the model, chunks, an end. All numbers are
// little-endian; every part is a multiple of 64 bytes long and covered by a CRC-32C.
//
//	head   0  magic
//	       8  format, 4 bytes; CRC of the head without these 4 bytes
//	      16  length of the head, length of the model file in it, graphs in a full chunk,
//	          numbers in a record, 8 bytes each
//	      48  fingerprint of the model
//	      80  the model file, filled up with zeros
//
//	chunk  0  "chunk\r\n" and 0
//	       8  CRC of the chunk without these 4 bytes; 4 bytes of 0
//	      16  length of the chunk, number of its first graph, number of its graphs, length of
//	          its texts, 8 bytes each
//	      64  for each kernel and level: the matrices of the chunk, eight interleaved
//	          then for each graph the lengths of identifier and target (varint), and they
//
//	end    0  "end\r\n\x1a" and two 0
//	       8  CRC of the end without these 4 bytes; 4 bytes of 0
//	      16  length of the file, number of graphs, number of chunks, 8 bytes each
const (
	magic      = "\x89MLS\r\n\x1a\n"
	chunkMagic = "chunk\r\n\x00"
	endMagic   = "end\r\n\x1a\x00\x00"
	format     = 1
	headSize   = 80
	partSize   = 64 // head of a chunk, and the end
	align      = 64
	lanes      = 8
)

// The layout of matrices in a file is the one that package spd compares.
var _ = [1]struct{}{}[spd.Lanes-lanes]

var table = crc32.MakeTable(crc32.Castagnoli)

// seal writes the CRC of a part into its bytes at … at+3; check tells whether it is right.
func seal(part []byte, at int) { binary.LittleEndian.PutUint32(part[at:], sum(part, at)) }

func check(part []byte, at int) bool { return binary.LittleEndian.Uint32(part[at:]) == sum(part, at) }

func sum(part []byte, at int) uint32 {
	return crc32.Update(crc32.Checksum(part[:at], table), table, part[at+4:])
}

// up returns the next multiple of align.
func up(n int) int { return (n + align - 1) &^ (align - 1) }

// encodeHead returns the head of a file.
func encodeHead(model []byte, s *Space, capacity int) []byte {
	le := binary.LittleEndian
	out := make([]byte, up(headSize+len(model)))
	copy(out, magic)
	le.PutUint32(out[8:], format)
	for i, x := range []int{len(out), len(model), capacity, s.Size()} {
		le.PutUint64(out[16+8*i:], uint64(x))
	}
	copy(out[48:], s.fingerprint[:])
	copy(out[headSize:], model)
	seal(out, 12)
	return out
}

// head is what the head of a file says.
type head struct {
	length, capacity, size int
	fingerprint            Digest
	model                  []byte
}

// maxCapacity bounds the graphs of a chunk, so that sums of lengths do not overflow.
const maxCapacity = 1 << 20

func decodeHead(data []byte) (*head, error) {
	le := binary.LittleEndian
	switch {
	case len(data) == 0:
		return nil, errors.New("the file is empty, want a store")
	case !IsStore(data):
		return nil, errors.New("not an mlg store")
	case len(data) < headSize:
		return nil, errors.New("the store breaks off in its head")
	case le.Uint32(data[8:]) != format:
		return nil, fmt.Errorf("a store of format %d, this program reads %d", le.Uint32(data[8:]), format)
	}
	var x [4]uint64
	for i := range x {
		x[i] = le.Uint64(data[16+8*i:])
	}
	if x[0] > uint64(len(data)) {
		return nil, errors.New("the store breaks off in its head")
	}
	if x[0] < headSize || x[0]%align != 0 || !check(data[:x[0]], 12) {
		return nil, errors.New("the store is damaged: its head does not match its checksum")
	}
	if x[1] > x[0]-headSize || x[2] < 1 || x[2] > maxCapacity || x[3] < 1 || x[3] > 1<<24 {
		return nil, errors.New("the head of the store makes no sense")
	}
	h := &head{length: int(x[0]), capacity: int(x[2]), size: int(x[3]), model: data[headSize:][:x[1]]}
	copy(h.fingerprint[:], data[48:])
	return h, nil
}

// IsStore tells a store by the first bytes of a file.
func IsStore(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// encodeChunk returns a chunk of graphs, the first of which has the given number.
func encodeChunk(s *Space, first int, records []float64, ids, targets []string) []byte {
	le := binary.LittleEndian
	n := len(ids)
	matrices := (n + lanes - 1) / lanes * lanes * s.size
	out := make([]byte, partSize+8*matrices, partSize+8*matrices+32*n)
	s.interleave(out[partSize:], records, n)
	out = appendTexts(out, ids, targets)
	texts := len(out) - partSize - 8*matrices
	out = append(out, make([]byte, up(len(out))-len(out))...)
	copy(out, chunkMagic)
	for i, x := range []int{len(out), first, n, texts} {
		le.PutUint64(out[16+8*i:], uint64(x))
	}
	seal(out, 8)
	return out
}

// appendTexts appends identifiers and targets as a chunk has them.
func appendTexts(b []byte, ids, targets []string) []byte {
	for i := range ids {
		for _, text := range []string{ids[i], targets[i]} {
			b = binary.AppendUvarint(b, uint64(len(text)))
			b = append(b, text...)
		}
	}
	return b
}

// chunk is what the head of a chunk says, and its bytes.
type chunk struct {
	first, n  int
	data      []byte // the whole chunk
	matrices  int    // numbers
	textBytes int
}

// decodeChunk reads the head of the chunk at the beginning of data. Nothing but the lengths
// is checked; see chunk.check.
func decodeChunk(data []byte, h *head, first int) (*chunk, error) {
	le := binary.LittleEndian
	if len(data) < partSize {
		return nil, errors.New("the store breaks off in the head of a chunk")
	}
	var x [4]uint64
	for i := range x {
		x[i] = le.Uint64(data[16+8*i:])
	}
	if x[1] != uint64(first) || x[2] < 1 || x[2] > uint64(h.capacity) {
		return nil, fmt.Errorf("a chunk with graphs %d and %d more, want them from %d on, 1 to %d", x[1], x[2], first, h.capacity)
	}
	c := &chunk{first: first, n: int(x[2])}
	c.matrices = (c.n + lanes - 1) / lanes * lanes * h.size
	body := uint64(partSize + 8*c.matrices)
	if x[0]%align != 0 || x[0] > uint64(len(data)) || x[0] < body || x[3] > x[0]-body {
		return nil, fmt.Errorf("a chunk of %d bytes, with %d for texts, where %d are left", x[0], x[3], len(data))
	}
	c.data, c.textBytes = data[:x[0]:x[0]], int(x[3])
	return c, nil
}

func (c *chunk) check() error {
	if !check(c.data, 8) {
		return fmt.Errorf("the store is damaged: graphs %d … %d do not match their checksum", c.first, c.first+c.n-1)
	}
	return nil
}

// textual returns the bytes of the texts.
func (c *chunk) textual() []byte { return c.data[partSize+8*c.matrices:][:c.textBytes] }

// texts calls f with identifier and target of one graph after the other, until it returns false.
func (c *chunk) texts(f func(i int, id, target string) bool) error {
	rest := c.textual()
	for i := range c.n {
		var pair [2]string
		for j := range pair {
			n, w := binary.Uvarint(rest)
			if w <= 0 || n > uint64(len(rest)-w) {
				return fmt.Errorf("the texts of graph %d break off", c.first+i)
			}
			pair[j] = string(rest[w:][:n])
			rest = rest[w+int(n):]
		}
		if !f(i, pair[0], pair[1]) {
			return nil
		}
	}
	return nil
}

// interleave writes the matrices of n records as a chunk has them.
func (s *Space) interleave(dst []byte, records []float64, n int) {
	le := binary.LittleEndian
	at := 0 // of the matrix in a record
	for _, orders := range s.orders {
		for _, p := range orders {
			size := spd.Size(p)
			for i := range n {
				tile := dst[8*(i/lanes*lanes*size+i%lanes):]
				for e, v := range records[i*s.size+at:][:size] {
					le.PutUint64(tile[8*lanes*e:], math.Float64bits(v))
				}
			}
			dst = dst[8*((n+lanes-1)/lanes*lanes*size):]
			at += size
		}
	}
}

// separate is the inverse of interleave for the graphs lo … hi-1 of n.
func (s *Space) separate(dst, matrices []float64, n, lo, hi int) {
	at := 0
	for _, orders := range s.orders {
		for _, p := range orders {
			size := spd.Size(p)
			for i := lo; i < hi; i++ {
				tile := matrices[i/lanes*lanes*size+i%lanes:]
				for e := range size {
					dst[(i-lo)*s.size+at+e] = tile[lanes*e]
				}
			}
			matrices = matrices[(n+lanes-1)/lanes*lanes*size:]
			at += size
		}
	}
}

// encodeEnd returns the end of a file of the given length, end included.
func encodeEnd(length, graphs, chunks int) []byte {
	le := binary.LittleEndian
	out := make([]byte, partSize)
	copy(out, endMagic)
	for i, x := range []int{length, graphs, chunks} {
		le.PutUint64(out[16+8*i:], uint64(x))
	}
	seal(out, 8)
	return out
}
