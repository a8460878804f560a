//go:build amd64 || arm64

package cuda

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// A child calls functions with up to eleven arguments, from several threads at a time. What ends it is
// an error.
func TestProcess(t *testing.T) {
	p, err := start(nil, []string{"getpid", "snprintf", "abort"}, "", 1<<20, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	if pid, err := p.threads[0].call("getpid"); err != nil || int(pid) != p.command.Process.Pid {
		t.Errorf("getpid returned %d, %v, want %d", pid, err, p.command.Process.Pid)
	}
	var wg sync.WaitGroup
	for i, th := range p.threads {
		wg.Go(func() { // eleven arguments, some of them on the stack
			mine := p.memory[i<<12:][:1<<12]
			format := mine[1024:]
			copy(format, "%d %d %d %d %d %d %d %ld\x00")
			for k := range 200 {
				n, err := th.call("snprintf", p.at(mine), 1024, p.at(format), 1, 2, 3, 4, 5, 6, uint64(i), uint64(k)<<40)
				if want := fmt.Sprintf("1 2 3 4 5 6 %d %d", i, k<<40); err != nil || string(mine[:n]) != want {
					t.Errorf("%q, error %v, want %q", mine[:n], err, want)
				}
			}
		})
	}
	wg.Wait()
	if _, err := p.threads[1].call("abort"); !errors.Is(err, errEnded) {
		t.Errorf("after abort: %v", err)
	}
	if _, err := p.threads[0].call("getpid"); !errors.Is(err, errEnded) {
		t.Errorf("after that: %v", err)
	}
}

func TestProcessWithoutLibrary(t *testing.T) {
	_, err := start([]string{"libnobody.so.1"}, nil, "", 1<<20, 1)
	if !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "libnobody.so.1") {
		t.Errorf("got %v", err)
	}
}
