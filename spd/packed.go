package spd

import "math"

// Size returns the number of entries of a packed matrix of order p.
func Size(p int) int { return p * (p + 1) / 2 }

// Index returns the place of entry (i, j), j ≤ i, in a packed matrix.
func Index(i, j int) int { return i*(i+1)/2 + j }

// LogDet returns log|S| for a packed matrix of order p. ok is false if S is not positive
// definite to working precision, or not finite. S is not changed; scratch holds at least
// Size(p)+2p numbers, or is nil. It takes O(p³) time.
func LogDet(packed []float64, p int, scratch []float64) (logDet float64, ok bool) {
	det := factored(packed, p, scratch)
	if !det.ok {
		return math.NaN(), false
	}
	return logOf(det.mant, det.expo), true
}

// LogKernel returns the logarithm of the Bhattacharyya kernel of two centred Gaussians,
//
//	log k = ¼ log|A| + ¼ log|B| − ½ log|½(A+B)|,
//
// for their packed covariances A and B of order p (docs/math.md, eq. 2). It is at most 0,
// and 0 when A = B. ok is false if a matrix is not positive definite. scratch holds at
// least Size(p)+2p numbers, or is nil.
func LogKernel(a, b []float64, p int, scratch []float64) (logK float64, ok bool) {
	scratch = need(scratch, p)
	size := Size(p)
	da, db := factored(a, p, scratch), factored(b, p, scratch)
	u := scratch[:size]
	for e := range u {
		u[e] = a[e] + b[e]
	}
	sum := ldl(u, p, scratch[size:])
	if !da.ok || !db.ok || !sum.ok {
		return math.NaN(), false
	}
	return logRatio(sum.mant, sum.expo, quarterOf(da, p), quarterOf(db, p)), true
}

func factored(packed []float64, p int, scratch []float64) determinant {
	size := Size(p)
	if len(packed) < size {
		misuse("matrix of order %d has %d packed entries, want %d", p, len(packed), size)
	}
	scratch = need(scratch, p)
	copy(scratch[:size], packed)
	return ldl(scratch[:size], p, scratch[size:])
}

func need(scratch []float64, p int) []float64 {
	n := Size(p) + 2*p
	if scratch == nil {
		return make([]float64, n)
	}
	if len(scratch) < n {
		misuse("scratch of %d numbers for order %d, want %d", len(scratch), p, n)
	}
	return scratch
}

// pivot returns pivot r of the matrix whose factorisation u stopped at it.
func pivot(packed, u []float64, r int) float64 {
	row := u[Index(r, 0):]
	d := packed[Index(r, r)]
	for m := range r {
		d = math.FMA(-row[m], row[m]*(1/u[Index(m, m)]), d)
	}
	return d
}
