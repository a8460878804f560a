//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package file

import "os"

// Mapped is a file in memory.
type Mapped struct{ data []byte }

// Map reads a file.
func Map(path string) (*Mapped, error) {
	data, err := os.ReadFile(path)
	return &Mapped{data}, err
}

// Bytes returns the contents, valid until Close.
func (m *Mapped) Bytes() []byte { return m.data }

// Guard calls read.
func (m *Mapped) Guard(read func() error) error { return read() }

// Close forgets the contents.
func (m *Mapped) Close() error {
	m.data = nil
	return nil
}

// locks says that files can be locked, and renamed while they are open.
const locks = false

// own is not asked without locks.
func own(*os.File) bool { return false }

// lock does nothing: two processes must not write one file here.
func lock(*os.File) (ok bool, err error) { return false, nil }
