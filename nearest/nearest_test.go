package nearest

import (
	"math"
	"reflect"
	"testing"
)

func TestLargest(t *testing.T) {
	v := []float64{0.5, math.NaN(), 0.9, 0.5, 0.1, 0.9}
	want := []Hit{{2, 0.9}, {5, 0.9}, {0, 0.5}, {3, 0.5}}
	if got := Largest(v, 4); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Largest(v, 100); len(got) != 5 {
		t.Errorf("%v, want all but NaN", got)
	}
	a, b := Top{K: 4}, Top{K: 4}
	b.Offer(3, v[3:])
	a.Offer(0, v[:3])
	a.Add(&b)
	if got := a.Hits(); !reflect.DeepEqual(got, want) {
		t.Errorf("in two parts: %v, want %v", got, want)
	}
}
