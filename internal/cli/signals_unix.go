//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// A file that outgrows the limit of the shell (ulimit -f) is an error like that of a full disk,
// not the end of the process.
func init() { signal.Ignore(syscall.SIGXFSZ) }
