// Command load measures mlg serve as a prediction service: it starts the server, sends
// predictions from several clients at a time, and prints how many were answered, how long they
// took, and the memory of the server.
//
//	go run ./internal/explorer/load -mlg bin/mlg -clients 8 -duration 10s
//	go run ./internal/explorer/load -mlg bin/mlg -batch 100
//	go run ./internal/explorer/load -mlg bin/mlg -slow 1000
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mlgkernel/mlg/dataset"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// result is what is printed.
type result struct {
	Source      string  `json:"source"`
	Clients     int     `json:"clients"`
	Batch       int     `json:"graphs_per_request"`
	Slow        int     `json:"slow_clients"`
	Seconds     float64 `json:"seconds"`
	Requests    int     `json:"requests"`
	Predictions int     `json:"predictions"`
	PerSecond   float64 `json:"predictions_per_second"`
	Refused     int     `json:"refused"` // 503
	Failed      int     `json:"failed"`
	P50         float64 `json:"p50_ms"` // of requests that were answered
	P90         float64 `json:"p90_ms"`
	P99         float64 `json:"p99_ms"`
	Max         float64 `json:"max_ms"`
	StartMemory int     `json:"memory_before_mb"` // resident
	EndMemory   int     `json:"memory_after_mb"`
	PeakMemory  int     `json:"memory_peak_mb"`
	Cores       int     `json:"cores"`
}

func run() error {
	command := flag.String("mlg", "bin/mlg", "the command mlg")
	source := flag.String("source", "builtin:drugs", "what to serve: a model or a dataset of molecules")
	clients := flag.Int("clients", 8, "requests at a time")
	batch := flag.Int("batch", 1, "graphs in a request")
	slow := flag.Int("slow", 0, "further clients that send a header without end")
	duration := flag.Duration("duration", 10*time.Second, "how long")
	flag.Parse()

	server := exec.Command(*command, "serve", "--quiet", *source)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		server.Process.Signal(os.Interrupt)
		server.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s printed no address: %w", *command, err)
	}
	url := strings.TrimSpace(line)
	bodies, err := requests(*batch)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: *clients}}
	if code, err := send(client, url, bodies[0]); err != nil || code != http.StatusOK { // fits the model
		return fmt.Errorf("first request: status %d, %v", code, err)
	}

	r := result{Source: *source, Clients: *clients, Batch: *batch, Slow: *slow, Cores: runtime.NumCPU()}
	stop := slowClients(strings.Trim(strings.TrimPrefix(url, "http://"), "/"), *slow)
	defer stop()
	r.StartMemory, _ = memory(server.Process.Pid)
	r.measure(func(i int) (int, error) { return send(client, url, bodies[i%len(bodies)]) }, *duration)
	r.EndMemory, r.PeakMemory = memory(server.Process.Pid)
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(string(b))
	return nil
}

// measure sends requests from all clients until the time is over.
func (r *result) measure(send func(i int) (status int, err error), duration time.Duration) {
	var mu sync.Mutex
	var times []float64
	var wait sync.WaitGroup
	begin := time.Now()
	for c := range r.Clients {
		wait.Go(func() {
			for i := c; time.Since(begin) < duration; i += r.Clients {
				t := time.Now()
				code, err := send(i)
				took := time.Since(t).Seconds() * 1000
				mu.Lock()
				switch {
				case err == nil && code == http.StatusOK:
					times = append(times, took)
				case err == nil && code == http.StatusServiceUnavailable:
					r.Refused++
				default:
					r.Failed++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	r.Seconds = time.Since(begin).Seconds()
	slices.Sort(times)
	r.Requests = len(times)
	r.Predictions = len(times) * r.Batch
	r.PerSecond = float64(r.Predictions) / r.Seconds
	if len(times) > 0 {
		at := func(p int) float64 { return times[(len(times)-1)*p/100] }
		r.P50, r.P90, r.P99, r.Max = at(50), at(90), at(99), at(100)
	}
}

// requests returns bodies with the built-in molecules in turn.
func requests(batch int) ([][]byte, error) {
	drugs := dataset.DrugList()
	var bodies [][]byte
	for i := 0; i < len(drugs); i++ {
		graphs := make([]map[string]string, batch)
		for j := range graphs {
			graphs[j] = map[string]string{"smiles": drugs[(i*batch+j)%len(drugs)].SMILES}
		}
		b, err := json.Marshal(map[string]any{"graphs": graphs, "k": 1})
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, b)
	}
	return bodies, nil
}

func send(c *http.Client, url string, body []byte) (int, error) {
	a, err := c.Post(url+"api/v1/predict", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	_, err = io.Copy(io.Discard, a.Body)
	return a.StatusCode, err
}

// slowClients opens connections that send a byte of a header now and then, and opens them
// again when the server closes them.
func slowClients(addr string, n int) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			for {
				c, err := net.DialTimeout("tcp", addr, 5*time.Second)
				if err == nil {
					io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
				}
				for err == nil {
					select {
					case <-done:
						c.Close()
						return
					case <-time.After(500 * time.Millisecond):
						_, err = io.WriteString(c, "x")
					}
				}
				if c != nil {
					c.Close()
				}
				select {
				case <-done:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	time.Sleep(time.Duration(min(n, 1)) * time.Second) // until they are there
	return func() {
		close(done)
		wait.Wait()
	}
}

// memory returns the resident memory of a process and its peak, in megabytes; 0 where the
// system does not tell.
func memory(pid int) (now, peak int) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kb, _ := strconv.Atoi(f[1])
		switch f[0] {
		case "VmRSS:":
			now = kb / 1024
		case "VmHWM:":
			peak = kb / 1024
		}
	}
	return now, peak
}
