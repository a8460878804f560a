package dense

import "math"

// FMA returns xy + z, rounded once. On a processor that cannot do that in one instruction the product is
// rounded as well: to emulate it would take a hundred times as long.
func FMA(x, y, z float64) float64 {
	if !Fused {
		return float64(x*y) + z
	}
	return math.FMA(x, y, z)
}
