package asmtest

import (
	"syscall"
	"testing"
	"unsafe"
)

// Guarded returns memory for n numbers between two pages that cannot be touched, flush with
// the page after it or, if low, with the page before it.
func Guarded[T float64 | int64](t *testing.T, n int, low bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	size := (8*n + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	for _, g := range [][]byte{m[:page], m[size+page:]} {
		if err := syscall.Mprotect(g, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		return nil
	}
	off := page
	if !low {
		off = page + size - 8*n
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m[off])), n)
}

// Copy returns a copy of x in guarded memory.
func Copy[T float64 | int64](t *testing.T, x []T, low bool) []T {
	t.Helper()
	y := Guarded[T](t, len(x), low)
	copy(y, x)
	return y
}
