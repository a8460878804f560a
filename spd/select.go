package spd

// Select returns the matrices at some positions.
func (b *Batch) Select(at []int) *Batch {
	out := NewBatch(len(at), b.p)
	for k, i := range at {
		out.copy(k, b, i)
	}
	return out
}

// Join returns the matrices of one batch after the other. They have one order, and there is at least
// one batch.
func Join(batches ...*Batch) *Batch {
	n := 0
	for _, b := range batches {
		n += b.n
	}
	out := NewBatch(n, batches[0].p)
	k := 0
	for _, b := range batches {
		if b.p != out.p {
			misuse("matrices of the orders %d and %d, want one", out.p, b.p)
		}
		for i := range b.n {
			out.copy(k, b, i)
			k++
		}
	}
	return out
}

// copy stores matrix i of another batch as matrix k.
func (b *Batch) copy(k int, from *Batch, i int) {
	to, l := b.tile(k)
	tile, m := from.tile(i)
	for e := range Size(b.p) {
		to[e*Lanes+l] = tile[e*Lanes+m]
	}
	b.roots.set(k, from.roots.at(i))
}
