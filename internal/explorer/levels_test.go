package explorer

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/explain"
)

// The levels of a kernel are those that mlg compare shows, the last is the kernel of the page; an exact one matches vertices.
func TestLevels(t *testing.T) {
	d := drugs(t)
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	own := s.server.given().data
	for text, levels := range map[string]int{"wl h=3": 4, "wl-oa h=2": 3, "sp h=2": 3, "mlg exact radii=1,2": 3, "mlg exact radii=1 combine=sum": 3, "sp": 0, "wl + sp": 0, "labels": 0} {
		var a comparison
		s.get("/api/v1/compare?a=3&b=8&kernel="+url.QueryEscape(text), &a)
		if len(a.Levels) != levels || (a.Note == noLevels) != (levels == 0) || a.Of != "" {
			t.Errorf("%s: %d levels, note %q, of %q", text, len(a.Levels), a.Note, a.Of)
			continue
		}
		if levels == 0 {
			continue
		}
		if top := a.Levels[levels-1]; math.Abs(top.K-a.K) > 1e-9 {
			t.Errorf("%s: the last level %v, the kernel %v", text, top.K, a.K)
		}
		k, err := d.chosen(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range explain.LevelsOf(k) {
			want, err := explain.AtLevel(t.Context(), l, own.Graphs[3], own.Graphs[8])
			if err != nil || a.Levels[i].K != want || a.Levels[i].Name != l.Name || a.Levels[i].Level != i {
				t.Errorf("%s: level %+v, want %v of %s, %v", text, a.Levels[i], want, l.Name, err)
			}
		}
		var m mapAnswer
		if s.get("/api/v1/map?kernel="+url.QueryEscape(text), &m); m.Views.Scales != withLevels {
			t.Errorf("%s: scales %q", text, m.Views.Scales)
		}
		exact := strings.HasPrefix(text, "mlg exact")
		for i, l := range a.Levels {
			if matched := exact && i <= 2 && l.Name != "all levels"; (len(l.Pairs) > 0) != matched {
				t.Errorf("%s, %s: %d pairs", text, l.Name, len(l.Pairs))
			}
		}
	}
	var a comparison
	if s.get("/api/v1/compare?a=3&b=8&kernel="+url.QueryEscape("0.5 mlg radii=1 + 0.5 wl"), &a); len(a.Levels) != 2 || a.Of != "mlg radii=1 bonds=false" {
		t.Errorf("a sum: %s", fmt.Sprint(a))
	}
}
