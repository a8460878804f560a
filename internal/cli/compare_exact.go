package cli

import (
	"cmp"
	"math"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// mostExact is the number of multiplications up to which two graphs are compared by the definition
// without being asked to: about five seconds on two cores.
const mostExact = 4e10

// method returns the kernel by which two graphs are compared: the definition, unless that would take
// long and is not asked for.
func (c *compareCmd) method(g *globals, k kernel.Kernel, graphs []*graph.Graph) (kernel.Kernel, error) {
	exact := exactly(k)
	if err := exact.Validate(); err != nil { // as samples of mlg, which the definition does not take
		return nil, kernelError(err)
	}
	if exact.String() != k.String() && !c.Match {
		operations, err := mlg.ExactOperations(g.work(), exact, graphs, mostExact)
		if err != nil {
			return nil, err
		}
		if operations > mostExact {
			g.note("The graphs are large, so mlg samples vertices (%d at every level). mlg exact computes the definition.", multiscale(k)[0].Samples)
			return k, nil
		}
	}
	return exact, nil
}

// forecaster says how long the next of several exact kernels will take, from the time of those before.
type forecaster struct {
	g          *globals
	quiet      bool
	operations float64 // of the kernel that is computed
	start      time.Time
	speed      float64 // operations in a second
}

// tell is the time from which on a forecast is worth a line.
const tell = 10 * time.Second

func (f *forecaster) begin(what string, k kernel.Kernel, graphs []*graph.Graph) (err error) {
	f.start = time.Now()
	if f.quiet {
		return nil
	}
	if f.operations, err = mlg.ExactOperations(f.g.work(), k, graphs, math.Inf(1)); err != nil {
		return err
	}
	f.start = time.Now()
	speed := cmp.Or(f.speed, usualSpeed*float64(f.g.workers()))
	if takes := time.Duration(min(f.operations/speed, 1e9) * float64(time.Second)); takes > tell {
		f.g.note("%s will take roughly %s", what, round(takes))
	}
	return nil
}

// usualSpeed is the number of operations of a core in a second before anything is measured.
const usualSpeed = 3e9

func (f *forecaster) end() {
	if took := time.Since(f.start).Seconds(); f.operations > usualSpeed/4 && took > 0 {
		f.speed = f.operations / took
	}
}
