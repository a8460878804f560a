package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// shells give a command /dev/null to write to, or close its output, but never open /dev/null to be
// read and written.
var shells = []string{"sh", "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "tcsh", "zsh"}

// closedOutput reports whether standard output was closed when the process began.
//
// Go opens /dev/null in its place, before anything here runs, to be read and written. Python's
// subprocess.DEVNULL is the same, and nobody misses the output then. So the parent process decides: its own
// output is closed too, or it is a shell.
func closedOutput() bool {
	if !readWriteNull("/proc/self") {
		return false
	}
	parent := filepath.Join("/proc", strconv.Itoa(os.Getppid()))
	if _, err := os.Readlink(filepath.Join(parent, "fd/1")); err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	name, _ := os.ReadFile(filepath.Join(parent, "comm"))
	return slices.Contains(shells, strings.TrimSpace(string(name))) && !readWriteNull(parent)
}

// readWriteNull reports whether the standard output of a process, whose folder in /proc is given, is
// /dev/null, opened to be read and written.
func readWriteNull(process string) bool {
	if to, err := os.Readlink(filepath.Join(process, "fd/1")); err != nil || to != os.DevNull {
		return false
	}
	info, _ := os.ReadFile(filepath.Join(process, "fdinfo/1"))
	for line := range strings.Lines(string(info)) {
		var flags int
		if n, _ := fmt.Sscanf(line, "flags: %o", &flags); n == 1 {
			return flags&syscall.O_ACCMODE == syscall.O_RDWR
		}
	}
	return false
}
