package baseline

import "slices"

// sortIDs sorts a slice that is short more often than not.
func sortIDs(ids []uint32) {
	if len(ids) > 16 {
		slices.Sort(ids)
		return
	}
	for i := 1; i < len(ids); i++ {
		x := ids[i]
		j := i
		for ; j > 0 && ids[j-1] > x; j-- {
			ids[j] = ids[j-1]
		}
		ids[j] = x
	}
}

// countEntries returns the number of times that each id occurs, in ascending order of ids
// and in block 0. It sorts ids in place.
func countEntries(ids []uint32) []entry {
	sortIDs(ids)
	distinct := 0
	for i, id := range ids {
		if i == 0 || id != ids[i-1] {
			distinct++
		}
	}
	return appendCounts(make([]entry, 0, distinct), ids, 0)
}

// appendCounts appends the number of times that each of the sorted ids occurs, the ids
// shifted by base.
func appendCounts(dst []entry, ids []uint32, base uint32) []entry {
	for i := 0; i < len(ids); {
		j := i + 1
		for j < len(ids) && ids[j] == ids[i] {
			j++
		}
		dst = append(dst, entry{id: base + ids[i], val: float64(j - i)})
		i = j
	}
	return dst
}

// unseenFrom marks the entries whose id is n or more as unseen.
func unseenFrom(n int, v []entry) []entry {
	for i := range v {
		if int(v[i].id) >= n {
			v[i].id = unseen
		}
	}
	return v
}
