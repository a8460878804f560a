//go:build amd64

// Command throughput measures what the instructions of the hot loop cost when nothing waits for
// them: cycles for a vector of eight numbers, and how much longer sixteen fused multiply-adds take
// with one of them between. docs/spd.md derives from these numbers what a kernel value must cost.
// It needs AVX-512.
package main

import (
	"fmt"
	"os"
	"time"
)

// The loops, in loops_amd64.s.
func hasAVX512() bool
func multiply(n int)
func divide(n int)
func root(n int)
func divideSingle(n int)
func rootSingle(n int)
func multiplyDivide(n int)
func multiplyDivideSingle(n int)
func multiplyRootSingle(n int)
func multiplyAdd(n int)
func multiplyMinimum(n int)
func multiplyCompare(n int)
func multiplyLoad(n int)
func multiplyStore(n int)
func product(n int)
func productStore(n int)
func loadVector(n int)
func storeVector(n int)

// buffer is what loadVector and storeVector use, at a multiple of 64.
var buffer [9 * 8]float64

func main() {
	if !hasAVX512() {
		fmt.Fprintln(os.Stderr, "throughput: this processor has no AVX-512")
		os.Exit(1)
	}
	ghz := clock()
	fmt.Printf("%.2f GHz\n", ghz)
	const n = 500 // some 10 µs: most runs are not interrupted
	cycles := func(f func(int)) float64 {
		best := time.Duration(1 << 62)
		for range 5000 {
			t := time.Now()
			f(n)
			best = min(best, time.Since(t))
		}
		return float64(best.Nanoseconds()) * ghz / n
	}
	for _, l := range []struct {
		name string
		f    func(int)
		of   float64
	}{
		{"fused multiply-add", multiply, 16},
		{"division", divide, 4},
		{"square root", root, 4},
		{"division, single precision", divideSingle, 4},
		{"square root, single precision", rootSingle, 4},
		{"load", loadVector, 8},
		{"store", storeVector, 8},
	} {
		fmt.Printf("%-45s %5.2f cycles\n", l.name, cycles(l.f)/l.of)
	}
	base := cycles(multiply)
	for _, l := range []struct {
		name string
		f    func(int)
		of   float64
	}{
		{"a division", multiplyDivide, 1},
		{"a division, single precision", multiplyDivideSingle, 1},
		{"a square root, single precision", multiplyRootSingle, 1},
		{"an addition", multiplyAdd, 8},
		{"a minimum", multiplyMinimum, 4},
		{"a comparison", multiplyCompare, 4},
		{"a load", multiplyLoad, 4},
		{"a store", multiplyStore, 4},
	} {
		fmt.Printf("%-45s %5.2f cycles more\n", "between 16 fused multiply-adds, "+l.name, (cycles(l.f)-base)/l.of)
	}
	fmt.Printf("%-45s %5.2f cycles more\n", "between 16 multiplications, a store", (cycles(productStore)-cycles(product))/4)
}

// clock measures the frequency by a chain of dependent one-cycle operations.
func clock() float64 {
	best := time.Duration(1 << 62)
	const n = 1 << 15
	for range 200 {
		x := uint64(len(os.Args))
		t := time.Now()
		for range n {
			x = (x ^ x>>7) + 3
		}
		best = min(best, time.Since(t))
		if x == 1 {
			panic("unreachable")
		}
	}
	return 3 * n / float64(best.Nanoseconds())
}
