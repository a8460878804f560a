package mapped

import (
	"errors"
	"os"
	"syscall"
)

// reserve takes space for a file. Not every file system can.
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	for {
		err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			return nil
		}
		return err
	}
}
