package dense

// Sizes of blocks: depth×PanelWidth numbers of a right factor stay in the first-level cache,
// height×depth of a left one in the second.
const (
	depth        = 256
	height       = 128
	blockColumns = 10 * PanelWidth
)

// right is the right factor of products, laid out for the inner loop: chunks of up to depth rows,
// each in panels of PanelWidth columns, with zeros after the last column.
type right struct {
	rows, columns int
	data          []float64
}

// pack takes rows×columns numbers of b, whose rows are stride apart, or with transposed the
// transpose of columns×rows numbers.
func (f *right) pack(b []float64, stride, rows, columns int, transposed bool) {
	f.rows, f.columns = rows, columns
	width := (columns + PanelWidth - 1) / PanelWidth * PanelWidth
	f.data = Grow(f.data, rows*width)
	for k := 0; k < rows; k += depth {
		deep := min(depth, rows-k)
		for c := 0; c < width; c += PanelWidth {
			panel := f.data[k*width+c*deep:][:deep*PanelWidth]
			wide := min(PanelWidth, columns-c)
			if wide < PanelWidth {
				clear(panel)
			}
			if transposed {
				for j := range wide {
					for i, x := range b[(c+j)*stride+k:][:deep] {
						panel[i*PanelWidth+j] = x
					}
				}
				continue
			}
			for i := range deep {
				copy(panel[i*PanelWidth:], b[(k+i)*stride+c:][:wide])
			}
		}
	}
}

// subtract subtracts a·f from dst, for rows of a and dst that are strides apart. The sums over up
// to depth terms are by fused multiply-adds in turn, starting from zero.
func (f *right) subtract(dst []float64, dstStride int, a []float64, stride, rows int) {
	var out [height * PanelWidth]float64
	width := (f.columns + PanelWidth - 1) / PanelWidth * PanelWidth
	for k := 0; k < f.rows; k += depth {
		deep := min(depth, f.rows-k)
		for r := 0; r < rows; r += height {
			high := min(height, rows-r)
			for c := 0; c < f.columns; c += PanelWidth {
				MultiplyPanel(out[:], PanelWidth, a[r*stride+k:], stride, f.data[k*width+c*deep:][:deep*PanelWidth], high, deep)
				for i := range high {
					d := dst[(r+i)*dstStride+c:]
					d = d[:min(PanelWidth, f.columns-c)]
					for j, x := range out[i*PanelWidth:][:len(d)] {
						d[j] -= x
					}
				}
			}
		}
	}
}
