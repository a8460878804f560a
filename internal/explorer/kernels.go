package explorer

import (
	"encoding/json"
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

// kernel returns k for a number of graphs, with the given parameters. The error names the parameter
// that is wrong or beyond its limits.
func (p parameters) kernel(k mlg.Kernel, graphs int) (mlg.Kernel, error) {
	var changed kernel.Kernel = k
	var err error
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if changed, err = kernel.With(changed, name, p[name]); err != nil {
			return k, badRequest("parameters."+name, "%v", err)
		}
	}
	if err := changed.Validate(); err != nil {
		return k, within("parameters", fieldError(err))
	}
	k = changed.(mlg.Kernel)
	return k, limit(k, graphs)
}

// limits bound parameters: they keep a computation on a few thousand graphs within seconds and a
// few hundred megabytes.
type limits struct {
	Radii   []int   `json:"radii" want:"1 to 64"`
	Eta     float64 `json:"eta" want:"1e-06 to 1e+06"`
	Gamma   float64 `json:"gamma" want:"1e-06 to 1e+06"`
	Power   int     `json:"power" want:"1 to 16"`
	Samples int     `json:"samples" want:"1 to 1000"`
	Rank    int     `json:"rank" want:"1 to 64"`
}

const (
	maxLevels     = 8
	maxBaseText   = 100
	maxCovariance = 512 << 20 // bytes of the covariances of a session
)

// limit returns an error unless the kernel of so many graphs is within the limits.
func limit(k mlg.Kernel, graphs int) error {
	if err := kernel.CheckFields(k.Name(), limits{k.Radii, k.Eta, k.Gamma, k.Power, k.Samples, k.Rank}); err != nil {
		return within("parameters", fieldError(err))
	}
	bytes := int64(graphs) * int64(k.Rank) * int64(k.Rank+1) / 2 * 8
	switch {
	case len(k.Radii) > maxLevels:
		return badRequest("parameters.radii", "%s: radii = %v, %d levels, want at most %d", k.Name(), k.Radii, len(k.Radii), maxLevels)
	case len(k.Base) > maxBaseText:
		return badRequest("parameters.base", "%s: base has %d bytes, want at most %d", k.Name(), len(k.Base), maxBaseText)
	case k.Exact || k.PairRank != 0:
		return badRequest("parameters.exact", "%s: exact = %v, pair_rank = %d, want false and 0: the page works with the low-rank kernel only", k.Name(), k.Exact, k.PairRank)
	case bytes > maxCovariance:
		return badRequest("parameters.rank", "%s: rank = %d on %d graphs needs %d MB, want at most %d", k.Name(), k.Rank, graphs, bytes>>20, maxCovariance>>20)
	}
	return nil
}

// kernelFields returns the fields of the kernel that a request may give, with their limits.
func kernelFields() []field {
	var out []field
	bounded := fieldsOf(reflect.TypeFor[limits]())
	for _, f := range fieldsOf(reflect.TypeFor[mlg.Kernel]()) {
		if f.name == "exact" || f.name == "pair_rank" {
			continue
		}
		if i := slices.IndexFunc(bounded, func(b field) bool { return b.name == f.name }); i >= 0 {
			f.want = bounded[i].want
		}
		f.optional = true
		out = append(out, f)
	}
	return out
}

// parameter is one that a request may give, as the form of the page needs it.
type parameter struct {
	kernel.Parameter
	Suggestions []string `json:"suggestions,omitempty"`
}

// parameters describes those that a request may give, with their defaults.
func (d *Data) parameters() []parameter {
	var out []parameter
	all := kernel.Parameters(d.kernel)
	for _, f := range kernelFields() {
		i := slices.IndexFunc(all, func(p kernel.Parameter) bool { return p.Name == f.name })
		p := parameter{Parameter: all[i]}
		if _, _, bounded := between(f.want); bounded {
			p.Want = f.want
		}
		if p.Name == "base" {
			p.Suggestions = d.bases()
		}
		out = append(out, p)
	}
	return out
}
