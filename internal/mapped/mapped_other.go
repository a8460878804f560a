//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package mapped

import (
	"fmt"
	"os"
)

// File is a file in memory.
type File struct {
	path    string
	data    []byte
	created bool
}

// Open reads a file.
func Open(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &File{data: data}, nil
}

// Create makes a file of the given size, which must not exist, to be written.
func Create(path string, size int64) (*File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if int64(int(size)) != size {
		return nil, fmt.Errorf("%s: %d bytes are more than this system can address", path, size)
	}
	return &File{path: path, data: make([]byte, size), created: true}, nil
}

// Bytes returns the contents, valid until Close.
func (m *File) Bytes() []byte { return m.data }

// Sync makes what was written to a created file durable.
func (m *File) Sync() error {
	if !m.created {
		return nil
	}
	f, err := os.OpenFile(m.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(m.data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// Close forgets the contents.
func (m *File) Close() error {
	m.data = nil
	return nil
}

// Lock does nothing: two processes must not write one file here.
func Lock(*os.File) error { return nil }
