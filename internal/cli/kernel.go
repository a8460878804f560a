package cli

import (
	"fmt"
	"strings"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/graph"
)

// kernelFlag chooses a kernel.
type kernelFlag struct {
	Kernel string `help:"Kernel: mlg, flg, lg, wl, wl-edge, wl-oa, wl-sp, sp, graphlet, rw, labels." default:"mlg" enum:"mlg,flg,lg,wl,wl-edge,wl-oa,wl-sp,sp,graphlet,rw,labels"`
}

// kernelFlags are the parameters of kernels.
type kernelFlags struct {
	Radii     []int     `help:"mlg: hop radii of the levels." default:"1,2" group:"MLG and FLG"`
	Levels    int       `help:"mlg: number of levels, instead of --radii." placeholder:"L" group:"MLG and FLG"`
	Radius    float64   `help:"mlg: radius of the first level, with --levels." default:"1" group:"MLG and FLG"`
	Growth    float64   `help:"mlg: growth of the radius, with --levels." default:"2" group:"MLG and FLG"`
	Eta       float64   `help:"Regularisation of the Laplacian." default:"0.1" group:"MLG and FLG"`
	Gamma     float64   `help:"Regularisation of the covariance." default:"0.1" group:"MLG and FLG"`
	Samples   int       `help:"Vertices sampled at every level; more than there are means all." default:"100" group:"MLG and FLG"`
	Rank      int       `help:"Features kept at every level; more than there are means all." default:"10" group:"MLG and FLG"`
	Seed      uint64    `help:"Seed of the sample." default:"0" group:"MLG and FLG"`
	Exact     bool      `help:"By the definition, without sampling." group:"MLG and FLG"`
	PairRank  int       `help:"With --exact: eigenvectors kept of every pair; 0 means all." default:"0" group:"MLG and FLG"`
	MaxMemory float64   `help:"With --exact: most memory for tables, in GB." default:"16" group:"MLG and FLG"`
	Base      string    `help:"Kernel on vertices: labels, attributes, gaussian, degree, heat, wl, or a product or sum such as labels*gaussian. By default what the data has." placeholder:"BASE" group:"MLG and FLG"`
	Bandwidth float64   `help:"gaussian: standard deviation." default:"1" group:"MLG and FLG"`
	Beta      []float64 `help:"heat: times." default:"0.5,1,2" group:"MLG and FLG"`
	BaseH     int       `help:"wl as base kernel: number of refinements." default:"3" name:"base-h" group:"MLG and FLG"`
	Landmarks string    `help:"Choice of landmarks: uniform, classes, pivoted." default:"uniform" enum:"uniform,classes,pivoted" group:"MLG and FLG"`
	Combine   string    `help:"Combination of levels: top, sum, product, mixed, gmean." default:"top" enum:"top,sum,product,mixed,gmean" group:"MLG and FLG"`
	Power     int       `help:"Integer power of the kernel." default:"1" group:"MLG and FLG"`
	Discount  bool      `help:"Divide features by 1 + distance to the centre." group:"MLG and FLG"`

	H         int     `help:"wl: number of refinements." default:"5" group:"Other kernels"`
	K         int     `help:"graphlet: number of vertices, 3 to 5." default:"4" group:"Other kernels"`
	Connected bool    `help:"graphlet: connected ones only." group:"Other kernels"`
	P         int     `help:"rw: number of steps." default:"5" group:"Other kernels"`
	Lambda    float64 `help:"rw: weight of a step." default:"0.1" group:"Other kernels"`
	Normalize bool    `help:"Scale the other kernels so that k(G,G) = 1." default:"true" negatable:"" group:"Other kernels"`
}

// options returns the options of the multiscale kernel with the given name, mlg or flg.
func (f *kernelFlags) options(g *globals, name string, graphs []*graph.Graph) (mlg.Options, error) {
	o := mlg.DefaultOptions()
	o.Radii = f.Radii
	if f.Levels > 0 {
		if !(f.Radius > 0) || !(f.Growth >= 1) {
			return o, usageError(fmt.Sprintf("--radius %v --growth %v: want a positive radius and a growth of at least 1", f.Radius, f.Growth))
		}
		o.Radii = mlg.Growth(f.Radius, f.Growth, f.Levels)
	}
	if name == "flg" {
		o.Radii = nil
	}
	o.Eta, o.Gamma = f.Eta, f.Gamma
	o.Samples, o.Rank, o.Seed = f.Samples, f.Rank, f.Seed
	o.PairRank, o.MaxMemory = f.PairRank, int64(f.MaxMemory*1e9)
	o.Power, o.Discount = f.Power, f.Discount
	o.Workers = g.workers()
	var err error
	if o.Landmarks, err = mlg.ParseLandmarks(f.Landmarks); err != nil {
		return o, usageError("--landmarks: " + err.Error())
	}
	if o.Combine, err = mlg.ParseCombine(f.Combine); err != nil {
		return o, usageError("--combine: " + err.Error())
	}
	if f.Base != "" {
		o.Base, err = mlg.ParseBase(f.Base, mlg.BaseParameters{Bandwidth: f.Bandwidth, Beta: f.Beta, H: f.BaseH})
		if err != nil {
			return o, usageError("--base: " + err.Error())
		}
	} else {
		o.Base = mlg.ChooseBase(graphs)
		if o.Base.String() != "labels" {
			g.note("no vertex labels: the base kernel is %s (--base chooses another)", o.Base)
		}
	}
	if err := o.Validate(); err != nil {
		return o, usageError(flagName(err.Error()))
	}
	return o, nil
}

// flagName turns the field that starts an error of Validate into the flag.
func flagName(msg string) string {
	msg = strings.TrimPrefix(msg, "options: ")
	for i, r := range msg {
		if r == ' ' || r == '[' {
			return "--" + strings.ToLower(msg[:i]) + msg[i:]
		}
	}
	return msg
}

// kernel returns the kernel of the given name that the flags describe; graphs decide on the
// base kernel where no flag does. Progress of the multiscale kernel goes to bar.
func (f *kernelFlags) kernel(g *globals, name string, graphs []*graph.Graph, b *bar) (mlg.Kernel, error) {
	w := g.workers()
	wl := func(v baseline.Variant) mlg.Kernel {
		k := baseline.DefaultWL()
		k.H, k.Variant, k.Normalize, k.Workers = f.H, v, f.Normalize, w
		return k
	}
	switch name {
	case "mlg", "flg":
		o, err := f.options(g, name, graphs)
		if err != nil {
			return nil, err
		}
		if !g.Quiet {
			o.Progress = b.progress
		}
		if f.Exact {
			return mlg.NewExactKernel(o), nil
		}
		return mlg.NewKernel(o), nil
	case "lg":
		return mlg.LGKernel{Eta: f.Eta, Gamma: f.Gamma, Workers: w}, nil
	case "wl":
		return wl(baseline.Subtree), nil
	case "wl-edge":
		return wl(baseline.Edge), nil
	case "wl-oa":
		return wl(baseline.Assignment), nil
	case "wl-sp":
		return wl(baseline.Path), nil
	case "sp":
		k := baseline.DefaultShortestPath()
		k.Normalize, k.Workers = f.Normalize, w
		return k, nil
	case "graphlet":
		k := baseline.DefaultGraphlet()
		k.K, k.Connected, k.Normalize, k.Workers = f.K, f.Connected, f.Normalize, w
		return k, nil
	case "rw":
		k := baseline.DefaultRandomWalk()
		k.P, k.Lambda, k.Normalize, k.Workers = f.P, f.Lambda, f.Normalize, w
		return k, nil
	default: // labels; kong has checked the name
		k := baseline.DefaultHistogram()
		k.Normalize, k.Workers = f.Normalize, w
		return k, nil
	}
}
