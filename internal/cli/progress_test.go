package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg"
)

// Without a terminal progress is plain lines, with --quiet nothing.
func TestPlainProgress(t *testing.T) {
	show := func(quiet bool) string {
		var out bytes.Buffer
		b := newBar(&globals{Quiet: quiet, stderr: &out})
		b.every = time.Millisecond
		b.square = 100
		b.show("sp", 0, 0, "")
		time.Sleep(30 * time.Millisecond)
		b.progress(mlg.Progress{Stage: "gram", Done: 0, Total: 4})
		time.Sleep(5 * time.Millisecond)
		for i := range int64(4) {
			b.progress(mlg.Progress{Stage: "gram", Done: i + 1, Total: 4})
			time.Sleep(20 * time.Millisecond)
		}
		b.done()
		b.done() // a second call does no harm
		return out.String()
	}
	if got := show(true); got != "" {
		t.Errorf("--quiet printed %q", got)
	}
	got := show(false)
	for _, want := range []string{`(?m)^sp: 0s$`, `(?m)^gram: 50 %  [\d.]+ k pairs/s  0s left$`, `(?m)^gram: 100 %  `} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\r\x1b") {
		t.Errorf("control characters in %q", got)
	}
}
