// Command cycles computes the kernel of one matrix with 32 others of the same order. bench/cycles.sh
// follows its instructions.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/mlgkernel/mlg/spd"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: cycles ORDER")
	}
	p, err := strconv.Atoi(os.Args[1])
	if err != nil || p < 1 {
		log.Fatalf("order %q, want a positive number", os.Args[1])
	}
	const n = 32
	b, k := spd.NewBatch(n, p), make([]float64, n)
	for i := range n {
		m := make([]float64, spd.Size(p))
		for r := range p {
			m[spd.Index(r, r)] = float64(1 + (i+r)%7)
		}
		if err := b.Set(i, m); err != nil {
			log.Fatal(err)
		}
	}
	spd.Cross(k, n, b, 0, 1, b, 0, n)
	fmt.Println(k[0])
}
