package learn

import (
	"math/rand/v2"
	"testing"

	"github.com/mlgkernel/mlg/internal/asmtest"
)

// Nothing outside its arguments is read or written.
func TestGuardedPasses(t *testing.T) {
	asmtest.Both(t, &vector, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(14, 1))
		for n := range 26 {
			for _, low := range []bool{true, false} {
				x := newPairProblem(rng, n, false)
				a, f := asmtest.Copy(t, x.a, low), asmtest.Copy(t, x.f, low)
				step(f, a, asmtest.Copy(t, x.b, low), asmtest.Copy(t, x.up, low), 0.5)
				partner(f, asmtest.Copy(t, x.dn, low), a, asmtest.Copy(t, x.diag, low), 0.25, 1, 1e-12)
			}
		}
	})
}
