package baseline_test

import (
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/internal/kerneltest"
)

// The suite that the multiscale kernel passes, for every kernel of this package.
func TestSharedSuite(t *testing.T) {
	wl := func(v baseline.Variant) func(w int) mlg.Kernel {
		return func(w int) mlg.Kernel {
			k := baseline.DefaultWL()
			k.H, k.Variant, k.Workers = 3, v, w
			return k
		}
	}
	walk := func(s baseline.Series) func(w int) mlg.Kernel {
		return func(w int) mlg.Kernel {
			k := baseline.DefaultInfiniteWalk()
			k.Series, k.Workers = s, w
			return k
		}
	}
	for name, make := range map[string]func(w int) mlg.Kernel{
		"wl": wl(baseline.Subtree), "wl-edge": wl(baseline.Edge), "wl-oa": wl(baseline.Assignment), "wl-sp": wl(baseline.Path),
		"rw-geometric": walk(baseline.Geometric), "rw-exponential": walk(baseline.Exponential),
		"labels":       func(w int) mlg.Kernel { k := baseline.DefaultHistogram(); k.Workers = w; return k },
		"sp":           func(w int) mlg.Kernel { k := baseline.DefaultShortestPath(); k.Workers = w; return k },
		"graphlet":     func(w int) mlg.Kernel { k := baseline.DefaultGraphlet(); k.Workers = w; return k },
		"graphlet-mix": func(w int) mlg.Kernel { k := baseline.DefaultGraphletMix(); k.Samples, k.Workers = 1e6, w; return k },
		"rw-plain":     func(w int) mlg.Kernel { k := baseline.DefaultPlainWalk(); k.Workers = w; return k },
		"rw":           func(w int) mlg.Kernel { k := baseline.DefaultRandomWalk(); k.Workers = w; return k },
	} {
		t.Run(name, func(t *testing.T) {
			kerneltest.Run(t, kerneltest.Expect{Kernel: make, OrderFree: true, Zero: true})
		})
	}
}
