package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mlgkernel/mlg"
)

// bar shows progress on standard error: a line that is rewritten on a terminal, plain lines
// now and then otherwise, nothing with --quiet.
type bar struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	quiet    bool
	stage    string
	start    time.Time // of the stage
	last     time.Time
	width    int
}

func newBar(g *globals) *bar {
	b := &bar{w: g.stderr, quiet: g.Quiet}
	if f, ok := g.stderr.(*os.File); ok {
		s, err := f.Stat()
		b.terminal = err == nil && s.Mode()&os.ModeCharDevice != 0
	}
	return b
}

// progress is bar.show as mlg.Options want it.
func (b *bar) progress(p mlg.Progress) { b.show(p.Stage, p.Done, p.Total, "") }

// How often a line is written.
const (
	terminalEvery = 100 * time.Millisecond
	plainEvery    = 10 * time.Second
)

func (b *bar) show(stage string, done, total int64, unit string) {
	if b.quiet {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if stage != b.stage {
		b.stage, b.start = stage, now
		if b.last.IsZero() {
			b.last = now
		}
	}
	every := plainEvery
	if b.terminal {
		every = terminalEvery
	}
	if now.Sub(b.last) < every {
		return
	}
	b.last = now
	line := fmt.Sprintf("%s %s", stage, count(done, unit))
	if total > 0 {
		line = fmt.Sprintf("%-16s %3d%%", stage, 100*done/total)
		if elapsed := now.Sub(b.start); done > 0 && elapsed > 0 {
			rate := float64(done) / elapsed.Seconds()
			left := time.Duration(float64(total-done) / rate * float64(time.Second))
			line += fmt.Sprintf("  %s/s  %s left", count(int64(rate), unit), left.Round(time.Second))
		}
	}
	if !b.terminal {
		fmt.Fprintln(b.w, line)
		return
	}
	fmt.Fprintf(b.w, "\r%s%s", line, strings.Repeat(" ", max(0, b.width-len(line))))
	b.width = len(line)
}

// done removes the line.
func (b *bar) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.width > 0 {
		fmt.Fprintf(b.w, "\r%s\r", strings.Repeat(" ", b.width))
		b.width = 0
	}
}

// count writes a number with three digits and a prefix.
func count(n int64, unit string) string {
	x := float64(n)
	for _, p := range []string{"", "k", "M", "G"} {
		if x < 999.5 {
			if p == "" {
				return fmt.Sprintf("%d %s", n, unit)
			}
			return fmt.Sprintf("%.3g %s%s", x, p, unit)
		}
		x /= 1000
	}
	return fmt.Sprintf("%.3g T%s", x, unit)
}
