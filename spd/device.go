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
