// Package asmtest has what tests of assembly share.
package asmtest

import "testing"

// Both runs f with plain Go, and with assembly where vector says that there is some.
func Both(t *testing.T, vector *bool, f func(t *testing.T)) {
	t.Helper()
	has := *vector
	defer func() { *vector = has }()
	*vector = false
	t.Run("plain", f)
	if has {
		*vector = true
		t.Run("assembly", f)
	}
}
