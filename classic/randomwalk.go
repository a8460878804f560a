package classic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// RandomWalk is the random walk kernel with labels. It counts the pairs of walks with the same
// sequence of labels,
//
//	k(G, G') = Σ_{i=0..P} μ_i 1ᵀA×^i 1,   μ_i = λ^i or λ^i/i!,
//
// where A× is the adjacency matrix of the direct product of G and G' on the pairs of vertices with
// equal labels. With AllPairs the term i = 0 counts all pairs of vertices. Weights play no part. P
// = 0 stands for walks of any length. Then the geometric series needs λρ < 1 for the largest
// eigenvalue ρ of the product of every graph with itself, and Fit and Cross return an error where
// that fails. With Damped such a graph has the weight λ_G = 0.9/ρ of a step instead, others have
// λ_G = λ, and (λ_G λ_G')^(i/2) takes the place of λ^i.
//
// The numbers of walks of each label sequence are explicit features. A sequence and its reverse
// have as many walks, so one of the two is kept. A graph with more than 8192 sequences is compared
// by walking on the product graph, which is never formed, in O(P (n n' + m n' + n m')) time for a
// pair at most. So are walks of any length, and of more than 20 steps. The sum over walks of any
// length ends where a bound of the rest is under 2⁻⁵⁴ of the value.
type RandomWalk struct {
	P         int       `json:"p" want:"0 to 1000" help:"Most steps; 0 for walks of any length."`
	Lambda    float64   `json:"lambda" want:"positive" help:"Weight of a step."`
	Series    Series    `json:"series" want:"one of geometric exponential" help:"Weights of walks of i steps: geometric, λ^i, or exponential, λ^i/i!."`
	AllPairs  bool      `json:"all_pairs" help:"Walks of no steps count vertices with different labels too."`
	Damped    bool      `json:"damped" help:"Use a smaller weight of a step for graphs whose series over walks of any length diverges. Without it such graphs are an error."`
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultRandomWalk returns the normalised kernel with 5 steps and λ = 0.1.
func DefaultRandomWalk() RandomWalk {
	return RandomWalk{P: 5, Lambda: 0.1, Series: Geometric, Labels: Auto, Normalize: true}
}

// maxSteps is the largest number of steps of explicit features.
const maxSteps = 20

// maxSequences is the largest number of sequences of a graph that has explicit features. Tests
// change it.
var maxSequences = 8192

// Name implements kernel.Kernel.
func (k RandomWalk) Name() string { return "rw" }

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k RandomWalk) String() string  { return kernel.Text(k) }
func (k RandomWalk) Validate() error { return kernel.Check(k) }
func (k RandomWalk) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k RandomWalk) Decode(data []byte) (kernel.Map, error)               { return decode(k, data) }
func (k RandomWalk) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

// Stretch implements kernel.Directional.
func (k RandomWalk) Stretch(times int) (kernel.Kernel, bool) {
	k.P *= times
	return k, k.Labels.discrete()
}

// Converging returns k with Lambda = 0.9/ρ where the series over walks of any length may not
// converge. ρ is a bound of the largest eigenvalue of the product of any of the graphs with itself.
func (k RandomWalk) Converging(ctx context.Context, graphs []*graph.Graph) (RandomWalk, error) {
	if k.Series != Geometric {
		return k, nil
	}
	rho, err := k.radii(ctx, graphs)
	if largest := slices.Max(append(rho, 0)); !(k.Lambda*largest < 1) {
		k.Lambda = damping / largest
	}
	return k, err
}

// Diverging returns the number of graphs for which the series over walks of any length may not
// converge.
func (k RandomWalk) Diverging(ctx context.Context, graphs []*graph.Graph) (int, error) {
	rho, err := k.radii(ctx, graphs)
	n := 0
	for _, r := range rho {
		if !(k.Lambda*r < k.Series.limit()) {
			n++
		}
	}
	return n, err
}

// radii returns bounds of the largest eigenvalues of the products of graphs with themselves, none
// where P is the number of steps.
func (k RandomWalk) radii(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	if k.P > 0 {
		return nil, nil
	}
	c := colouring{wanted: k.Labels}
	if err := c.fit(graphs); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name(), err)
	}
	out := make([]float64, len(graphs))
	var p product
	paint := c.painter()
	for i, g := range graphs {
		painted, err := paint.paint(ctx, g)
		if err != nil {
			return nil, err
		}
		if out[i], err = p.rho(ctx, newSortedGraph(painted)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (k RandomWalk) recipe() recipe {
	m := recipe{labels: k.Labels, weights: k.weights(), normalize: k.Normalize}
	limit := maxSequences
	m.count = func() countFunc {
		s := sequenceCounter{steps: k.P, limit: limit, allPairs: k.AllPairs}
		p := product{walk: k}
		return func(ctx context.Context, g *coloured, out *vector) (err error) {
			sorted := newSortedGraph(g)
			g.prepared = sorted
			if k.P > 0 && k.P <= maxSteps {
				if err := s.count(ctx, sorted, out); err != errSequences {
					return err
				}
				out.reset()
			}
			if k.P == 0 {
				if sorted.rho, err = p.rho(ctx, sorted); err != nil {
					return err
				}
				sorted.lambda = k.Lambda
				switch limit := k.Series.limit(); {
				case k.Lambda*sorted.rho < limit:
				case k.Damped:
					sorted.lambda = damping * limit / sorted.rho
				default:
					return fmt.Errorf("lambda = %g, want less than %.4g for walks of any length", k.Lambda, limit/sorted.rho)
				}
			}
			g.large = []bool{true}
			g.rest, err = p.walks(ctx, sorted, sorted)
			return err
		}
	}
	m.compare = func() compareFunc {
		p := product{walk: k}
		return func(ctx context.Context, a, b *coloured, _ int) (float64, error) {
			return p.walks(ctx, a.prepared.(*sortedGraph), b.prepared.(*sortedGraph))
		}
	}
	return m
}

// weights returns μ_i for the palindromes of i steps and 2μ_i for the other sequences. A sequence
// that is not a palindrome stands for its reverse too.
func (k RandomWalk) weights() []float64 {
	var w []float64
	x := 1.0
	for i := range min(k.P, maxSteps) + 1 {
		w = append(w, x, 2*x)
		x = k.Series.next(x, k.Lambda, i)
	}
	return w
}

// sequenceCounter counts the walks of a graph by label sequence.
type sequenceCounter struct {
	out          *vector
	found        int                    // sequences
	walks        []float64              // by vertex
	buf          [maxSteps + 2][]ending // by number of labels
	seq          []uint64
	steps, limit int
	allPairs     bool
}

// ending is a vertex and the number of walks that end there.
type ending struct {
	v     int32
	walks float64
}

var errSequences = errors.New("more sequences than the limit")

// count adds the label sequences of the walks of a graph. It is errSequences when they are more
// than limit.
func (s *sequenceCounter) count(ctx context.Context, g *sortedGraph, out *vector) error {
	s.out, s.found, s.seq = out, 0, s.seq[:0]
	if s.allPairs && g.n() > 0 {
		out.addKey(0, float64(g.n()))
	}
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
		switch reverse := s.compareReverse(); {
		case s.allPairs && len(s.seq) == 1:
		case reverse == -1:
			s.out.addKey(block+1, total, s.seq...)
		case reverse == 0:
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
