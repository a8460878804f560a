package explorer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowBody sends a header at once and its body never, and wants 408.
func slowBody(t *testing.T, sp *spec, method, path string) {
	t.Helper()
	o := DefaultOptions()
	o.BodyTimeout = 30 * time.Millisecond
	s := New(someDrugs(t), o)
	defer s.end()
	h := httptest.NewServer(s.handler())
	defer h.Close()
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	r, err := http.NewRequest(method, "http://localhost"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: 100\r\n\r\n{", method, path, bodyKind(r.URL.Path))
	a, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if _, err := sp.check(r, a); err != nil {
		t.Error(err)
	}
	if a.StatusCode != http.StatusRequestTimeout {
		t.Errorf("%s %s with half a body: %d, want 408", method, path, a.StatusCode)
	}
}

// The page comes with headers that forbid everything foreign, and what is allowed works.
func TestPageHeaders(t *testing.T) {
	s := New(drugs(t), DefaultOptions())
	defer s.end()
	ask := func(method, path, host, header string) *http.Response {
		r := httptest.NewRequest(method, path, nil)
		r.Host = host
		if name, value, ok := strings.Cut(header, ": "); ok {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, r)
		return w.Result()
	}
	for path, kind := range map[string]string{"/": "text/html", "/index.html": "text/html", "/app.js": "text/javascript", "/style.css": "text/css", "/icon.svg": "image/svg+xml"} {
		a := ask("GET", path, "localhost:1", "")
		if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.Header.Get("Content-Type"))
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := a.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s: %q, want %q", path, name, got, want)
			}
		}
		if strings.Contains(a.Header.Get("Content-Security-Policy"), "unsafe") {
			t.Error("the policy has an exception")
		}
	}
	for _, c := range []struct {
		method, path, host, header string
		want                       int
	}{
		{"GET", "/", "127.0.0.1:8080", "", 200},
		{"GET", "/", "[::1]:8080", "", 200},
		{"GET", "/", "LOCALHOST", "", 200},
		{"GET", "/", "evil.example", "", 421},
		{"GET", "/", "", "", 421},
		{"HEAD", "/", "localhost", "", 200},
		{"POST", "/", "localhost", "", 405},
		{"GET", "/", "localhost", "Sec-Fetch-Site: cross-site", 403},
		{"GET", "/openapi.json", "localhost", "", 404},
		{"GET", "/api/v2/info", "localhost", "", 404},
		{"GET", "/../server.go", "localhost", "", 404},
		{"GET", "/page/index.html", "localhost", "", 404},
		{"GET", "/api/v1/info", "localhost", "Origin: http://localhost", 200},
		{"GET", "/api/v1/info", "localhost:81", "Origin: http://localhost:80", 403},
		{"GET", "/api/v1/info", "localhost", "Sec-Fetch-Site: same-origin", 200},
	} {
		if a := ask(c.method, c.path, c.host, c.header); a.StatusCode != c.want && !(c.want == 404 && a.StatusCode == 307) {
			t.Errorf("%s %s, Host %s, %s: %d, want %d", c.method, c.path, c.host, c.header, a.StatusCode, c.want)
		}
	}
	// A link from elsewhere leads to the page, not to the API.
	for path, want := range map[string]int{"/": 200, "/api/v1/info": 403} {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("link to %s: %d, want %d", path, w.Code, want)
		}
	}
	o := DefaultOptions()
	o.Hosts = []string{"Explorer.example"}
	s = New(drugs(t), o)
	defer s.end()
	if a := ask("GET", "/", "explorer.example:80", ""); a.StatusCode != 200 {
		t.Errorf("a name of the options: %d", a.StatusCode)
	}
}

// The page names nothing outside.
func TestPageIsSelfContained(t *testing.T) {
	pages, err := pageFiles.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 10 {
		t.Errorf("%d files", len(pages))
	}
	for _, p := range pages {
		data, err := pageFiles.ReadFile("page/" + p.Name())
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), `http://www.w3.org/2000/svg`, "")
		for _, bad := range []string{"http://", "https://", "//cdn", "@import", "eval(", "innerHTML", "<style", " style=", "onclick=\""} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", p.Name(), bad)
			}
		}
		if kinds[path.Ext(p.Name())] == "" {
			t.Errorf("%s has no type", p.Name())
		}
	}
}

// running is a server on a real listener.
type running struct {
	server *Server
	addr   string
	stop   context.CancelFunc
	done   chan error
}

func serve(t testing.TB, change func(*Options)) *running {
	t.Helper()
	o := DefaultOptions()
	if change != nil {
		change(&o)
	}
	s := New(someDrugs(t), o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{s, l.Addr().String(), cancel, make(chan error, 1)}
	go func() { r.done <- s.Serve(ctx, l) }()
	t.Cleanup(cancel)
	return r
}

func (r *running) healthy() error {
	c := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	a, err := c.Get("http://" + r.addr + "/api/v1/predict?smiles=CCO&k=1")
	if err != nil {
		return err
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != 200 {
		return fmt.Errorf("%d %s %w", a.StatusCode, b, err)
	}
	return nil
}

// slowClients opens connections that send nothing, a header byte by byte, half a body, or take no
// answer.
func slowClients(t testing.TB, addr string, clients int) (stop func()) {
	t.Helper()
	ended := make(chan struct{})
	var wait sync.WaitGroup
	var conns []net.Conn
	for i := range clients {
		c, err := net.DialTimeout("tcp", addr, 10*time.Second)
		if err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
		conns = append(conns, c)
		switch i % 4 {
		case 0: // sends nothing
		case 1: // a header without end
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n")
			wait.Go(func() {
				for {
					select {
					case <-ended:
						return
					case <-time.After(50 * time.Millisecond):
						if _, err := io.WriteString(c, "X"); err != nil {
							return
						}
					}
				}
			})
		case 2: // half a body
			fmt.Fprint(c, "POST /api/v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
		case 3: // takes no answer
			fmt.Fprint(c, strings.Repeat("GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n", 300))
		}
	}
	return func() {
		close(ended)
		for _, c := range conns {
			c.Close()
		}
		wait.Wait()
	}
}

// Hundreds of slow clients do not keep others out; MLG_SLOW_CLIENTS sets their number.
func TestSlowClients(t *testing.T) {
	clients := 300
	if n := os.Getenv("MLG_SLOW_CLIENTS"); n != "" {
		if _, err := fmt.Sscan(n, &clients); err != nil {
			t.Fatal(err)
		}
	}
	// Half of them may have a request that is being answered, which is not cut off before its time.
	r := serve(t, func(o *Options) { o.Connections = clients/2 + 8 })
	if err := r.healthy(); err != nil {
		t.Fatal(err)
	}
	stop := slowClients(t, r.addr, clients)
	for range 5 {
		begin := time.Now()
		if err := r.healthy(); err != nil {
			t.Errorf("with %d slow clients: %v after %v", clients, err, time.Since(begin))
		}
	}
	stop()
	if err := r.healthy(); err != nil {
		t.Error(err)
	}
}

// A server ends when it is told to, with a computation under way.
func TestShutdown(t *testing.T) {
	r := serve(t, nil)
	if err := r.healthy(); err != nil {
		t.Fatal(err)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		a, err := http.Get("http://" + r.addr + "/api/v1/evaluate?rank=64&samples=1000&radii=1,2,4,8")
		if err == nil {
			a.Body.Close()
		}
	}()
	time.Sleep(50 * time.Millisecond)
	r.stop()
	select {
	case err := <-r.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server goes on")
	}
	<-answered
	if _, err := net.DialTimeout("tcp", r.addr, time.Second); err == nil {
		t.Error("the port is still open")
	}
}

// The limiter closes those that have waited longest, and leaves those alone that are served.
func TestLimiter(t *testing.T) {
	l := &limiter{most: 2}
	pipe := func() (net.Conn, func() bool) {
		a, b := net.Pipe()
		t.Cleanup(func() { a.Close(); b.Close() })
		return a, func() bool {
			b.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, err := b.Read(make([]byte, 1))
			return errors.Is(err, io.EOF)
		}
	}
	first, firstClosed := pipe()
	second, secondClosed := pipe()
	third, thirdClosed := pipe()
	l.state(first, http.StateNew)
	l.state(second, http.StateNew)
	busy := httptest.NewRequest("GET", "/", nil)
	l.track(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), busy.WithContext(l.context(t.Context(), first)))
	l.state(third, http.StateNew)
	if firstClosed() || !secondClosed() || thirdClosed() {
		t.Errorf("closed %v %v %v, want the second", firstClosed(), secondClosed(), thirdClosed())
	}
	l.state(second, http.StateClosed)
	l.state(first, http.StateIdle)
	l.state(third, http.StateClosed)
	if l.open != 1 || len(l.waiting) != 1 {
		t.Errorf("%d open, %d waiting", l.open, len(l.waiting))
	}
}

// A computation may take longer than a client has to send its request, or to take the answer: one
// deadline ends with the body, the other begins anew with the answer.
func TestLongComputation(t *testing.T) {
	r := serve(t, func(o *Options) { o.BodyTimeout, o.WriteTimeout = 10*time.Millisecond, 100*time.Millisecond })
	for _, body := range []string{"", `{"graphs":[{"index":0}],"kernel":"mlg samples=200 rank=20"}`} {
		var a *http.Response
		var err error
		if body == "" {
			a, err = http.Get("http://" + r.addr + "/api/v1/map?kernel=mlg+samples=200+rank=60+radii=1,2,3")
		} else {
			a, err = http.Post("http://"+r.addr+"/api/v1/predict", "application/json", strings.NewReader(body))
		}
		if err != nil {
			t.Fatal(err)
		}
		if a.StatusCode != 200 {
			t.Errorf("%d for a computation longer than the time for the body", a.StatusCode)
		}
		a.Body.Close()
	}
}
