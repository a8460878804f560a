package explorer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/kernel"
)

// parameters are those of the multiscale kernel that a request gives, by their names in the query,
// or as an object in the body. Those that it leaves out have their defaults; nil are none.
type parameters map[string]string

// UnmarshalJSON takes values as a query has them.
func (p *parameters) UnmarshalJSON(body []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(body, &values); err != nil || values == nil {
		return err
	}
	*p = parameters{}
	for name, v := range values {
		var text string
		if json.Unmarshal(v, &text) != nil {
			text = strings.Trim(string(v), "[]")
		}
		(*p)[name] = text
	}
	return nil
}

// kernel returns k, of so many graphs, with the parameters that are given, or an error that names
// the one that is wrong or out of the limits.
func (p parameters) kernel(k mlg.Kernel, graphs int) (mlg.Kernel, error) {
	var changed kernel.Kernel = k
	var err error
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if changed, err = kernel.With(changed, name, p[name]); err != nil {
			return k, badRequest("%v", err)
		}
	}
	if err := changed.Validate(); err != nil {
		return k, badRequest("%v", err)
	}
	k = changed.(mlg.Kernel)
	return k, limit(k, graphs)
}

// limits of parameters: what keeps a computation on a few thousand graphs within seconds and a
// few hundred megabytes.
var limits = map[string]string{
	"radii": "1 to 64", "eta": "1e-06 to 1e+06", "gamma": "1e-06 to 1e+06", "power": "1 to 16", "samples": "1 to 1000", "rank": "1 to 64",
}

const (
	maxLevels     = 8
	maxBaseText   = 100
	maxCovariance = 512 << 20 // bytes of the covariances of a session
)

// limit returns an error unless the kernel of so many graphs is within the limits.
func limit(k mlg.Kernel, graphs int) error {
	for _, p := range kernel.Parameters(k) {
		low, high, limited := between(limits[p.Name])
		for _, v := range numbersOf(p.Default) {
			if limited && !(low <= v && v <= high) {
				return badRequest("%s: %s = %v, want %s", k.Name(), p.Name, p.Default, limits[p.Name])
			}
		}
	}
	bytes := int64(graphs) * int64(k.Rank) * int64(k.Rank+1) / 2 * 8
	switch {
	case len(k.Radii) > maxLevels:
		return badRequest("%s: radii = %v, %d levels, want at most %d", k.Name(), k.Radii, len(k.Radii), maxLevels)
	case len(k.Base) > maxBaseText:
		return badRequest("%s: base has %d bytes, want at most %d", k.Name(), len(k.Base), maxBaseText)
	case k.Exact || k.PairRank != 0:
		return badRequest("%s: exact = %v, pair_rank = %d, want false and 0: the page shows the features of low rank", k.Name(), k.Exact, k.PairRank)
	case bytes > maxCovariance:
		return badRequest("%s: rank = %d on %d graphs needs %d MB, want at most %d", k.Name(), k.Rank, graphs, bytes>>20, maxCovariance>>20)
	}
	return nil
}

// numbersOf returns the numbers in a parameter.
func numbersOf(v any) (out []float64) {
	switch v := v.(type) {
	case int:
		out = append(out, float64(v))
	case float64:
		out = append(out, v)
	case []int:
		for _, x := range v {
			out = append(out, float64(x))
		}
	}
	return out
}

// fixed are parameters that a request does not give.
var fixed = []string{"exact", "pair_rank"}

// parameter is one that a request may give, as the form of the page needs it.
type parameter struct {
	kernel.Parameter
	Suggestions []string `json:"suggestions,omitempty"`
}

// parameters describes those that a request may give, with their defaults.
func (d *Data) parameters() []parameter {
	var out []parameter
	for _, p := range kernel.Parameters(d.kernel) {
		if slices.Contains(fixed, p.Name) {
			continue
		}
		p.Want = cmp.Or(limits[p.Name], p.Want)
		out = append(out, parameter{Parameter: p})
		if p.Name == "base" {
			out[len(out)-1].Suggestions = d.bases()
		}
	}
	return out
}

// kernelFields returns the fields of the kernel that a request may give.
func kernelFields() []reflect.StructField {
	var out []reflect.StructField
	for _, f := range fieldsOf(reflect.TypeFor[mlg.Kernel]()) {
		if name, tag := nameOf(f), f.Tag; !slices.Contains(fixed, name) {
			f.Tag = reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty" want:%q help:%q`, name, cmp.Or(limits[name], tag.Get("want")), tag.Get("help")))
			out = append(out, f)
		}
	}
	return out
}
