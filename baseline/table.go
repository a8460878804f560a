package baseline

import (
	"math/bits"
	"slices"
)

// mix is a step of a multiplicative hash. Hashes only choose slots; keys are always
// compared in full.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// interner numbers distinct 64-bit keys 0, 1, 2, … in the order in which they come. The
// zero value is empty. Lookups may run concurrently with each other.
type interner struct {
	slot []uint32 // number + 1, 0 for an empty slot; the length is a power of two
	keys []uint64 // by number
}

// pair packs two numbers into a key.
func pair(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

func (t *interner) len() int { return len(t.keys) }

// lookup returns the number of a key and whether it has one.
func (t *interner) lookup(key uint64) (uint32, bool) {
	if len(t.slot) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slot) - 1)
	for h := mix(0, key) & mask; ; h = (h + 1) & mask {
		s := t.slot[h]
		if s == 0 {
			return 0, false
		}
		if t.keys[s-1] == key {
			return s - 1, true
		}
	}
}

// intern returns the number of a key, a new one when it has none.
func (t *interner) intern(key uint64) uint32 {
	if 2*(len(t.keys)+1) > len(t.slot) {
		t.slot = make([]uint32, max(16, 2*len(t.slot)))
		mask := uint64(len(t.slot) - 1)
		for i, k := range t.keys {
			h := mix(0, k) & mask
			for t.slot[h] != 0 {
				h = (h + 1) & mask
			}
			t.slot[h] = uint32(i) + 1
		}
	}
	mask := uint64(len(t.slot) - 1)
	for h := mix(0, key) & mask; ; h = (h + 1) & mask {
		s := t.slot[h]
		if s == 0 {
			t.keys = append(t.keys, key)
			t.slot[h] = uint32(len(t.keys))
			return uint32(len(t.keys) - 1)
		}
		if t.keys[s-1] == key {
			return s - 1
		}
	}
}

// signatures numbers distinct sequences of 32-bit numbers 0, 1, 2, … in the order in
// which they come. The zero value is empty. Lookups may run concurrently with each other.
type signatures struct {
	slot  []uint32 // number + 1, 0 for an empty slot; the length is a power of two
	hash  []uint64 // by number
	off   []int    // by number: where its sequence starts in arena
	arena []uint32
}

func hashSignature(s []uint32) uint64 {
	h := uint64(len(s))
	for _, x := range s {
		h = mix(h, uint64(x))
	}
	return h
}

func (t *signatures) len() int { return len(t.hash) }

func (t *signatures) reset() {
	clear(t.slot)
	t.hash, t.off, t.arena = t.hash[:0], t.off[:0], t.arena[:0]
}

// find returns the number of a sequence, or the slot where it belongs.
func (t *signatures) find(s []uint32, hash uint64) (id uint32, at uint64, ok bool) {
	mask := uint64(len(t.slot) - 1)
	for at = hash & mask; ; at = (at + 1) & mask {
		n := t.slot[at]
		if n == 0 {
			return 0, at, false
		}
		id := n - 1
		if t.hash[id] != hash {
			continue
		}
		end := len(t.arena)
		if int(n) < len(t.off) {
			end = t.off[n]
		}
		if slices.Equal(t.arena[t.off[id]:end], s) {
			return id, at, true
		}
	}
}

// lookup returns the number of a sequence with the given hash and whether it has one.
func (t *signatures) lookup(s []uint32, hash uint64) (uint32, bool) {
	if len(t.slot) == 0 {
		return 0, false
	}
	id, _, ok := t.find(s, hash)
	return id, ok
}

// intern returns the number of a sequence with the given hash, a new one when it has none.
func (t *signatures) intern(s []uint32, hash uint64) uint32 {
	if 2*(len(t.hash)+1) > len(t.slot) {
		t.slot = make([]uint32, max(16, 2*len(t.slot)))
		mask := uint64(len(t.slot) - 1)
		for i, h := range t.hash {
			at := h & mask
			for t.slot[at] != 0 {
				at = (at + 1) & mask
			}
			t.slot[at] = uint32(i) + 1
		}
	}
	id, at, ok := t.find(s, hash)
	if ok {
		return id
	}
	t.hash = append(t.hash, hash)
	t.off = append(t.off, len(t.arena))
	t.arena = append(t.arena, s...)
	t.slot[at] = uint32(len(t.hash))
	return uint32(len(t.hash) - 1)
}
