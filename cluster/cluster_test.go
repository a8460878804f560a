package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
)

// points returns the linear kernel of points in the plane.
func points(xy ...[2]float64) *kernel.Matrix {
	k := kernel.NewMatrix(len(xy), len(xy))
	for i, a := range xy {
		for j, b := range xy {
			k.Set(i, j, a[0]*b[0]+a[1]*b[1])
		}
	}
	return k
}

func random(r *rand.Rand, n int) *kernel.Matrix {
	xy := make([][2]float64, n)
	for i := range xy {
		xy[i] = [2]float64{r.NormFloat64(), r.NormFloat64()}
	}
	return points(xy...)
}

// cost is the definition: the sum of distances to the nearest of some objects.
func cost(x *kernel.Matrix, medoids []int) float64 {
	sum := 0.0
	for i := range x.Rows {
		d := math.Inf(1)
		for _, m := range medoids {
			d = min(d, x.Row(i)[m])
		}
		sum += d
	}
	return sum
}

// Three far groups are found, with the middle one of each as medoid, and their number too.
func TestObvious(t *testing.T) {
	k := points([2]float64{0, 0}, [2]float64{1, 0}, [2]float64{2, 0}, [2]float64{3, 0.1}, [2]float64{1.2, -1},
		[2]float64{100, 0}, [2]float64{101, 0}, [2]float64{102, 0},
		[2]float64{0, 200}, [2]float64{0, 201})
	want := []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 2}
	c, err := Medoids(t.Context(), k, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Group, want) || !slices.Equal(c.Sizes, []int{5, 3, 2}) || c.Medoids[1] != 6 || c.Medoids[0] != 1 && c.Medoids[0] != 2 {
		t.Errorf("%+v", c)
	}
	auto, means, err := Auto(t.Context(), k, 6)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(auto, c) || len(means) != 5 || slices.Max(means) != means[1] {
		t.Errorf("%+v, %v", auto, means)
	}
}

// No exchange of a medoid lowers the cost, and groups are those of the nearest medoid.
func TestMedoidsAreAMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 2; n < 14; n++ {
		gram := random(r, n)
		x, err := distances(gram)
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k <= n; k++ {
			c, err := Medoids(t.Context(), gram, k)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range c.Group {
				for _, m := range c.Medoids {
					if x.Row(i)[m] < x.Row(i)[c.Medoids[g]] {
						t.Errorf("object %d is nearer to %d than to its medoid %d", i, m, c.Medoids[g])
					}
				}
			}
			for at := range c.Medoids {
				for o := range n {
					if slices.Contains(c.Medoids, o) {
						continue
					}
					other := slices.Clone(c.Medoids)
					other[at] = o
					if cost(x, other) < cost(x, c.Medoids)-1e-9 {
						t.Errorf("n = %d, k = %d: %v for %v lowers the cost", n, k, o, c.Medoids[at])
					}
				}
			}
		}
	}
}

// Fewer distinct objects than groups: every object is at a medoid, and the search ends.
func TestMoreGroupsThanDistinctObjects(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 20 {
		var xy [][2]float64
		for range 10 {
			at := [2]float64{r.NormFloat64(), r.NormFloat64()}
			for range 20 {
				xy = append(xy, at)
			}
		}
		gram := points(xy...)
		for i := range gram.Rows { // as of kernels whose values are rounded
			for j := range i * (trial % 2) {
				v := gram.At(i, j) * (1 + 1e-15*r.NormFloat64())
				gram.Set(i, j, v)
				gram.Set(j, i, v)
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		c, err := Medoids(ctx, gram, 14)
		stop()
		if err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		x, err := distances(gram)
		if err != nil {
			t.Fatal(err)
		}
		if got := cost(x, c.Medoids); got > 1e-4 {
			t.Errorf("trial %d: medoids %v have the cost %v, want 0", trial, c.Medoids, got)
		}
	}
}

// Silhouettes by hand: points 0, 1 and 10 in groups {0, 1} and {10}.
func TestSilhouette(t *testing.T) {
	k := points([2]float64{0, 0}, [2]float64{1, 0}, [2]float64{10, 0})
	x, err := distances(k)
	if err != nil {
		t.Fatal(err)
	}
	got := silhouettes(x, []int{0, 0, 1}, []int{2, 1})
	for i, want := range []float64{(10.0 - 1) / 10, (9.0 - 1) / 9, 0} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("silhouette %d is %v, want %v", i, got[i], want)
		}
	}
	if got := silhouettes(x, []int{0, 0, 0}, []int{3}); !slices.Equal(got, []float64{0, 0, 0}) {
		t.Errorf("one group: %v", got)
	}
}

// Equal objects, fewer objects than groups, one object.
func TestSpecial(t *testing.T) {
	same := points([2]float64{1, 1}, [2]float64{1, 1}, [2]float64{1, 1}, [2]float64{1, 1})
	c, err := Medoids(t.Context(), same, 2)
	if err != nil || len(c.Medoids) != 2 || c.Sizes[0]+c.Sizes[1] != 4 || c.Sizes[1] == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = Medoids(t.Context(), points([2]float64{1, 1}), 5)
	if err != nil || len(c.Medoids) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, _, err = Auto(t.Context(), points([2]float64{1, 1}, [2]float64{2, 1}), 5); err != nil || len(c.Medoids) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRefuses(t *testing.T) {
	bad := points([2]float64{0, 0}, [2]float64{math.NaN(), 0})
	for want, f := range map[string]func() error{
		"0 groups":            func() error { _, err := Medoids(t.Context(), points([2]float64{}), 0); return err },
		"want finite numbers": func() error { _, err := Medoids(t.Context(), bad, 1); return err },
		"0×0, want a square":  func() error { _, _, err := Auto(t.Context(), kernel.NewMatrix(0, 0), 3); return err },
		context.Canceled.Error(): func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := Medoids(ctx, points([2]float64{}, [2]float64{1, 1}), 1)
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// Drugs fall into groups that are mostly of one class.
func TestDrugs(t *testing.T) {
	d, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	o := mlg.Default()
	o.Combine, o.Bonds = mlg.Sum, mlg.No
	m, err := o.Fit(t.Context(), d.Graphs)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Medoids(t.Context(), k, 13)
	if err != nil {
		t.Fatal(err)
	}
	counts, most := map[string]int{}, make([]int, 13) // of targets in a group; of the most frequent one
	for i, g := range c.Group {
		target := fmt.Sprint(g, d.Targets()[i])
		counts[target]++
		most[g] = max(most[g], counts[target])
	}
	right := 0
	for _, n := range most {
		right += n
	}
	if right < 7*len(d.Graphs)/10 {
		t.Errorf("%d of %d graphs have the most frequent target of their group", right, len(d.Graphs))
	}
}
