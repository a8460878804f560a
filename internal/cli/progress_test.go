package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/work"
)

// Without a terminal progress is plain lines: stage, share, rate and time left, or the time of
// a stage whose end is not known. The Gram matrix of 100 graphs has 5050 pairs, of which 2525
// are done after a second.
func TestPlainProgress(t *testing.T) {
	var out bytes.Buffer
	b := newBar(&globals{stderr: &out})
	byHand := func() { b.stop = make(chan struct{}) } // a bar with this runs no ticker
	byHand()
	line := func(after time.Duration) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.write(b.begin.Add(after))
	}
	b.square = 100
	b.show("sp", 0, 0, "")
	line(12 * time.Second)
	b.progress(work.Progress{Stage: "classes 1/2", Done: 0, Total: 200})
	b.progress(work.Progress{Stage: "classes 1/2", Done: 50, Total: 200})
	line(10 * time.Second)
	b.progress(work.Progress{Stage: "gram", Done: 0, Total: 4})
	line(time.Second)
	b.progress(work.Progress{Stage: "gram", Done: 2, Total: 4})
	line(time.Second)
	b.done()
	b.done() // a second call does no harm
	// What follows a stage, which has no line of its own, does not look like its end.
	byHand()
	b.progress(work.Progress{Stage: "gram", Done: 0, Total: 4})
	b.progress(work.Progress{Stage: "gram", Done: 4, Total: 4})
	b.end = b.begin.Add(time.Second)
	line(5 * time.Second)
	line(12 * time.Second)
	b.progress(work.Progress{Stage: "gram", Done: 0, Total: 4}) // of another matrix
	line(time.Second)
	// A stream whose end is not known shows how much of it is done.
	b.progress(work.Progress{Stage: "transform", Done: 0})
	b.progress(work.Progress{Stage: "transform", Done: 3000})
	line(10 * time.Second)
	b.done()
	const want = "sp: 12s\nclasses 1/2: 25 %  5 vertices/s  30s left\ngram: 0 %  1s\ngram: 50 %  2.52 k pairs/s  1s left\n" +
		"gram: 100 %  1.01 k pairs/s  0s left\nafter gram: 11s\ngram: 0 %  1s\ntransform: 3 k graphs  300 graphs/s  10s\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The first plain line comes two seconds after the command has begun, and the others every ten. On a terminal all come at once.
func TestFirstLine(t *testing.T) {
	b := newBar(&globals{stderr: io.Discard})
	for _, c := range []struct {
		after time.Duration // since the beginning
		said  bool
		want  time.Duration
	}{{0, false, 2 * time.Second}, {1500 * time.Millisecond, false, 500 * time.Millisecond}, {time.Minute, false, 100 * time.Millisecond}, {time.Second, true, 10 * time.Second}} {
		if b.said = c.said; b.wait(b.begun.Add(c.after)) != c.want {
			t.Errorf("%+v: wait %v", c, b.wait(b.begun.Add(c.after)))
		}
	}
	b.said = false
	if b.write(b.begun); !b.said {
		t.Error("a line that was written is not the first")
	}
}

// One of few steps says little about the next: there is no time left that grows while it lasts.
func TestFewSteps(t *testing.T) {
	b := newBar(&globals{stderr: io.Discard})
	b.stop = make(chan struct{}) // no ticker
	b.show("graphs", 0, 3, "pairs")
	b.show("graphs", 1, 3, "pairs")
	if _, text := b.text(b.begin.Add(40 * time.Second)); text != "33 %  40s" {
		t.Errorf("1 of 3: %q", text)
	}
	b.show("graphs", 0, 30, "pairs")
	b.show("graphs", 10, 30, "pairs")
	if _, text := b.text(b.begin.Add(40 * time.Second)); !strings.HasSuffix(text, "1m20s left") {
		t.Errorf("10 of 30: %q", text)
	}
}

// The ticker writes by itself, and nothing with --quiet or after the end.
func TestProgressTicks(t *testing.T) {
	run := func(quiet bool) string {
		var out bytes.Buffer
		g := &globals{stderr: &out}
		g.bar = newBar(g)
		b := g.bar
		b.every, b.soon = time.Millisecond, 0
		if quiet {
			b = g.quietly().bar
		}
		b.show("sp", 0, 0, "")
		for range 200 { // until something is there, under the lock that write holds
			time.Sleep(5 * time.Millisecond)
			g.bar.mu.Lock()
			n := out.Len()
			g.bar.mu.Unlock()
			if n > 0 || quiet {
				break
			}
		}
		b.done()
		return out.String()
	}
	if got := run(true); got != "" {
		t.Errorf("--quiet printed %q", got)
	}
	if got := run(false); !strings.HasPrefix(got, "sp: ") || strings.ContainsAny(got, "\r\x1b") {
		t.Errorf("got %q", got)
	}
}

// A character that comes in two pieces, as from a buffer that is full, is not taken for broken text.
func TestWriterPieces(t *testing.T) {
	var out bytes.Buffer
	g := &globals{bar: &bar{quiet: true}, stderr: io.Discard}
	w := &writer{w: &out, bar: g.bar}
	text := "ä水\U0001F600\x1b\n"
	for i := range len(text) {
		if n, err := w.Write([]byte(text[i : i+1])); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	w.Write([]byte("\xe6"))
	if code := g.finish(nil, w); code != exitOK || out.String() != "ä水\U0001F600\\x1b\n\\xe6" {
		t.Errorf("code %d, %q", code, out.String())
	}
}
