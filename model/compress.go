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

// compress returns the number of bytes, and the bytes compressed.
func compress(data []byte) ([]byte, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	return e.EncodeAll(data, out), e.Close()
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
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(n, 1<<10)))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.DecodeAll(data, make([]byte, 0, n))
	if err == nil && uint64(len(out)) != n {
		err = fmt.Errorf("%d bytes, want %d", len(out), n)
	}
	return out, err
}
