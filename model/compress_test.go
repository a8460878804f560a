package model

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// What was compressed comes back, whatever its length, and takes the way that is meant for it.
func TestCompress(t *testing.T) {
	r := graphtest.Rand(1)
	noise := make([]byte, 2*pieceBytes+13)
	for i := range noise {
		noise[i] = byte(r.IntN(256))
	}
	numbers := make([]byte, 0, pieceBytes)
	for len(numbers) < 80_000 {
		numbers = binary.LittleEndian.AppendUint64(numbers, math.Float64bits(1+r.Float64()))
	}
	words := bytes.Repeat([]byte("methane, ethane, propane and butane; "), 100)
	for i := range words {
		if r.IntN(10) == 0 {
			words[i] = byte('a' + r.IntN(26))
		}
	}
	for _, c := range []struct {
		name string
		data []byte
		way  uint64
	}{
		{"noise", noise, compressed},
		{"numbers", numbers, compressedPlanes},
		{"numbers and a rest", numbers[:len(numbers)-3], compressedPlanes},
		{"words", words, compressed},
		{"zeros", make([]byte, pieceBytes+1), asItIs},
	} {
		b, err := compress(c.data)
		if err != nil {
			t.Fatal(err)
		}
		if way := binary.LittleEndian.Uint64(b[8:]) % ways; way != c.way {
			t.Errorf("%s: way %d, want %d", c.name, way, c.way)
		}
		if got, err := decompress(b); err != nil || !bytes.Equal(got, c.data) {
			t.Errorf("%s: other bytes, error %v", c.name, err)
		}
	}
	if b, err := compress(nil); err != nil || len(b) != 8 {
		t.Errorf("nothing became %d bytes, error %v", len(b), err)
	}
}

// Bytes that compress did not write are errors, and take no memory.
func FuzzDecompress(f *testing.F) {
	for _, data := range [][]byte{nil, []byte("x"), make([]byte, 100_000)} {
		b, err := compress(data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if out, err := decompress(data); err == nil && len(out) > mostExpansion*len(data) {
			t.Errorf("%d bytes from %d", len(out), len(data))
		}
	})
}
