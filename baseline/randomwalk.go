package baseline

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// RandomWalk is the p-step random walk kernel: it counts the pairs of walks with the same
// sequence of labels,
//
//	k(G, G') = Σ_{i=0..P} λ^i 1ᵀA×^i 1,
//
// where A× is the adjacency matrix of the direct product of G and G' on the pairs of
// vertices with equal labels. Weights play no part.
//
// The numbers of walks per label sequence are explicit features: a sequence and its
// reverse have as many walks, so one of the two is kept. A graph with more than 8192
// sequences is compared by walking on the product graph, which is never formed, in
// O(P (n n' + m n' + n m')) time per pair at most.
type RandomWalk struct {
	P         int       `json:"p" want:"1 to 20" help:"Number of steps."`
	Lambda    float64   `json:"lambda" want:"positive" help:"Weight of a step."`
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultRandomWalk returns the normalised kernel with 5 steps and λ = 0.1.
func DefaultRandomWalk() RandomWalk {
	return RandomWalk{P: 5, Lambda: 0.1, Labels: Auto, Normalize: true}
}

const maxSteps = 20

// maxSequences is the largest number of sequences of a graph that has explicit features. Tests
// change it.
var maxSequences = 8192

// Name implements kernel.Kernel.
func (k RandomWalk) Name() string { return "rw" }

// String, Validate, Fit and Resolve implement kernel.Kernel and kernel.Resolver.
func (k RandomWalk) String() string  { return kernel.Text(k) }
func (k RandomWalk) Validate() error { return kernel.Check(k) }
func (k RandomWalk) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k RandomWalk) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

func (k RandomWalk) features() featureMap {
	m := featureMap{labels: k.Labels, weights: k.weights(), normalize: k.Normalize}
	limit := maxSequences
	m.count = func() countFunc {
		var s sequenceCounter
		var p product
		return func(ctx context.Context, g *coloured, out *features) error {
			g.sorted = newSortedGraph(g.Graph, g.colours[0])
			err := s.count(ctx, g.sorted, k.P, limit, out)
			if err != errSequences {
				return err
			}
			out.reset()
			g.large = []bool{true}
			g.rest, err = p.walks(ctx, g.sorted, g.sorted, k.P, k.Lambda)
			return err
		}
	}
	m.compare = func() compareFunc {
		var p product
		return func(ctx context.Context, a, b *coloured, _ int) (float64, error) {
			return p.walks(ctx, a.sorted, b.sorted, k.P, k.Lambda)
		}
	}
	return m
}

// weights returns λ^i for the palindromes of i steps and 2λ^i for the other sequences,
// each of which stands for its reverse too.
func (k RandomWalk) weights() []float64 {
	var w []float64
	x := 1.0
	for range k.P + 1 {
		w = append(w, x, 2*x)
		x *= k.Lambda
	}
	return w
}

// sequenceCounter counts the walks of a graph by label sequence.
type sequenceCounter struct {
	out          *features
	found        int                    // sequences
	walks        []float64              // by vertex
	buf          [maxSteps + 2][]ending // by number of labels
	seq          []uint32
	steps, limit int
}

// ending is a vertex and the number of walks that end there.
type ending struct {
	v     int32
	walks float64
}

var errSequences = errors.New("more sequences than the limit")

// count adds the label sequences of the walks of up to the given number of steps. It is
// errSequences when they are more than limit.
func (s *sequenceCounter) count(ctx context.Context, g *sortedGraph, steps, limit int, out *features) error {
	s.out, s.found, s.seq, s.steps, s.limit = out, 0, s.seq[:0], steps, limit
	resized(&s.walks, g.n())
	all := s.buf[0][:0]
	for v := range g.n() {
		all = append(all, ending{int32(v), 1})
	}
	s.buf[0] = all
	return s.split(ctx, g, all)
}

// split adds the sequences that go on from a sequence, given the ends of its walks with
// one more step, in ascending order and so by label, and all that go on from these.
func (s *sequenceCounter) split(ctx context.Context, g *sortedGraph, ends []ending) error {
	for len(ends) > 0 {
		if s.found == s.limit {
			return errSequences
		}
		if s.found%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s.found++
		l := g.label[ends[0].v]
		k := 1
		total := ends[0].walks
		for k < len(ends) && g.label[ends[k].v] == l {
			total += ends[k].walks
			k++
		}
		s.seq = append(s.seq, l)
		block := uint32(2 * (len(s.seq) - 1))
		switch s.compareReverse() {
		case -1:
			s.out.addKey(block+1, total, s.seq...)
		case 0:
			s.out.addKey(block, total, s.seq...)
		}
		if len(s.seq) <= s.steps {
			if err := s.split(ctx, g, s.advance(g, ends[:k])); err != nil {
				return err
			}
		}
		s.seq = s.seq[:len(s.seq)-1]
		ends = ends[k:]
	}
	return nil
}

// advance returns the ends of the walks after one more step, in ascending order.
func (s *sequenceCounter) advance(g *sortedGraph, ends []ending) []ending {
	next := s.buf[len(s.seq)][:0]
	for _, e := range ends {
		for _, u := range g.neighbors(int(e.v)) {
			if s.walks[u] == 0 {
				next = append(next, ending{v: u})
			}
			s.walks[u] += e.walks
		}
	}
	slices.SortFunc(next, func(a, b ending) int { return int(a.v) - int(b.v) })
	for i, e := range next {
		next[i].walks = s.walks[e.v]
		s.walks[e.v] = 0
	}
	s.buf[len(s.seq)] = next
	return next
}

// compareReverse compares the sequence at hand with its reverse.
func (s *sequenceCounter) compareReverse() int {
	for i, j := 0, len(s.seq)-1; i < j; i, j = i+1, j-1 {
		if c := cmp.Compare(s.seq[i], s.seq[j]); c != 0 {
			return c
		}
	}
	return 0
}
