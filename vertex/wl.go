package vertex

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/param"
)

// refined compares vertices by their Weisfeiler-Lehman colours.
type refined struct{ h int }

// colourBytes is the length of a colour in a descriptor.
const colourBytes = 16

// wlRecord is the share of the first h+1 Weisfeiler-Lehman colourings, the labels and h
// refinements, in which two vertices agree. Graphs without labels start from degrees.
//
// A colour is the start of the SHA-256 hash of its content, 128 bits, so that it means the
// same in every process: two of a billion colours agree by accident with probability 2⁻⁶⁹.
type wlRecord struct {
	H int `json:"h" want:"0 to 64" help:"Number of refinements."`
}

// Validate implements record.
func (k wlRecord) Validate() error { return param.Check("wl", k) }
func (k wlRecord) kernel() Kernel  { return &refined{k.H} }

func (k *refined) String() string { return written("wl", wlRecord{k.h}) }

func (k *refined) Describe(g *graph.Graph) ([]string, error) {
	n := g.N()
	type colour = [colourBytes]byte
	hash := func(x []byte) (c colour) {
		s := sha256.Sum256(x)
		copy(c[:], s[:])
		return c
	}
	now, next := make([]colour, n), make([]colour, n)
	desc := make([][]byte, n)
	var buf []byte
	for v := range n {
		buf = buf[:0]
		if g.HasLabels() {
			buf = append(append(buf, 'l'), g.Label(v)...)
		} else {
			buf = strconv.AppendInt(append(buf, 'd'), int64(g.Degree(v)), 10)
		}
		now[v] = hash(buf)
		desc[v] = append(make([]byte, 0, (k.h+1)*colourBytes), now[v][:]...)
	}
	var around []colour
	for range k.h {
		for v := range n {
			around = around[:0]
			for _, u := range g.Neighbors(v) {
				around = append(around, now[u])
			}
			slices.SortFunc(around, func(a, b colour) int { return bytes.Compare(a[:], b[:]) })
			buf = append(append(buf[:0], 'r'), now[v][:]...)
			for _, c := range around {
				buf = append(buf, c[:]...)
			}
			next[v] = hash(buf)
			desc[v] = append(desc[v], next[v][:]...)
		}
		now, next = next, now
	}
	out := make([]string, n)
	for v := range out {
		out[v] = string(desc[v])
	}
	return out, nil
}

func (k *refined) Gram(dst []float64, x, y []string) {
	for i, a := range x {
		for j, c := range y {
			// Colours are nested: once two vertices differ, they differ for good.
			agree := 0
			for agree <= k.h && a[agree*colourBytes:(agree+1)*colourBytes] == c[agree*colourBytes:(agree+1)*colourBytes] {
				agree++
			}
			dst[i*len(y)+j] = float64(agree) / float64(k.h+1)
		}
	}
}

func (k *refined) Features([]string, int) (func([]float64, string), int, []int) { return nil, 0, nil }

func (k *refined) check(d string, _ *int) error {
	if want := (k.h + 1) * colourBytes; len(d) != want {
		return fmt.Errorf("%d bytes, want %d for %s", len(d), want, k)
	}
	return nil
}
