package mlg

import "math"

// fold brings the kernel values k of one of the given number of levels into dst; first says
// that it is the first one.
func (o *Options) fold(dst, k []float64, first bool, levels int) {
	for i, v := range k {
		if o.Combine == GeometricMean {
			v = math.Pow(v, 1/float64(levels))
		}
		switch {
		case first:
			dst[i] = v
		case o.Combine == Sum:
			dst[i] += v
		default:
			dst[i] *= v
		}
	}
}

// finish makes the kernel of what fold has collected from all levels.
func (o *Options) finish(dst []float64, levels int) {
	if o.Combine != Sum && o.Power == 1 {
		return
	}
	for i, v := range dst {
		if o.Combine == Sum {
			v /= float64(levels)
		}
		x := v
		for range o.Power - 1 {
			x *= v
		}
		dst[i] = x
	}
}
