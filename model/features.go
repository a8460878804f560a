package model

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mlgkernel/mlg/kernel"
)

// Forms of features in a file, a u64 before them.
const (
	asTheyAre = iota
	isCompressed
)

// EncodeFeatures returns the features of graphs as stores keep them and pipelines send them: compressed,
// unless they can be used where their bytes are (kernel.InPlace).
func EncodeFeatures(a kernel.Features) ([]byte, error) {
	inPlace := kernel.InPlace(a)
	var head []byte
	if inPlace {
		head = binary.LittleEndian.AppendUint64(head, asTheyAre)
	}
	data, err := a.AppendBinary(head)
	if err != nil || inPlace {
		return data, err
	}
	packed, err := compress(data)
	return append(binary.LittleEndian.AppendUint64(nil, isCompressed), packed...), err
}

// DecodeFeatures is the inverse of EncodeFeatures. It trusts nothing in the bytes, which it may keep.
func DecodeFeatures(m kernel.Map, data []byte) (kernel.Features, error) {
	if len(data) < 8 {
		return nil, errors.New("the features end early")
	}
	form, data := binary.LittleEndian.Uint64(data), data[8:]
	switch form {
	case asTheyAre:
	case isCompressed:
		var err error
		if data, err = decompress(data); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("features in form %d, want %d or %d", form, asTheyAre, isCompressed)
	}
	a, err := m.DecodeFeatures(data)
	if err == nil && kernel.InPlace(a) != (form == asTheyAre) {
		err = fmt.Errorf("features in form %d, which is not that of their kernel", form)
	}
	return a, err
}
