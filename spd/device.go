package spd

import "context"

// Device computes kernel values of many pairs. All devices give the same bits.
type Device interface {
	// Block returns the height and width of the blocks in which a matrix of rows×columns kernel
	// values of matrices of order p is best computed. With same, it is a Gram matrix, whose blocks are
	// squares.
	Block(rows, columns int, same bool, p int) (height, width int)
	// Cross is the function Cross. It may be called concurrently.
	Cross(ctx context.Context, dst []float64, stride int, a *Batch, i0, i1 int, b *Batch, j0, j1 int) error
	// CrossFactors is Factors.Cross. It may be called concurrently.
	CrossFactors(ctx context.Context, dst []float64, stride int, f *Factors, q []float64, a []Thin) error
}

// CPU is the processor of this machine.
type CPU struct{}

// Sizes of blocks: small enough to share the work, large enough to use what is in the cache.
const (
	blockHeight = 64
	blockWidth  = 1024
	gramLeast   = 32 // sides of the squares of a Gram matrix
	gramMost    = 256
	gramShare   = 16
)

// Block implements Device.
func (CPU) Block(rows, columns int, same bool, p int) (height, width int) {
	if same {
		side := min(max(columns/gramShare&^(Lanes-1), gramLeast), gramMost)
		return side, side
	}
	return blockHeight, blockWidth
}

// Cross implements Device, in the calling goroutine.
func (CPU) Cross(_ context.Context, dst []float64, stride int, a *Batch, i0, i1 int, b *Batch, j0, j1 int) error {
	Cross(dst, stride, a, i0, i1, b, j0, j1)
	return nil
}

// CrossFactors implements Device, in the calling goroutine.
func (CPU) CrossFactors(_ context.Context, dst []float64, stride int, f *Factors, q []float64, a []Thin) error {
	f.Cross(dst, stride, q, a)
	return nil
}

// FactorTile is a tile of Factors: its V has Rank rows, and those of lane l make the columns
// Column + 8b + l of Vᵀ.
type FactorTile struct{ Column, Rank int32 }

// FactorGroup is a run of Lanes·len(Tiles) matrices of Factors, with their Vᵀ in panels of
// p×dense.PanelWidth and their roots (|H₁|/|H₂|²)^¼ = e·2^x. It must not be changed.
type FactorGroup struct {
	Columns int // of Vᵀ, a multiple of dense.PanelWidth
	Panels  []float64
	Tiles   []FactorTile
	E       []float64
	X       []int64
}

// Groups returns the matrices for a device. The last tile is padded.
func (f *Factors) Groups() []FactorGroup {
	var out []FactorGroup
	for i := range f.groups {
		g := &f.groups[i]
		r := f.roots.slice(g.lo*Lanes, g.hi*Lanes)
		x := FactorGroup{Columns: g.columns, Panels: g.panels, E: r.e, X: r.x}
		at := 0
		for _, rank := range f.ranks[g.lo:g.hi] {
			x.Tiles = append(x.Tiles, FactorTile{int32(at), int32(rank)})
			at += Lanes * rank
		}
		out = append(out, x)
	}
	return out
}

// Prepare computes for a device what Cross needs of matrices before it compares them: the packed
// X + G/(2γ) of one after the other, and (|X|·|X + G/γ|)^¼ = e·2^x. e is NaN for a singular matrix.
func (f *Factors) Prepare(packed, e []float64, x []int64, q []float64, a []Thin) {
	s := lowWorks.Get().(*lowWork)
	defer lowWorks.Put(s)
	s.prepare(a, q, f)
	for k, at := range s.where {
		packed[k] = s.g[at/(8*Lanes)]
	}
	for i, r := range s.roots {
		e[i], x[i] = r.e, r.x
	}
}
