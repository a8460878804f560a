//go:build !(linux && (amd64 || arm64))

package cuda

import (
	"errors"

	"github.com/mlgkernel/mlg/spd"
)

// Device is a GPU; there is none here.
type Device struct {
	spd.CPU
	Least float64
}

// Open returns an error.
func Open() (*Device, error) {
	return nil, errors.New("a GPU can be used on Linux alone, on amd64 and arm64")
}

func (*Device) String() string { return "" }

// Close does nothing.
func (*Device) Close() error { return nil }
