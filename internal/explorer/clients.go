package explorer

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// clients counts the requests that are being answered, for each address that they come from.
type clients struct {
	most int // of an address, 0 for any number

	mu   sync.Mutex
	open map[string]int
}

// enter counts a request to the API, or refuses it; leave is called when it is answered. Clients of this machine, such as a
// proxy, are not counted.
func (c *clients) enter(r *http.Request) (leave func(), err error) {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	addr, err := netip.ParseAddr(from)
	if c.most == 0 || !strings.HasPrefix(r.URL.Path, "/api/") || err == nil && addr.Unmap().IsLoopback() {
		return func() {}, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[from] >= c.most {
		return nil, &apiError{http.StatusTooManyRequests, fmt.Sprintf("%d requests from your address are being answered, want fewer; try again in a moment", c.open[from]), ""}
	}
	if c.open == nil {
		c.open = map[string]int{}
	}
	c.open[from]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[from]--; c.open[from] == 0 {
			delete(c.open, from)
		}
	}, nil
}
