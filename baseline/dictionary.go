package baseline

import (
	"math/bits"
	"slices"
)

// dictionary numbers distinct sequences of 32-bit words 0, 1, 2, … in the order in which they
// come. Sequences are compared in full; hashes only choose slots. The zero value is empty.
// Lookups may run concurrently with each other.
type dictionary struct {
	slot  []uint64 // upper half of a hash, and number + 1; 0 for an empty slot; the length is a power of two
	hash  []uint64 // by number
	start []int    // by number: where its sequence starts in words
	words []uint32
}

// hashWords returns the hash under which a dictionary finds a sequence.
func hashWords(s []uint32) uint64 {
	h := uint64(len(s))
	for _, x := range s {
		hi, lo := bits.Mul64(h^uint64(x)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
		h = hi ^ lo
	}
	return h
}

func (d *dictionary) len() int { return len(d.hash) }

func (d *dictionary) reset() {
	clear(d.slot)
	d.hash, d.start, d.words = d.hash[:0], d.start[:0], d.words[:0]
}

// find returns the number of a sequence, or the slot where it belongs.
func (d *dictionary) find(s []uint32, hash uint64) (id uint32, at uint64, ok bool) {
	mask := uint64(len(d.slot) - 1)
	for at = hash & mask; ; at = (at + 1) & mask {
		n := d.slot[at]
		if n == 0 {
			return 0, at, false
		}
		if n>>32 != hash>>32 {
			continue
		}
		id := uint32(n) - 1
		end := len(d.words)
		if int(id)+1 < len(d.start) {
			end = d.start[id+1]
		}
		if slices.Equal(d.words[d.start[id]:end], s) {
			return id, at, true
		}
	}
}

// lookup returns the number of a sequence with the given hash and whether it has one.
func (d *dictionary) lookup(s []uint32, hash uint64) (uint32, bool) {
	if len(d.slot) == 0 {
		return 0, false
	}
	id, _, ok := d.find(s, hash)
	return id, ok
}

// reserve makes room for n sequences.
func (d *dictionary) reserve(n int) {
	size := max(16, len(d.slot))
	for size < 2*n {
		size *= 2
	}
	if size == len(d.slot) {
		return
	}
	more := size/2 - len(d.hash)
	d.hash, d.start, d.words = slices.Grow(d.hash, more), slices.Grow(d.start, more), slices.Grow(d.words, len(d.words))
	d.slot = make([]uint64, size)
	mask := uint64(size - 1)
	for i, h := range d.hash {
		at := h & mask
		for d.slot[at] != 0 {
			at = (at + 1) & mask
		}
		d.slot[at] = h>>32<<32 | uint64(i+1)
	}
}

// intern returns the number of a sequence with the given hash, a new one when it has none.
func (d *dictionary) intern(s []uint32, hash uint64) uint32 {
	if 2*(len(d.hash)+1) > len(d.slot) {
		d.reserve(len(d.hash) + 1)
	}
	id, at, ok := d.find(s, hash)
	if ok {
		return id
	}
	d.hash = append(d.hash, hash)
	d.start = append(d.start, len(d.words))
	d.words = append(d.words, s...)
	d.slot[at] = hash>>32<<32 | uint64(len(d.hash))
	return uint32(len(d.hash) - 1)
}
