package explorer

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg"
)

// Parameters are those of the kernel that a request may choose. Those that a request leaves
// out have their defaults.
type Parameters struct {
	Radii     []int   `json:"radii"`
	Eta       float64 `json:"eta"`
	Gamma     float64 `json:"gamma"`
	Samples   int     `json:"samples"`
	Rank      int     `json:"rank"`
	Landmarks string  `json:"landmarks"`
	Seed      uint64  `json:"seed"`
	Base      string  `json:"base"`
	Bandwidth float64 `json:"bandwidth"` // of base kernel gaussian
	H         int     `json:"h"`         // of base kernel wl
	Combine   string  `json:"combine"`
	Power     int     `json:"power"`
	Discount  bool    `json:"discount"`
}

// Limits of the parameters: what keeps a computation on a few thousand graphs within
// seconds and a few hundred megabytes.
const (
	maxLevels     = 8
	maxRadius     = 64
	maxSamples    = 1000
	maxRank       = 64
	maxPower      = 16
	maxBaseText   = 100
	maxWL         = 10
	maxCovariance = 512 << 20 // bytes of the covariances of a session
)

// defaults returns the parameters of a model's main kernel, or those of the paper with the
// base kernel that suits the graphs.
func (s *Source) defaults() Parameters {
	o := mlg.DefaultOptions()
	if s.Graphs != nil {
		o.Base = mlg.ChooseBase(s.Graphs)
	}
	if s.Model != nil {
		if f, ok := mainFactor(s.Model); ok {
			o = f.Fitted.Options()
			o.Base = f.Fitted.Base()
		}
	}
	b := mlg.DefaultBaseParameters()
	p := Parameters{Radii: append([]int{}, o.Radii...), Eta: o.Eta, Gamma: o.Gamma, Samples: o.Samples, Rank: o.Rank, Seed: o.Seed,
		Landmarks: o.Landmarks.String(), Combine: o.Combine.String(), Power: o.Power, Discount: o.Discount, Bandwidth: b.Bandwidth, H: b.H}
	if o.Base != nil {
		p.Base = o.Base.String()
	}
	return p
}

// options checks the parameters and returns the options of the kernel. The error names the
// parameter.
func (p Parameters) options(workers int) (mlg.Options, error) {
	o := mlg.DefaultOptions()
	bad := func(name string, value any, want string) error {
		return badRequest("parameter %s: %v, want %s", name, value, want)
	}
	if len(p.Radii) > maxLevels {
		return o, bad("radii", fmt.Sprintf("%d levels", len(p.Radii)), fmt.Sprintf("at most %d", maxLevels))
	}
	for i, r := range p.Radii {
		if r < 1 || r > maxRadius || i > 0 && r < p.Radii[i-1] {
			return o, bad("radii", p.Radii, fmt.Sprintf("numbers from 1 to %d that do not fall", maxRadius))
		}
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"eta", p.Eta}, {"gamma", p.Gamma}, {"bandwidth", p.Bandwidth}} {
		if !(x.value >= 1e-6 && x.value <= 1e6) {
			return o, bad(x.name, x.value, "a number from 1e-6 to 1e6")
		}
	}
	for _, x := range []struct {
		name            string
		value, low, top int
	}{{"samples", p.Samples, 1, maxSamples}, {"rank", p.Rank, 1, maxRank}, {"power", p.Power, 1, maxPower}, {"h", p.H, 0, maxWL}} {
		if x.value < x.low || x.value > x.top {
			return o, bad(x.name, x.value, fmt.Sprintf("%d to %d", x.low, x.top))
		}
	}
	var err error
	if o.Landmarks, err = mlg.ParseLandmarks(p.Landmarks); err != nil {
		return o, bad("landmarks", strconv.Quote(p.Landmarks), "uniform, classes or pivoted")
	}
	if o.Combine, err = mlg.ParseCombine(p.Combine); err != nil {
		return o, bad("combine", strconv.Quote(p.Combine), "top, sum, product, gmean or mixed")
	}
	if len(p.Base) > maxBaseText {
		return o, bad("base", fmt.Sprintf("%d bytes", len(p.Base)), fmt.Sprintf("at most %d", maxBaseText))
	}
	par := mlg.DefaultBaseParameters()
	par.Bandwidth, par.H = p.Bandwidth, p.H
	if o.Base, err = mlg.BaseFromString(p.Base); err != nil { // as in "wl(3)"
		if o.Base, err = mlg.ParseBase(p.Base, par); err != nil { // as in "wl", with h
			return o, badRequest("parameter base: %v", err)
		}
	}
	o.Radii, o.Eta, o.Gamma, o.Samples, o.Rank, o.Seed = p.Radii, p.Eta, p.Gamma, p.Samples, p.Rank, p.Seed
	o.Power, o.Discount, o.Workers = p.Power, p.Discount, workers
	if err := o.Validate(); err != nil {
		return o, badRequest("%v", err)
	}
	return o, nil
}

// key identifies the parameters.
func (p Parameters) key() string { return fmt.Sprintf("%+v", p) }

// text writes the parameters for people.
func (p Parameters) text() string {
	radii := make([]string, len(p.Radii))
	for i, r := range p.Radii {
		radii[i] = strconv.Itoa(r)
	}
	return fmt.Sprintf("radii %s, eta %g, gamma %g, base %s, combine %s, samples %d, rank %d, landmarks %s, seed %d",
		strings.Join(radii, ","), p.Eta, p.Gamma, p.Base, p.Combine, p.Samples, p.Rank, p.Landmarks, p.Seed)
}

// parameterNames are the names of the parameters in a query.
var parameterNames = []string{"radii", "eta", "gamma", "samples", "rank", "landmarks", "seed", "base", "bandwidth", "h", "combine", "power", "discount"}

// fromQuery changes the parameters that a query names; given tells whether there are any.
func (p *Parameters) fromQuery(q url.Values) (given bool, err error) {
	for _, name := range parameterNames {
		if !q.Has(name) {
			continue
		}
		given = true
		if err := p.set(name, q.Get(name)); err != nil {
			return true, err
		}
	}
	return given, nil
}

func (p *Parameters) set(name, text string) error {
	var err error
	number := func(x *float64) {
		if *x, err = strconv.ParseFloat(text, 64); math.IsNaN(*x) {
			err = strconv.ErrSyntax
		}
	}
	integer := func(x *int) { *x, err = strconv.Atoi(text) }
	switch name {
	case "radii":
		p.Radii = []int{}
		for f := range strings.SplitSeq(text, ",") {
			if text == "" {
				break
			}
			var r int
			if r, err = strconv.Atoi(strings.TrimSpace(f)); err != nil {
				break
			}
			p.Radii = append(p.Radii, r)
		}
	case "eta":
		number(&p.Eta)
	case "gamma":
		number(&p.Gamma)
	case "bandwidth":
		number(&p.Bandwidth)
	case "samples":
		integer(&p.Samples)
	case "rank":
		integer(&p.Rank)
	case "h":
		integer(&p.H)
	case "power":
		integer(&p.Power)
	case "seed":
		p.Seed, err = strconv.ParseUint(text, 10, 64)
	case "discount":
		p.Discount, err = strconv.ParseBool(text)
	case "landmarks":
		p.Landmarks = text
	case "base":
		p.Base = text
	case "combine":
		p.Combine = text
	}
	if err != nil {
		return badRequest("parameter %s: %q is not a value of it", name, text)
	}
	return nil
}
