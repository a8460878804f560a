//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package file

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// Mapped is a file in memory.
type Mapped struct{ data []byte }

// Map maps a file to be read. What is read after somebody has made the file shorter is a
// fault that ends the program, except in Guard.
func Map(path string) (*Mapped, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	case int64(int(st.Size())) != st.Size():
		return nil, fmt.Errorf("%s: %d bytes are more than this system can address", path, st.Size())
	case st.Size() == 0: // cannot be mapped
		return &Mapped{}, nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be mapped into memory: %w", path, err)
	}
	return &Mapped{data}, nil
}

// Bytes returns the contents, valid until Close.
func (m *Mapped) Bytes() []byte { return m.data }

// Guard calls read, which reads the contents in this goroutine alone. It is an error if that fails
// because another program has made the file shorter, or because the disk cannot be read.
func (m *Mapped) Guard(read func() error) (err error) {
	data := m.data
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch x := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			if begin := uintptr(unsafe.Pointer(unsafe.SliceData(data))); x.Addr()-begin >= uintptr(len(data)) {
				panic(x)
			}
			err = errors.New("it cannot be read any more: another program made it shorter, or the disk failed")
		default:
			panic(x)
		}
	}()
	return read()
}

// Close ends the mapping. A second time it does nothing.
func (m *Mapped) Close() error {
	data := m.data
	if m.data = nil; data == nil {
		return nil
	}
	return syscall.Munmap(data)
}

// locks says that files can be locked, and renamed while they are open.
const locks = true

// own reports whether a file belongs to this user and has no other name.
func own(f *os.File) bool {
	st, err := f.Stat()
	if err != nil {
		return false
	}
	x, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(x.Uid) == os.Geteuid() && x.Nlink == 1
}

// lock takes a file for this process until it is closed or the process ends, however it
// ends. It is an error if another has it. Some network file systems have no locks, and ok is false
// there; two processes must not write one file.
func lock(f *os.File) (ok bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return false, taken{f.Name(), "another process is writing it"}
	case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOLCK):
		return false, nil
	}
	return err == nil, err
}
