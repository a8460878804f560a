package model

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// mostExpansion is the largest ratio of bytes to compressed bytes that is read. Features have two to
// four. Without a limit, a small file could ask for any amount of memory.
const mostExpansion = 128

// pieceBytes is the number of bytes that are compressed together.
const pieceBytes = 4 << 20

// Ways to write a piece.
const (
	compressed = iota
	compressedPlanes
	asItIs // so that the ratio keeps to mostExpansion
	ways   = 4
)

// compress returns the number of bytes, and the bytes compressed, piece by piece. Numbers of 8 bytes take a
// tenth less as planes. So a piece is compressed with and without, and the shorter one is taken.
func compress(data []byte) ([]byte, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	for len(data) > 0 {
		piece := data[:min(pieceBytes, len(data))]
		data = data[len(piece):]
		best, way := e.EncodeAll(piece, nil), compressed
		if other := e.EncodeAll(planes(piece), nil); len(other) < len(best) {
			best, way = other, compressedPlanes
		}
		if len(piece) > mostExpansion*len(best) {
			best, way = piece, asItIs
		}
		out = binary.LittleEndian.AppendUint64(out, uint64(ways*len(best)+way))
		out = append(out, best...)
	}
	return out, nil
}

// decompress is the inverse of compress.
func decompress(data []byte) ([]byte, error) {
	if len(data) < 8 {
		return nil, errors.New("the data end early")
	}
	n, data := binary.LittleEndian.Uint64(data), data[8:]
	if n > mostExpansion*uint64(len(data)) {
		return nil, fmt.Errorf("%d bytes in %d compressed ones, want at most %d times as many", n, len(data), mostExpansion)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(pieceBytes))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out := make([]byte, 0, n)
	for len(data) > 0 {
		if len(data) < 8 {
			return nil, errors.New("the data end early")
		}
		length, way := binary.LittleEndian.Uint64(data)/ways, binary.LittleEndian.Uint64(data)%ways
		if data = data[8:]; length > uint64(len(data)) || way > asItIs {
			return nil, fmt.Errorf("%d bytes in way %d, want ways up to %d and at most the %d bytes that are left", length, way, asItIs, len(data))
		}
		piece := data[:length]
		if way != asItIs {
			if piece, err = d.DecodeAll(piece, nil); err != nil {
				return nil, err
			}
		}
		if way == compressedPlanes {
			piece = unplanes(piece)
		}
		if want := min(pieceBytes, int(n)-len(out)); len(piece) != want {
			return nil, fmt.Errorf("%d bytes in a piece, want %d", len(piece), want)
		}
		out, data = append(out, piece...), data[length:]
	}
	if uint64(len(out)) != n {
		return nil, fmt.Errorf("%d bytes, want %d", len(out), n)
	}
	return out, nil
}

// planes returns the bytes 0, 8, 16, … of data, then 1, 9, 17, …, up to 7, 15, …, and what is behind the
// last 8 as it is.
func planes(data []byte) []byte {
	n := len(data) / 8
	out := make([]byte, len(data))
	for i := range n {
		for p, v := range data[8*i : 8*i+8] {
			out[p*n+i] = v
		}
	}
	copy(out[8*n:], data[8*n:])
	return out
}

// unplanes is the inverse of planes.
func unplanes(data []byte) []byte {
	n := len(data) / 8
	out := make([]byte, len(data))
	for i := range n {
		for p := range 8 {
			out[8*i+p] = data[p*n+i]
		}
	}
	copy(out[8*n:], data[8*n:])
	return out
}
