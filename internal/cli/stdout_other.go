//go:build !linux

package cli

// closedOutput reports whether standard output was closed when the process began. Other systems than
// Linux do not tell.
func closedOutput() bool { return false }
