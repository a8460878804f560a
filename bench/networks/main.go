// Command networks writes random graphs without labels as JSON Lines. Their class is the model that they are
// drawn from: Erdős and Rényi, Barabási and Albert, Watts and Strogatz, and a block model of four groups. All
// have about as many edges. "networks scale-free COUNT VERTICES" writes graphs of Barabási and Albert alone,
// whose class says whether a vertex brings two edges or three.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 || os.Args[1] != "models" && os.Args[1] != "scale-free" {
		log.Fatal("usage: networks models|scale-free COUNT VERTICES > FILE.jsonl")
	}
	var count, vertices int
	for i, to := range []*int{&count, &vertices} {
		var err error
		if *to, err = strconv.Atoi(os.Args[2+i]); err != nil || *to < 8 {
			log.Fatalf("%q, want a number of at least 8", os.Args[2+i])
		}
	}
	w := bufio.NewWriter(os.Stdout)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range count {
		// The sizes differ, so that no kernel knows the model by the number of vertices.
		n := vertices
		if os.Args[1] == "models" {
			n = vertices/2 + r.IntN(vertices)
		}
		var g *graph.Graph
		class := i % 4
		switch density := 4 / float64(n-1); {
		case os.Args[1] == "scale-free":
			class = i % 2
			g = scaleFree(r, n, 2+class)
		case class == 0:
			g = uniform(r, n, density)
		case class == 1:
			g = scaleFree(r, n, 2)
		case class == 2:
			g = smallWorld(r, n, 2, 0.2)
		default: // a quarter of the pairs have two and a half times the mean, the others half of it
			g = blocks(r, n, 4, 2.5*density, 0.5*density)
		}
		text, err := dataset.AppendJSON(nil, g.With(fmt.Sprint("g", i), fmt.Sprint(class)))
		if err != nil {
			log.Fatal(err)
		}
		w.Write(text)
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}
