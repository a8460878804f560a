package cli

import (
	"strings"
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
warnings    1 self-loop dropped
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
