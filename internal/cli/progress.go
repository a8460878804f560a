package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/work"
	"golang.org/x/term"
)

// isTerminal says whether people look at what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// coloured says whether w shows colours: a terminal that is not dumb, unless NO_COLOR is set.
func coloured(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// bold returns s, bold where standard output shows it.
func (g *globals) bold(s string) string {
	if !g.colour.stdout {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// bar shows progress on standard error: a line that is rewritten on a terminal, plain lines
// now and then otherwise, nothing with --quiet. A stage whose end is unknown shows its time. So does
// what follows a stage that has come to its end, until the next one begins.
type bar struct {
	w        io.Writer
	terminal bool
	colour   bool
	quiet    bool
	every    time.Duration // how often a line is written
	soon     time.Duration // from begun to the first one
	begun    time.Time
	square   int // graphs of a Gram matrix, whose progress comes in squares and is shown in pairs

	mu          sync.Mutex
	stage, unit string
	have, all   int64
	begin       time.Time // of the stage
	end         time.Time // of the stage, zero before
	first       int64     // done when it began
	ticks       int
	shown       bool          // a line is on the terminal
	said        bool          // some line was written
	stop        chan struct{} // ends the ticker; nil when it does not run
}

func newBar(g *globals) *bar {
	b := &bar{w: g.stderr, quiet: g.Quiet, terminal: isTerminal(g.stderr), colour: g.colour.stderr, every: 10 * time.Second, soon: 2 * time.Second, begun: time.Now()}
	if b.terminal {
		b.every, b.soon = 100*time.Millisecond, 0
	}
	return b
}

// progress is bar.show as work.Options wants it.
func (b *bar) progress(p work.Progress) {
	if all := int64(b.square) * int64(b.square+1) / 2; all > 0 && p.Stage == "gram" && p.Total > 0 {
		p.Done, p.Total = int64(float64(all)*float64(p.Done)/float64(p.Total)), all
	}
	unit := "pairs"
	switch name, _, _ := strings.Cut(p.Stage, " "); name {
	case "classes", "covariances":
		unit = "vertices"
	case "replay":
		unit = "rounds"
	case "transform":
		unit = "graphs"
	case "gram":
		if b.square == 0 { // blocks
			unit = ""
		}
	case "choosing", "evaluate", "tiles", "landmarks", "numbers", "ridge", "pairs", "graphs":
		unit = ""
	case "deviations", "centres", "held", "learn":
		unit = "graphs"
	case "features":
		if unit = "neighbourhoods"; p.Stage == name { // of kernels without levels
			unit = ""
		}
	}
	b.show(p.Stage, p.Done, p.Total, unit)
}

// watchProgress, where a test sets it, sees what show is called with.
var watchProgress func(stage string, done, total int64)

// show says how far a stage has come; total is 0 when that is not known.
func (b *bar) show(stage string, done, total int64, unit string) {
	if watchProgress != nil {
		watchProgress(stage, done, total)
	}
	if b.quiet {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if stage != b.stage || done < b.have { // the same again
		b.stage, b.begin, b.end, b.first = stage, time.Now(), time.Time{}, done
	}
	if total > 0 && done == total && b.have < done {
		b.end = time.Now()
	}
	b.have, b.all, b.unit = done, total, unit
	if b.stop == nil {
		stop := make(chan struct{})
		b.stop = stop
		go b.tick(stop)
	}
}

// tick writes the line until stop is closed.
func (b *bar) tick(stop chan struct{}) {
	t := time.NewTimer(b.wait(time.Now()))
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-t.C:
			b.mu.Lock()
			if b.stop == stop {
				b.write(now)
			}
			b.mu.Unlock()
			t.Reset(b.every)
		}
	}
}

// wait returns the time to the next line. The first one comes soon after the command has begun.
func (b *bar) wait(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.said {
		return b.every
	}
	return max(b.soon-now.Sub(b.begun), min(b.every, 100*time.Millisecond))
}

// fewSteps is the number of steps of a stage from which on those that are done say how long the others take.
const fewSteps = 10

// The parts of a line: stage, bar on a terminal, share, rate, time left.
const (
	stageWidth = 16
	barWidth   = 20
)

// text returns the line but for the stage: the share, the rate and the time left where the end is known, else what is
// done and the time.
func (b *bar) text(now time.Time) (stage, text string) {
	elapsed, done := now.Sub(b.begin), b.have-b.first
	rate := ""
	if done > 0 && elapsed > 0 {
		rate = fmt.Sprintf("  %s/s", count(float64(done)/elapsed.Seconds(), b.unit))
	}
	switch {
	case !b.end.IsZero() && now.Sub(b.end) > b.every:
		return "after " + b.stage, now.Sub(b.end).Round(time.Second).String()
	case b.all > 0:
		share := float64(b.have) / float64(b.all)
		text = fmt.Sprintf("%.0f %%", 100*share)
		if b.terminal {
			n := min(max(int(share*barWidth+0.5), 0), barWidth)
			text = fmt.Sprintf("%s%s %3.0f %%", strings.Repeat("━", n), strings.Repeat("╌", barWidth-n), 100*share)
		}
		if b.all-b.first < fewSteps || rate == "" { // one of them says little about the next, and none nothing
			text += "  " + elapsed.Round(time.Second).String()
		} else {
			left := time.Duration(float64(elapsed) / float64(done) * float64(b.all-b.have))
			text += fmt.Sprintf("%s  %s left", rate, left.Round(time.Second))
		}
		return b.stage, text
	case b.have > 0:
		return b.stage, fmt.Sprintf("%s%s  %s", count(float64(b.have), b.unit), rate, elapsed.Round(time.Second))
	}
	return b.stage, elapsed.Round(time.Second).String()
}

func (b *bar) write(now time.Time) {
	b.said = true
	stage, line := b.text(now)
	switch {
	case !b.terminal:
		line = stage + ": " + line
	case strings.HasPrefix(line, "━") || strings.HasPrefix(line, "╌"):
		line = fmt.Sprintf("%-*s %s", stageWidth, stage, line)
	default:
		b.ticks++
		line = fmt.Sprintf("%-*s %c %s", stageWidth, stage, []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[b.ticks%10], line)
	}
	if !b.terminal {
		fmt.Fprintln(b.w, line)
		return
	}
	width := 80
	if f, ok := b.w.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			width = w
		}
	}
	if utf8.RuneCountInString(line) >= width { // a wrapped line could not be rewritten
		line = string([]rune(line)[:width-1])
	}
	if b.colour {
		line = strings.Replace(strings.Replace(line, "━", "\x1b[32m━", 1), "╌", "\x1b[2;39m╌", 1)
		line = strings.Replace(line, " %", "\x1b[0m %", 1)
	}
	fmt.Fprintf(b.w, "\r%s\x1b[K", line)
	b.shown = true
}

// done removes the line. A later call of show begins anew.
func (b *bar) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil {
		close(b.stop)
		b.stop, b.stage = nil, ""
	}
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.shown = false
	}
}

// count writes a number of things with three digits, as in "1.52 M pairs" and "1.52 MB".
func count(x float64, unit string) string {
	prefix := ""
	for _, p := range []string{"k", "M", "G", "T"} {
		if x < 999.5 {
			break
		}
		x, prefix = x/1000, p
	}
	if prefix != "" && unit != "B" {
		prefix += " "
	}
	return strings.TrimSpace(fmt.Sprintf("%.3g %s%s", x, prefix, unit))
}
