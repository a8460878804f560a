package kernel

import "context"

// expression is sums of products of kernels, each distinct one once, behind what it is made of.
type expression struct {
	nodes []node
	at    map[string]int // by text
}

// node is a single kernel, or a sum of products of nodes.
type node struct {
	Factor
	terms []term // nil for a single kernel
	uses  int    // in terms of others, and by those who ask for it
}

// term is a product of nodes with a weight.
type term struct {
	weight float64
	nodes  []int
}

func newExpression() expression { return expression{at: map[string]int{}} }

// add returns the node of a factor, which is used once more.
func (e *expression) add(f Factor) int {
	f = f.simple()
	key := f.String()
	i, known := e.at[key]
	if !known {
		n := node{Factor: f}
		if s, ok := f.Kernel.(Sum); ok {
			n.terms = e.addTerms(s)
		}
		i = len(e.nodes)
		e.at[key], e.nodes = i, append(e.nodes, n)
	}
	e.nodes[i].uses++
	return i
}

// addTerms returns the terms of a sum.
func (e *expression) addTerms(s Sum) []term {
	out := make([]term, len(s.Terms))
	for i, t := range s.Terms {
		out[i].weight = t.Weight
		for _, f := range t.Factors {
			out[i].nodes = append(out[i].nodes, e.add(f))
		}
	}
	return out
}

// evaluation computes an expression, entry by entry. What is used again is kept until then.
type evaluation struct {
	expression
	left   []int                             // by node: uses to come
	known  [][]float64                       // by node: values that will be used
	single func(node int) ([]float64, error) // returns those of a single kernel
}

func (e expression) evaluate(single func(node int) ([]float64, error)) evaluation {
	out := evaluation{e, make([]int, len(e.nodes)), make([][]float64, len(e.nodes)), single}
	for i, n := range e.nodes {
		out.left[i] = n.uses
	}
	return out
}

// value returns the values of a node for one of its uses.
func (e *evaluation) value(ctx context.Context, i int) (v []float64, err error) {
	if v = e.known[i]; v != nil {
		err = ctx.Err()
	} else if terms := e.nodes[i].terms; terms != nil {
		v, err = e.sum(ctx, terms, nil)
	} else {
		v, err = e.single(i)
	}
	if err != nil {
		return nil, err
	}
	e.known[i] = v
	e.drop(i)
	return v, nil
}

// drop takes note that a node is used once less. What is never used is not made of anything.
func (e *evaluation) drop(i int) {
	if e.left[i]--; e.left[i] > 0 {
		return
	}
	if e.known[i] == nil {
		for _, t := range e.nodes[i].terms {
			for _, part := range t.nodes {
				e.drop(part)
			}
		}
	}
	e.known[i] = nil
}

// sum computes Σ_t weight_t · Π_j values_tj entry by entry into dst, which is made where it is nil.
func (e *evaluation) sum(ctx context.Context, terms []term, dst []float64) ([]float64, error) {
	for i, t := range terms {
		values := make([][]float64, len(t.nodes))
		for j, part := range t.nodes {
			var err error
			if values[j], err = e.value(ctx, part); err != nil {
				return nil, err
			}
		}
		if dst == nil {
			dst = make([]float64, len(values[0]))
		}
		const chunk = 1 << 12
		err := Each(ctx, (len(dst)+chunk-1)/chunk, 16, func(_, k int) error {
			lo, hi := k*chunk, min((k+1)*chunk, len(dst))
			var buffer [chunk]float64
			product := buffer[:copy(buffer[:], values[0][lo:hi])]
			for _, v := range values[1:] {
				for k, x := range v[lo:hi] {
					product[k] *= x
				}
			}
			for k, x := range product {
				x *= t.weight
				if i == 0 {
					dst[lo+k] = x
				} else {
					dst[lo+k] += x
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}
