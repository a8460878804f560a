//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package mapped

import "os"

func reserve(*os.File, int64) error { return nil }
