//go:build amd64 || arm64

package cuda

import (
	"context"
	"embed"
	"encoding/binary"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"unsafe"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/spd"
)

// embedded has the parts of kernels.cu compiled for each of orders.
//
//go:embed *.ptx
var embedded embed.FS

var modules fs.FS = embedded

var orders = []int{4, 6, 8, 10, 12, 16, 24, 32, 48, 64}

// Sizes of what is computed at a time. They change the speed, not a bit of the result.
const (
	slotCount   = 12
	side        = 2048 // of the rectangles for orders up to wideOrder, half of it for greater ones
	wideOrder   = 32
	inputBytes  = 2 * (side/2 + spd.Lanes) * (maxOrder*(maxOrder+1)/2 + 3) * 8
	outputBytes = side * side * 8
	slotBytes   = (inputBytes + outputBytes + 4095) &^ 4095
)

// Device is a GPU. It implements spd.Device. Its methods may be called concurrently: transfers of
// one call then overlap with the work of others.
type Device struct {
	// Least is the time in seconds below which the processor computes what a call wants, because a
	// call of the GPU takes longer.
	Least float64

	name    string
	control *driver
	context uint64
	slots   chan *slot

	mu      sync.Mutex
	kernels map[string]*kernels // by module
}

// kernels are the functions of a module: layout and cross, or products and factors.
type kernels struct {
	order           int
	first, second   uint64
	rows, columns   int // of a block of threads
	threads, shared int
	entrywise       bool // the second matrix is wanted entry by entry
}

// parts are the parts of kernels.cu. They are modules of their own, because the driver compiles all of a
// module.
var parts = map[string][2]string{"cross": {"layout", "cross"}, "factors": {"products", "factors"}}

// slot is what one call needs: a thread of the child with a stream, shared memory that the GPU reads
// and writes, and memory of the GPU.
type slot struct {
	*driver
	memory                      []byte
	stream, input, laid, result uint64

	landmarks, panels uint64 // what is held of Factors
	tiles             tiles
	held              landmarks
}

// Open returns the first GPU.
func Open() (*Device, error) {
	drivers, memory, err := connect(slotCount+1, slotCount*slotBytes)
	if err != nil {
		return nil, err
	}
	d := &Device{Least: callSeconds, control: drivers[0], slots: make(chan *slot, slotCount), kernels: map[string]*kernels{}}
	if d.context, d.name, err = d.control.begin(); err == nil {
		err = d.control.do("cuCtxSetCurrent", d.context)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	for i, t := range drivers[1:] {
		d.slots <- &slot{driver: t, memory: memory[i*slotBytes:][:slotBytes]}
	}
	return d, nil
}

// String names the GPU.
func (d *Device) String() string { return d.name }

// Close gives the GPU back.
func (d *Device) Close() error {
	d.control.p.stop()
	return nil
}

// prepare takes the memory of a slot when it is first used.
func (s *slot) prepare(context uint64) (err error) {
	if s.stream != 0 {
		return nil
	}
	if err := s.do("cuCtxSetCurrent", context); err != nil {
		return err
	}
	if err := s.do("cuMemHostRegister_v2", s.p.at(s.memory), slotBytes, 0); err != nil {
		return err
	}
	for _, m := range []struct {
		at   *uint64
		size uint64
	}{{&s.input, inputBytes}, {&s.laid, inputBytes}, {&s.result, outputBytes}, {&s.landmarks, heldBytes}} {
		if *m.at, err = s.get("cuMemAlloc_v2", m.size); err != nil {
			return err
		}
	}
	s.stream, err = s.get("cuStreamCreate", 1) // not with the stream of others
	return err
}

// orderOf returns which of orders is for matrices of order p.
func orderOf(p int) int {
	i, _ := slices.BinarySearch(orders, p)
	return i
}

// of returns the kernels of a part for matrices of order p, which are loaded when they are first needed.
func (d *Device) of(part string, p int) (*kernels, error) {
	k := &kernels{order: orders[orderOf(p)]}
	name := fmt.Sprintf("%s_%d.ptx", part, k.order)
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.kernels[name]; known != nil {
		return known, nil
	}
	text, err := fs.ReadFile(modules, name)
	if err != nil {
		panic(err) // it is embedded
	}
	c := d.control
	module, err := c.get("cuModuleLoadData", c.text(string(text)))
	if err != nil {
		return nil, err
	}
	for i, at := range []*uint64{&k.first, &k.second} {
		if *at, err = c.get("cuModuleGetFunction", module, c.text(parts[part][i])); err != nil {
			return nil, err
		}
	}
	// The second word is where its size goes.
	geometry, err := c.get("cuModuleGetGlobal_v2", c.p.at(c.scratch[8:]), module, c.text("geometry"))
	if err != nil {
		return nil, err
	}
	if err := c.do("cuMemcpyDtoH_v2", c.p.at(c.scratch), geometry, 20); err != nil {
		return nil, err
	}
	var g [5]int
	for i := range g {
		g[i] = int(binary.LittleEndian.Uint32(c.scratch[4*i:]))
	}
	k.rows, k.columns, k.threads, k.shared, k.entrywise = g[0], g[1], g[2], g[3], g[4] != 0
	if err := c.do("cuFuncSetAttribute", k.second, maxShared, uint64(k.shared)); err != nil {
		return nil, err
	}
	d.kernels[name] = k
	return k, nil
}

// Block implements spd.Device.
func (d *Device) Block(rows, columns int, same bool, p int) (height, width int) {
	switch {
	case p > maxOrder:
		return spd.CPU{}.Block(rows, columns, same, p)
	case p > wideOrder:
		return side / 2, side / 2
	}
	return side, side
}

// Cross implements spd.Device. The processor compares matrices of orders above 64.
func (d *Device) Cross(ctx context.Context, dst []float64, stride int, a *spd.Batch, i0, i1 int, b *spd.Batch, j0, j1 int) error {
	p := a.Order()
	if p > maxOrder || seconds((i1-i0)*(j1-j0), p) < d.Least {
		return spd.CPU{}.Cross(ctx, dst, stride, a, i0, i1, b, j0, j1)
	}
	if !spd.CheckCross(dst, stride, a, i0, i1, b, j0, j1) {
		return nil
	}
	k, err := d.of("cross", p)
	if err != nil {
		return err
	}
	height, width := d.Block(0, 0, false, p)
	for i := i0; i < i1; i += height {
		for j := j0; j < j1; j += width {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := d.block(k, dst[(i-i0)*stride+j-j0:], stride, a, i, min(i+height, i1), b, j, min(j+width, j1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// roots has the addresses of fourth roots for a kernel.
type roots struct{ E, C, X uint64 }

// block is Cross for a rectangle that is not larger than a slot takes.
func (d *Device) block(k *kernels, dst []float64, stride int, a *spd.Batch, i0, i1 int, b *spd.Batch, j0, j1 int) error {
	s := <-d.slots
	defer func() { d.slots <- s }()
	if err := s.prepare(d.context); err != nil {
		return err
	}
	rows, columns := i1-i0, j1-j0
	size := uint64(k.order * (k.order + 1) / 2)
	input := file.Floats(s.memory[:inputBytes])
	n := 0
	put := func(x []float64) (at uint64) {
		at = s.input + uint64(8*n)
		n += copy(input[n:], x)
		return at
	}
	matrices := func(b *spd.Batch, lo, hi int) (tiles uint64, r roots) {
		t, e, c, x := b.Range(lo, hi)
		return put(t), roots{put(e), put(c), put(unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)))}
	}
	ta, ra := matrices(a, i0, i1)
	tb, rb := matrices(b, j0, j1)
	if err := s.do("cuMemcpyHtoDAsync_v2", s.input, s.p.at(s.memory), uint64(8*n), s.stream); err != nil {
		return err
	}
	la, lb := s.laid, s.laid+8*size*uint64(rows)
	lay := func(at, entry, matrix, tiles uint64, first, n, p int) error {
		const threads = 256
		return s.launch(s.stream, k.first, [2]int{(n*int(size) + threads - 1) / threads, 1}, threads, 0,
			at, entry, matrix, tiles, int32(first%spd.Lanes), int32(n), int32(p))
	}
	if err := lay(la, 1, size, ta, i0, rows, a.Order()); err != nil {
		return err
	}
	entry, matrix := uint64(1), size
	if k.entrywise {
		entry, matrix = uint64(columns), 1
	}
	if err := lay(lb, entry, matrix, tb, j0, columns, b.Order()); err != nil {
		return err
	}
	grid := [2]int{(columns + k.columns - 1) / k.columns, (rows + k.rows - 1) / k.rows}
	err := s.launch(s.stream, k.second, grid, k.threads, k.shared,
		s.result, uint64(columns), la, ra, int32(rows), lb, rb, int32(columns))
	if err != nil {
		return err
	}
	values, err := s.fetch(rows * columns)
	if err != nil {
		return err
	}
	for i := range rows {
		copy(dst[i*stride:][:columns], values[i*columns:])
	}
	return nil
}

// fetch waits for results and returns n of them.
func (s *slot) fetch(n int) ([]float64, error) {
	output := s.memory[inputBytes:][:8*n]
	if err := s.do("cuMemcpyDtoHAsync_v2", s.p.at(output), s.result, uint64(len(output)), s.stream); err != nil {
		return nil, err
	}
	if err := s.do("cuStreamSynchronize", s.stream); err != nil {
		return nil, err
	}
	return file.Floats(output), nil
}
