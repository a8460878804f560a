//go:build !amd64 || noasm

package spd

import "testing"

func eachSIMD(t *testing.T, f func(t *testing.T)) { t.Run("plain", f) }

func setPlain() (restore func()) { return func() {} }

func limitSIMD(int) {}
