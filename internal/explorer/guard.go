package explorer

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// policy allows the page its own scripts and styles and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses requests that come by a foreign name or from a foreign page, bounds their
// bodies and the time to send and take them, and sets the headers of all answers.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.knownHost(r.Host) {
			writeError(w, &apiError{http.StatusMisdirectedRequest, "this server does not answer to the name in the Host header"})
			return
		}
		if !sameOrigin(r) {
			writeError(w, &apiError{http.StatusForbidden, "requests from other origins are refused"})
			return
		}
		if r.Body != http.NoBody {
			// A writer that has no deadlines is a test's.
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.o.BodyTimeout))
			r.Body = http.MaxBytesReader(w, r.Body, s.o.MaxBody)
		}
		next.ServeHTTP(&lateWriter{ResponseWriter: w, timeout: s.o.WriteTimeout}, r)
	})
}

// knownHost reports whether a Host header names this server: an IP address, which no foreign
// name can be made to be, localhost, or a name from the options.
func (s *Server) knownHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return s.hosts[strings.ToLower(strings.TrimSuffix(name, "."))]
}

// sameOrigin reports whether a request comes from our own page, from no page at all, or, for
// the page itself, from a link.
func sameOrigin(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/")
}

// lateWriter starts the clock for writing with the first byte, since a computation may take
// its time.
type lateWriter struct {
	http.ResponseWriter
	timeout time.Duration
	started bool
}

func (w *lateWriter) start() {
	if !w.started {
		w.started = true
		http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.timeout))
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *lateWriter) WriteHeader(code int) {
	w.start()
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *lateWriter) Write(b []byte) (int, error) {
	w.start()
	return w.ResponseWriter.Write(b)
}

// Unwrap is what http.ResponseController asks for.
func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// limiter is a listener that keeps a number of connections. When there are more, it closes
// those that have waited longest without a request being answered on them: clients that
// send nothing, or a header byte by byte, make room for others.
type limiter struct {
	net.Listener
	most int

	mu      sync.Mutex
	waiting *list.List // of connections without a request, longest first
	place   map[net.Conn]*list.Element
	open    int
}

func newLimiter(l net.Listener, most int) *limiter {
	return &limiter{Listener: l, most: most, waiting: list.New(), place: map[net.Conn]*list.Element{}}
}

type connKey struct{}

// context puts the connection into the context of its requests.
func (l *limiter) context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// track takes the connection of a request off the list while it is answered.
func (l *limiter) track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
			l.busy(c)
		}
		next.ServeHTTP(w, r)
	})
}

func (l *limiter) busy(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.place[c]; e != nil {
		l.waiting.Remove(e)
		delete(l.place, c)
	}
}

// state follows the connections for http.Server.
func (l *limiter) state(c net.Conn, s http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait := func() {
		if l.place[c] == nil {
			l.place[c] = l.waiting.PushBack(c)
		}
	}
	switch s {
	case http.StateNew:
		l.open++
		wait()
		if l.open > l.most {
			if e := l.waiting.Front(); e != nil {
				old := l.waiting.Remove(e).(net.Conn)
				delete(l.place, old)
				old.Close() // its own goroutine reports StateClosed
			}
		}
	case http.StateIdle:
		wait()
	case http.StateClosed, http.StateHijacked:
		l.open--
		if e := l.place[c]; e != nil {
			l.waiting.Remove(e)
			delete(l.place, c)
		}
	}
}
