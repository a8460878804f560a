package explorer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// soakRequest returns one of many requests, some of them wrong. What a number of a request is follows from r.
func soakRequest(ctx context.Context, addr string, r *rand.Rand) *http.Request {
	smiles := func() string {
		return strings.Repeat("C", 1+r.IntN(12)) + []string{"O", "N", "c1ccccc1", "C(=O)O", "(", "Cl"}[r.IntN(6)]
	}
	kernel := []string{"labels", "wl+h%3D1", "wl+h%3D2", "sp", "mlg", fmt.Sprintf("mlg+eta%%3D0.%d", 1+r.IntN(99))}[r.IntN(6)]
	plain := strings.ReplaceAll(strings.ReplaceAll(kernel, "+", " "), "%3D", "=")
	get := func(path string, x ...any) *http.Request {
		q, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/api/v1/"+fmt.Sprintf(path, x...), nil)
		return q
	}
	post := func(path, kind, text string) *http.Request {
		q, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/api/v1/"+path, strings.NewReader(text))
		q.Header.Set("Content-Type", kind)
		return q
	}
	const json = "application/json"
	switch r.IntN(14) {
	case 0:
		return get("predict?smiles=%s&k=3", smiles())
	case 1:
		return get("neighbours?index=%d&k=5&kernel=%s", r.IntN(90), kernel)
	case 2:
		return get("gram?rows=0-20&columns=3-30&kernel=%s", kernel)
	case 3:
		return get("map?kernel=%s", kernel)
	case 4:
		return get("evaluate?kernel=%s", kernel)
	case 5:
		return get("find?smiles=C%%3DO&limit=%d", r.IntN(30))
	case 6:
		return get("graph/%d", r.IntN(90))
	case 7:
		return get("download/%s?kernel=%s", []string{"map.svg", "matrix.png", "table.csv", "gram.csv"}[r.IntN(4)], kernel)
	case 8:
		return post("explain", json, fmt.Sprintf(`{"graph":{"smiles":%q},"kernel":%q}`, smiles(), plain))
	case 9:
		return post("compare", json, fmt.Sprintf(`{"a":{"index":%d},"b":{"smiles":%q},"kernel":%q}`, r.IntN(90), smiles(), plain))
	case 10:
		var text strings.Builder
		for i := range 20 + r.IntN(200) {
			fmt.Fprintf(&text, "%s m%d %d\n", strings.Repeat("C", 1+r.IntN(20))+"O", i, i%2)
		}
		return post("upload?name=x.smi", "application/octet-stream", text.String())
	case 11:
		return post("read", json, fmt.Sprintf(`{"text":"%s a\nCC b\n"}`, smiles()))
	case 12:
		return post("predict", json, strings.Repeat("[", r.IntN(5000)))
	default:
		return get("kernel?text=%s", kernel)
	}
}

// soakSample is what the process holds at a moment.
type soakSample struct {
	heap       uint64 // bytes in use after two collections
	goroutines int
}

func sample() soakSample {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return soakSample{m.HeapAlloc, runtime.NumGoroutine()}
}

// A server that many clients use for long, with all kinds of requests, of which some are wrong and some are given up, holds no more
// memory and no more goroutines in the last third of the time than before. MLG_SOAK says how long; make test-long takes half an hour.
func TestSoak(t *testing.T) {
	graphtest.Long(t)
	graphtest.Unraced(t)
	length, err := time.ParseDuration(cmp.Or(os.Getenv("MLG_SOAK"), "30s"))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(o *Options) { o.Workers = 1 })
	var answered, refused, given atomic.Int64
	ctx, stop := context.WithCancel(t.Context()) // clients ask until all samples are there, also where these take long
	defer stop()
	var pause sync.RWMutex // held while nobody asks, so that samples are of a server at rest
	var clients sync.WaitGroup
	for c := range 4 {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 1))
			client := http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				pause.RLock()
				patience := 20 * time.Second
				if r.IntN(10) == 0 {
					patience = time.Duration(r.IntN(20)) * time.Millisecond
				}
				one, cancel := context.WithTimeout(ctx, patience)
				a, err := client.Do(soakRequest(one, s.addr, r))
				if err == nil {
					var text []byte
					if text, err = io.ReadAll(a.Body); err == nil && a.StatusCode == http.StatusInternalServerError {
						t.Errorf("%s: %s", a.Request.URL, bytes.TrimSpace(text))
					}
					a.Body.Close()
					switch {
					case a.StatusCode < 400:
						answered.Add(1)
					default:
						refused.Add(1)
					}
				}
				if err != nil {
					given.Add(1)
				}
				cancel()
				pause.RUnlock()
			}
		})
	}
	var samples []soakSample
	const number = 30
	for range number {
		time.Sleep(length / number)
		pause.Lock()
		samples = append(samples, sample())
		pause.Unlock()
	}
	stop()
	clients.Wait()
	t.Logf("%v: %d answers, %d refusals, %d given up", length, answered.Load(), refused.Load(), given.Load())
	if answered.Load() < 100 || refused.Load() == 0 || given.Load() == 0 {
		t.Error("too few requests of a kind")
	}
	if err := s.healthy(); err != nil {
		t.Error(err)
	}
	third := func(k int) (heap uint64, goroutines int) {
		part := slices.Clone(samples[k*number/3 : (k+1)*number/3])
		slices.SortFunc(part, func(a, b soakSample) int { return cmp.Compare(a.heap, b.heap) })
		heap = part[len(part)/2].heap
		slices.SortFunc(part, func(a, b soakSample) int { return a.goroutines - b.goroutines })
		return heap, part[len(part)/2].goroutines
	}
	var before soakSample // the larger ones of the first two thirds
	for k := range 3 {
		heap, goroutines := third(k)
		t.Logf("third %d: %.1f MB, %d goroutines", k+1, float64(heap)/1e6, goroutines)
		// What the server keeps of kernels and files comes and goes: some MB.
		if k == 2 && (float64(heap) > 1.1*float64(before.heap)+16e6 || goroutines > before.goroutines+8) {
			t.Errorf("the last third holds %.1f MB and %d goroutines, those before %.1f MB and %d", float64(heap)/1e6, goroutines, float64(before.heap)/1e6, before.goroutines)
		}
		before = soakSample{max(heap, before.heap), max(goroutines, before.goroutines)}
	}
}
