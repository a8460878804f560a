package spd

// Size returns the number of entries of a packed matrix of order p.
func Size(p int) int { return p * (p + 1) / 2 }

// Index returns the place of entry (i, j), j ≤ i, in a packed matrix.
func Index(i, j int) int { return i*(i+1)/2 + j }
