package baseline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
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
	P         int     // steps, 1 to 20
	Lambda    float64 // λ, positive
	Labels    Source  // Attributes is not possible
	Normalize bool
	Workers   int
}

// DefaultRandomWalk returns the normalised kernel with 5 steps and λ = 0.1.
func DefaultRandomWalk() RandomWalk {
	return RandomWalk{P: 5, Lambda: 0.1, Normalize: true, Workers: runtime.GOMAXPROCS(0)}
}

const (
	maxSteps     = 20
	maxSequences = 8192
)

// Validate names the first field with a bad value.
func (k RandomWalk) Validate() error {
	if k.P < 1 || k.P > maxSteps {
		return fmt.Errorf("random walk: P is %d, want 1 to %d", k.P, maxSteps)
	}
	if !(k.Lambda > 0) || math.IsInf(k.Lambda, 1) {
		return fmt.Errorf("random walk: Lambda is %v, want a positive, finite number", k.Lambda)
	}
	if err := k.Labels.validate("random walk", false); err != nil {
		return err
	}
	return validateWorkers("random walk", k.Workers)
}

// String names the kernel and its parameters, as in "rw p=5 lambda=0.1".
func (k RandomWalk) String() string {
	return fmt.Sprintf("rw p=%d lambda=%g%s", k.P, k.Lambda, k.Labels.suffix())
}

// walkFitted is a fitted RandomWalk. Graphs with too many sequences have no vector in the
// index; pairs with such a graph are compared on the product.
type walkFitted struct {
	kernel RandomWalk
	limit  int
	source Source
	labels labelDict
	trie   interner // node of the parent + 1 (0 for none) and label, to node
	idx    *index
	graphs []*walkGraph
	many   []bool
	self   []float64
}

// Fit counts the walks of the training graphs.
func (k RandomWalk) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	return k.fit(ctx, graphs, maxSequences)
}

// fit is Fit with a bound of the number of sequences of a graph that has explicit features.
func (k RandomWalk) fit(ctx context.Context, graphs []*graph.Graph, limit int) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	fail := func(err error) (mlg.Fitted, error) { return nil, fmt.Errorf("random walk: %w", err) }
	source, err := k.Labels.resolve(graphs)
	if err != nil {
		return fail(err)
	}
	f := &walkFitted{kernel: k, limit: limit, source: source, labels: labelDict{}, graphs: make([]*walkGraph, len(graphs)), many: make([]bool, len(graphs))}
	label := f.labels.fit(source, graphs)
	vectors := make([][]entry, len(graphs))
	const batch = 512
	s := make([]sequenceCounter, k.Workers)
	found := make([][]sequence, min(batch, len(graphs)))
	for from := 0; from < len(graphs); from += batch {
		size := min(batch, len(graphs)-from)
		err := parallel(ctx, k.Workers, size, 4, func(w, i int) error {
			g := newWalkGraph(graphs[from+i], label[from+i])
			f.graphs[from+i] = g
			seqs, ok, err := s[w].count(ctx, g, k.P, f.limit)
			found[i] = found[i][:0]
			if f.many[from+i] = !ok; ok {
				found[i] = append(found[i], seqs...)
			}
			return err
		})
		if err != nil {
			return fail(err)
		}
		for i := range size {
			vectors[from+i] = f.intern(found[i])
		}
	}
	if f.idx, err = newIndex(vectors, f.trie.len(), k.weights(), false); err != nil {
		return fail(err)
	}
	f.self = append([]float64(nil), f.idx.self...)
	p := make([]product, k.Workers)
	err = parallel(ctx, k.Workers, len(graphs), 1, func(w, i int) error {
		if !f.many[i] {
			return nil
		}
		var err error
		f.self[i], err = f.product(ctx, &p[w], f.graphs[i], f.graphs[i])
		return graphError(i, err)
	})
	if err != nil {
		return fail(err)
	}
	return f, nil
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

// intern returns the vector of a training graph.
func (f *walkFitted) intern(seqs []sequence) []entry {
	var v []entry
	node := make([]uint32, len(seqs))
	for i, s := range seqs {
		parent := uint32(0)
		if s.parent >= 0 {
			parent = node[s.parent] + 1
		}
		node[i] = f.trie.intern(pair(parent, s.label))
		if s.count > 0 {
			v = append(v, entry{node[i], s.block, s.count})
		}
	}
	return v
}

// lookup returns the vector of a new graph.
func (f *walkFitted) lookup(seqs []sequence) []entry {
	var v []entry
	node := make([]uint32, len(seqs))
	for i, s := range seqs {
		parent, ok := uint32(0), true
		if s.parent >= 0 {
			parent = node[s.parent] + 1
			ok = node[s.parent] != unseen
		}
		node[i] = unseen
		if ok {
			if id, ok := f.trie.lookup(pair(parent, s.label)); ok {
				node[i] = id
			}
		}
		if s.count > 0 {
			v = append(v, entry{node[i], s.block, s.count})
		}
	}
	return v
}

// product compares two graphs on their product.
func (f *walkFitted) product(ctx context.Context, p *product, a, b *walkGraph) (float64, error) {
	sum, weight := 0.0, 1.0
	err := p.walks(ctx, a, b, 1, func(i int, value float64) bool {
		sum += float64(weight * value)
		weight *= f.kernel.Lambda
		return i < f.kernel.P
	})
	if err == nil && (math.IsInf(sum, 0) || math.IsNaN(sum)) {
		err = errTooLarge
	}
	return sum, err
}

// Gram returns the kernel matrix of the training graphs.
func (f *walkFitted) Gram(ctx context.Context) (*mlg.Matrix, error) {
	k := f.kernel
	some := false
	for _, m := range f.many {
		some = some || m
	}
	if !some {
		return f.idx.gram(ctx, k.Workers, k.Normalize)
	}
	m, err := f.idx.gram(ctx, k.Workers, false)
	if err != nil {
		return nil, err
	}
	p := make([]product, k.Workers)
	err = pairGram(ctx, k.Workers, m, func(i, j int) bool { return f.many[i] || f.many[j] }, func(w, i, j int) (float64, error) {
		if i == j {
			return f.self[i], nil
		}
		return f.product(ctx, &p[w], f.graphs[i], f.graphs[j])
	})
	if err != nil {
		return nil, err
	}
	if k.Normalize {
		normalizeAll(m, f.self, f.self)
	}
	return m, nil
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *walkFitted) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	k := f.kernel
	fail := func(err error) (*mlg.Matrix, error) { return nil, fmt.Errorf("random walk: %w", err) }
	source, err := resolveNew(k.Labels, f.source, graphs)
	if err != nil {
		return fail(err)
	}
	s := make([]sequenceCounter, k.Workers)
	p := make([]product, k.Workers)
	prepared := make([]*walkGraph, len(graphs))
	many := make([]bool, len(graphs))
	self := make([]float64, len(graphs))
	m, err := f.idx.cross(ctx, k.Workers, len(graphs), false, func(w, i int) ([]entry, error) {
		g := newWalkGraph(graphs[i], f.labels.of(source, graphs[i]))
		prepared[i] = g
		seqs, ok, err := s[w].count(ctx, g, k.P, f.limit)
		if err != nil {
			return nil, err
		}
		if !ok {
			many[i] = true
			self[i], err = f.product(ctx, &p[w], g, g)
			return nil, err
		}
		v := f.lookup(seqs)
		in, out := f.idx.vectorOf(v, nil)
		self[i] = f.idx.selfSimilarity(in, out)
		return v, nil
	})
	if err != nil {
		return fail(err)
	}
	err = pairCross(ctx, k.Workers, m, func(i, j int) bool { return many[i] || f.many[j] }, func(w, i, j int) (float64, error) {
		return f.product(ctx, &p[w], prepared[i], f.graphs[j])
	})
	if err != nil {
		return fail(err)
	}
	if k.Normalize {
		normalizeAll(m, self, f.self)
	}
	return m, nil
}

// sequence is a node of the tree of the label sequences of a graph: the sequence of its
// parent (-1 for none) and one more label. count is the number of walks, 0 where the
// reverse is kept instead.
type sequence struct {
	parent int32
	label  uint32
	block  uint32
	count  float64
}

// sequenceCounter counts the walks of a graph by label sequence.
type sequenceCounter struct {
	out          []sequence
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

// count returns the label sequences of the walks of up to the given number of steps,
// parents first, and false when they are more than limit. They are valid until the
// next call.
func (s *sequenceCounter) count(ctx context.Context, g *walkGraph, steps, limit int) ([]sequence, bool, error) {
	s.out, s.seq, s.steps, s.limit = s.out[:0], s.seq[:0], steps, limit
	resized(&s.walks, g.n())
	all := s.buf[0][:0]
	for v := range g.n() {
		all = append(all, ending{int32(v), 1})
	}
	s.buf[0] = all
	ok, err := s.split(ctx, g, all, -1)
	return s.out, ok, err
}

// split adds the sequences that go on from a sequence, given the ends of its walks with
// one more step, in ascending order and so by label, and all that go on from these.
func (s *sequenceCounter) split(ctx context.Context, g *walkGraph, ends []ending, parent int32) (bool, error) {
	for len(ends) > 0 {
		if len(s.out) == s.limit {
			return false, nil
		}
		if len(s.out)%64 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		l := g.label[ends[0].v]
		k := 1
		total := ends[0].walks
		for k < len(ends) && g.label[ends[k].v] == l {
			total += ends[k].walks
			k++
		}
		s.seq = append(s.seq, l)
		node := sequence{parent: parent, label: l, block: uint32(2 * (len(s.seq) - 1)), count: total}
		switch s.compareReverse() {
		case -1:
			node.block++
		case 1:
			node.count = 0
		}
		s.out = append(s.out, node)
		if len(s.seq) <= s.steps {
			ok, err := s.split(ctx, g, s.advance(g, ends[:k]), int32(len(s.out)-1))
			if !ok || err != nil {
				return ok, err
			}
		}
		s.seq = s.seq[:len(s.seq)-1]
		ends = ends[k:]
	}
	return true, nil
}

// advance returns the ends of the walks after one more step, in ascending order.
func (s *sequenceCounter) advance(g *walkGraph, ends []ending) []ending {
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
