package classic_test

import (
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
)

// The suite that the multiscale kernel passes, for every kernel of this package.
func TestSharedSuite(t *testing.T) {
	for _, name := range kernel.Names() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		switch x := k.(type) {
		case classic.WL:
			x.H = 3
			k = x
		case classic.ShortestPath:
			x.H = min(x.H, 3)
			k = x
		case classic.GraphletMix:
			x.Samples = 1e6
			k = x
		case classic.Histogram:
			if x.Edges {
				continue // the graphs of the suite have no edge labels
			}
		case kernel.Sum:
			continue
		}
		t.Run(name, func(t *testing.T) {
			kerneltest.Run(t, kerneltest.Expect{Kernel: k, OrderFree: true, SetFree: name != "gaussian", Zero: true})
		})
	}
}
