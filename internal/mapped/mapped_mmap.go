//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package mapped

import (
	"fmt"
	"os"
	"syscall"
)

// File is a file in memory.
type File struct {
	f    *os.File
	data []byte
}

// Open maps a file to be read. What is read after somebody has made the file shorter is a
// fault that ends the program.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return mapFile(f, st.Size(), syscall.PROT_READ)
}

// Create makes a file of the given size, which must not exist, and maps it to be written.
// The space is taken first where the system can, so that a full disk is an error here.
func Create(path string, size int64) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	if err = reserve(f, size); err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		f.Close()
		os.Remove(path)
		return nil, fmt.Errorf("%d bytes for %s: %w", size, path, err)
	}
	return mapFile(f, size, syscall.PROT_READ|syscall.PROT_WRITE)
}

func mapFile(f *os.File, size int64, prot int) (*File, error) {
	m := &File{f: f}
	if size == 0 {
		return m, nil // cannot be mapped
	}
	if int64(int(size)) != size {
		f.Close()
		return nil, fmt.Errorf("%s: %d bytes are more than this system can address", f.Name(), size)
	}
	var err error
	if m.data, err = syscall.Mmap(int(f.Fd()), 0, int(size), prot, syscall.MAP_SHARED); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: cannot be mapped into memory: %w", f.Name(), err)
	}
	return m, nil
}

// Bytes returns the contents, valid until Close.
func (m *File) Bytes() []byte { return m.data }

// Sync makes what was written to a created file durable.
func (m *File) Sync() error { return m.f.Sync() } // the kernel writes dirty pages of shared mappings too

// Close ends the mapping.
func (m *File) Close() error {
	var err error
	if m.data != nil {
		err = syscall.Munmap(m.data)
		m.data = nil
	}
	if e := m.f.Close(); err == nil {
		err = e
	}
	return err
}

// Lock takes a file for this process until it is closed or the process ends, however it
// ends. It is an error if another has it.
func Lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%s: another process is writing it: %w", f.Name(), err)
	}
	return nil
}
