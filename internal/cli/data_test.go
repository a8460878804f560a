package cli

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/dataset"
)

func TestDescribeData(t *testing.T) {
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader(`{"nodes":3,"edges":[[0,1,2],[1,1]],"node_labels":["C","C","O"],"node_attributes":[[1,2],[3,4],[5,6]],"edge_labels":["-","-"],"target":"a"}
{"nodes":2,"edges":[[0,1]],"node_labels":["C","N"],"node_attributes":[[1,2],[3,4]],"edge_labels":["="],"target":"b"}
{"nodes":0,"edges":[],"target":"a"}`), "tiny", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	want := `dataset     tiny
graphs      3, 1 of them connected, 1 without vertices
vertices    5 in all, 1.67 on average, at most 3; 1 isolated
edges       2 in all, 0.67 on average, at most 1
degree      0.80 on average, at most 1
classes     2: a (2), b (1)
node labels 3: C (3), N (1), O (1)
attributes  2 per vertex
edge labels 2
weights     given
warnings    1 self-loop left out
`
	if got := describeData(dataset.Info(d)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, name := range dataset.Builtins() {
		d, err := dataset.Read(t.Context(), name, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(describeData(dataset.Info(d))) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// Values come in order, two at a time where that is asked for, then the error; and who stops gets no more.
func TestAhead(t *testing.T) {
	end := errors.New("end")
	for _, two := range []bool{false, true} {
		var read, now, most atomic.Int32
		in := func(yield func(int, error) bool) {
			for i := range 10 {
				read.Add(1)
				if !yield(i, nil) {
					return
				}
			}
			yield(0, end)
		}
		var meet *sync.WaitGroup
		square := func(_ context.Context, i int) int {
			defer now.Add(-1)
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			if i < 2 && two { // the first two wait for each other
				meet.Done()
				meet.Wait()
			}
			return i * i
		}
		again := func() iter.Seq2[int, error] {
			meet = &sync.WaitGroup{}
			meet.Add(2)
			return ahead(t.Context(), two, in, square)
		}
		var got []int
		var last error
		for x, err := range again() {
			if last = err; err == nil {
				got = append(got, x)
			}
		}
		if want := []int{0, 1, 4, 9, 16, 25, 36, 49, 64, 81}; !slices.Equal(got, want) || last != end {
			t.Errorf("two = %t: %v and error %v, want %v and %v", two, got, last, want, end)
		}
		if want := map[bool]int32{false: 1, true: 2}[two]; most.Load() != want {
			t.Errorf("two = %t: %d at a time, want %d", two, most.Load(), want)
		}
		read.Store(0)
		for range again() {
			break
		}
		if n := read.Load(); n > 3 {
			t.Errorf("two = %t: %d values were read, one was wanted", two, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, last = range ahead(ctx, two, in, func(_ context.Context, i int) int { return i }) {
			cancel()
		}
		if last != context.Canceled {
			t.Errorf("two = %t: the error of a context that has ended is %v", two, last)
		}
	}
}
