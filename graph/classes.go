package graph

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Classes numbers distinct signatures. Intern may be called concurrently.
type Classes struct {
	shards [classShards]classShard
	words  atomic.Int64
}

// Bytes returns the memory of the signatures.
func (c *Classes) Bytes() int64 { return 4 * c.words.Load() }

const classShards = 64

type classShard struct {
	mu    sync.Mutex
	first map[uint64]int32 // by hash: first class with it
	next  []int32          // by class: next one with the same hash, or -1
	hash  []uint64
	words [][]uint32 // blocks, so that growth does not copy
	sig   [][]uint32 // by class: its signature
}

// Blocks of words grow from the first to the largest, by a factor of 4: a single graph needs
// little, and many graphs few blocks.
const (
	firstBlock = 1 << 7
	classBlock = 1 << 14
)

// Intern returns the provisional number of the class of a signature: equal signatures,
// compared in full, get equal numbers. Numbers depend on the order of concurrent calls;
// Number replaces them by others that do not.
func (c *Classes) Intern(sig []uint32, hash uint64) int32 {
	k := hash & (classShards - 1)
	s := &c.shards[k]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = make(map[uint64]int32)
	}
	head, found := s.first[hash]
	if found {
		for i := head; i >= 0; i = s.next[i] {
			if slices.Equal(s.sig[i], sig) {
				return i*classShards + int32(k)
			}
		}
	} else {
		head = -1
	}
	c.words.Add(int64(len(sig)))
	i := int32(len(s.sig))
	s.first[hash] = i
	s.next = append(s.next, head)
	s.hash = append(s.hash, hash)
	last := len(s.words) - 1
	if last < 0 || len(s.words[last])+len(sig) > cap(s.words[last]) {
		size := min(classBlock, firstBlock<<(2*min(len(s.words), 4)))
		s.words = append(s.words, make([]uint32, 0, max(size, len(sig))))
		last++
	}
	at := len(s.words[last])
	s.words[last] = append(s.words[last], sig...)
	s.sig = append(s.sig, s.words[last][at:len(s.words[last]):len(s.words[last])])
	return i*classShards + int32(k)
}

// Numbering lists the classes that occur, in the order of their first occurrence.
type Numbering struct {
	Sig   [][]uint32 // by class: its signature
	Hash  []uint64   // by class: the hash of its content
	Count []int32    // by class: number of occurrences
}

// Number replaces the provisional numbers in ids by numbers in the order of first
// occurrence, which do not depend on concurrency.
func (c *Classes) Number(ids [][]int32) *Numbering {
	var final [classShards][]int32
	for k := range final {
		final[k] = make([]int32, len(c.shards[k].sig))
		for i := range final[k] {
			final[k][i] = -1
		}
	}
	out := &Numbering{}
	for _, row := range ids {
		for i, id := range row {
			k, at := id%classShards, id/classShards
			f := final[k][at]
			if f < 0 {
				f = int32(len(out.Sig))
				final[k][at] = f
				out.Sig = append(out.Sig, c.shards[k].sig[at])
				out.Hash = append(out.Hash, c.shards[k].hash[at])
				out.Count = append(out.Count, 0)
			}
			out.Count[f]++
			row[i] = f
		}
	}
	return out
}
