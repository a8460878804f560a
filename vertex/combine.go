package vertex

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/param"
)

// combined is a weighted sum or a product of kernels, whose descriptors it keeps one behind the
// other, each but the last behind its length.
type combined struct {
	parts   []Kernel
	weights []float64 // of a sum; nil for a product
}

// Stretch returns a kernel on vertices with steps some times as long.
func Stretch(k Kernel, times int) Kernel {
	switch k := k.(type) {
	case *refined:
		return &refined{k.h * times}
	case *combined:
		out := &combined{weights: k.weights}
		for _, p := range k.parts {
			out.parts = append(out.parts, Stretch(p, times))
		}
		return out
	}
	return k
}

func (k *combined) String() string {
	texts := make([]string, len(k.parts))
	for i, p := range k.parts {
		texts[i] = p.String()
		if inner, ok := p.(*combined); ok && (k.weights == nil || inner.weights != nil) {
			texts[i] = "(" + texts[i] + ")"
		}
		if k.weights != nil {
			texts[i] = param.Number(k.weights[i]) + " " + texts[i]
		}
	}
	if k.weights != nil {
		return strings.Join(texts, " + ")
	}
	return strings.Join(texts, " * ")
}

func (k *combined) Describe(g *graph.Graph) ([]string, error) {
	out := make([][]byte, g.N())
	for i, p := range k.parts {
		x, err := p.Describe(g)
		if err != nil {
			return nil, err
		}
		for v, d := range x {
			if i < len(k.parts)-1 {
				out[v] = binary.AppendUvarint(out[v], uint64(len(d)))
			}
			out[v] = append(out[v], d...)
		}
	}
	texts := make([]string, len(out))
	for v := range out {
		texts[v] = string(out[v])
	}
	return texts, nil
}

// first cuts a descriptor behind the first of its parts.
func first(d string) (x, rest string, ok bool) {
	n, k := binary.Uvarint([]byte(d[:min(len(d), binary.MaxVarintLen64)]))
	if k <= 0 || n > uint64(len(d)-k) {
		return "", "", false
	}
	return d[k : k+int(n)], d[k+int(n):], true
}

// split returns the descriptors for each part.
func (k *combined) split(x []string) [][]string {
	out := make([][]string, len(k.parts))
	last := len(out) - 1
	for _, d := range x {
		for i := range last {
			var part string
			part, d, _ = first(d)
			out[i] = append(out[i], part)
		}
		out[last] = append(out[last], d)
	}
	return out
}

func (k *combined) Gram(dst []float64, x, y []string) {
	xs, ys := k.split(x), k.split(y)
	values := make([]float64, len(x)*len(y))
	for i := range values {
		dst[i] = 1
		if k.weights != nil {
			dst[i] = 0
		}
	}
	for p, part := range k.parts {
		part.Gram(values, xs[p], ys[p])
		for i, v := range values {
			if k.weights != nil {
				dst[i] += float64(k.weights[p] * v)
			} else {
				dst[i] *= v
			}
		}
	}
}

// Features of a sum are those of its terms behind each other, each times √weight; those of a
// product are all products of one feature of each factor.
func (k *combined) Features(x []string, limit int) (func([]float64, string), int, []int) {
	xs := k.split(x)
	maps := make([]func([]float64, string), len(k.parts))
	dims := make([]int, len(k.parts))
	sum, product := 0, 1
	var needed []int
	for p, part := range k.parts {
		var some []int
		if maps[p], dims[p], some = part.Features(xs[p], limit); dims[p] == 0 {
			return nil, 0, nil
		}
		needed = append(needed, some...)
		sum += dims[p]
		if product *= dims[p]; product > limit && k.weights == nil || sum > limit && k.weights != nil {
			return nil, 0, nil
		}
	}
	slices.Sort(needed)
	needed = slices.Compact(needed)
	if k.weights != nil {
		return func(dst []float64, d string) {
			for p, texts := range k.split([]string{d}) {
				row := dst[:dims[p]]
				maps[p](row, texts[0])
				for i := range row {
					row[i] *= math.Sqrt(k.weights[p])
				}
				dst = dst[dims[p]:]
			}
		}, sum, needed
	}
	return func(dst []float64, d string) {
		dst[0] = 1
		n := 1
		for p, texts := range k.split([]string{d}) {
			row := make([]float64, dims[p])
			maps[p](row, texts[0])
			for i := n - 1; i >= 0; i-- { // from behind: what is read is not yet overwritten
				x := dst[i]
				for j, v := range row {
					dst[i*len(row)+j] = x * v
				}
			}
			n *= len(row)
		}
	}, product, needed
}

func (k *combined) check(d string, attributes *int) error {
	for i, p := range k.parts {
		part, ok := d, true
		if i < len(k.parts)-1 {
			part, d, ok = first(d)
		}
		if !ok {
			return fmt.Errorf("%d bytes that are not the descriptors of %s", len(d), k)
		}
		if err := p.check(part, attributes); err != nil {
			return err
		}
	}
	return nil
}
