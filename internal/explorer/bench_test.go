package explorer

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// Predictions for 8 clients at a time, of one molecule or a hundred in a request, alone and beside
// slow clients.
func BenchmarkPredict(b *testing.B) {
	const clients = 8
	var molecules []map[string]string
	f, err := os.Open("../../dataset/builtin/drugs.csv")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	drugs, err := csv.NewReader(f).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range drugs[1:] {
		molecules = append(molecules, map[string]string{"smiles": d[3]})
	}
	for _, c := range []struct{ graphs, slow int }{{1, 0}, {100, 0}, {1, 1000}} {
		b.Run(fmt.Sprintf("graphs=%d/slow=%d", c.graphs, c.slow), func(b *testing.B) {
			r := serve(b, nil)
			if err := r.healthy(); err != nil { // fits
				b.Fatal(err)
			}
			defer slowClients(b, r.addr, c.slow)()
			client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
			body, err := json.Marshal(map[string]any{"graphs": molecules[:c.graphs], "k": 1})
			if err != nil {
				b.Fatal(err)
			}
			var mu sync.Mutex
			var times []time.Duration
			b.SetParallelism(max(1, clients/runtime.GOMAXPROCS(0)))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					begin := time.Now()
					if err := post(&client, r.addr, body); err != nil {
						b.Error(err)
					}
					mu.Lock()
					times = append(times, time.Since(begin))
					mu.Unlock()
				}
			})
			slices.Sort(times)
			b.ReportMetric(float64(len(times)*c.graphs)/b.Elapsed().Seconds(), "predictions/s")
			for _, p := range []int{50, 90, 99} {
				b.ReportMetric(1000*times[(len(times)-1)*p/100].Seconds(), fmt.Sprintf("p%d-ms", p))
			}
		})
	}
}

// variants returns graphs made from the drugs: each has the label of one vertex of another one and a further leaf.
func variants(b *testing.B, n int) *Data {
	o := dataset.DefaultOptions()
	drugs, err := dataset.Read(b.Context(), "builtin:drugs", o)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	ds := &dataset.Dataset{Name: "variants"}
	for i := range n {
		g := drugs.Graphs[i%len(drugs.Graphs)]
		c := graph.NewBuilder(g.N() + 1)
		for v, l := range g.Labels() {
			c.SetLabel(v, l)
		}
		c.SetLabel(rng.IntN(g.N()), g.Label(rng.IntN(g.N())))
		c.SetLabel(g.N(), g.Label(rng.IntN(g.N())))
		for e := range g.Edges() {
			c.AddLabeledEdge(e.U, e.V, e.Weight, e.Label)
		}
		c.AddLabeledEdge(rng.IntN(g.N()), g.N(), 1, "-")
		made, err := c.Build()
		if err != nil {
			b.Fatal(err)
		}
		ds.Graphs = append(ds.Graphs, made.With(fmt.Sprint(i), g.Target()))
	}
	d, err := fromDataset(ds, o, "")
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// The map of as many graphs as can be uploaded: fitting the kernel, then neighbours and positions.
func BenchmarkMap(b *testing.B) {
	d := variants(b, 20_000)
	for b.Loop() {
		s := New(d, DefaultOptions())
		x, err := s.given().session("")
		if err == nil {
			_, err = x.placed(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		s.end()
	}
}

func post(c *http.Client, addr string, body []byte) error {
	a, err := c.Post("http://"+addr+"/api/v1/predict", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer a.Body.Close()
	out, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", a.StatusCode, out)
	}
	return err
}
