package explorer

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// policy allows the page its own scripts and styles and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses requests that come by a foreign name or from a foreign page, bounds their
// bodies and the time to send them, and sets the headers of all answers.
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
			writeError(w, &apiError{http.StatusMisdirectedRequest, "the Host header names another server", ""})
			return
		}
		if !sameOrigin(r) {
			writeError(w, &apiError{http.StatusForbidden, "requests from other origins are refused", ""})
			return
		}
		if s.access.refuse(w, r) {
			return
		}
		leave, err := s.clients.enter(r)
		if err != nil {
			writeError(w, err)
			return
		}
		defer leave()
		if r.Body != http.NoBody {
			// A writer that has no deadlines is a test's.
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.o.BodyTimeout))
			most := int64(maxBody)
			if r.URL.Path == uploadPath || r.URL.Path == batchPath || r.URL.Path == openPath {
				most = s.o.UploadBytes
			}
			r.Body = http.MaxBytesReader(w, r.Body, most)
		}
		next.ServeHTTP(w, r)
	})
}

// knownHost reports whether a Host header names this server: an IP address, which no foreign
// name can be made to be, localhost, or a name from the options.
func (s *Server) knownHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil { // without a port
		name = strings.Trim(host, "[]")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	names := append([]string{"localhost"}, s.o.Hosts...)
	return slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, strings.TrimSuffix(name, ".")) })
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

// limiter keeps a number of connections. When there are more, it closes the connection that has
// waited longest without an answer. So clients that send nothing, or a header byte by byte, make
// room for others.
type limiter struct {
	most int

	mu      sync.Mutex
	open    int
	waiting []net.Conn // without a request, longest first
}

type connKey struct{}

// context puts the connection into the context of its requests.
func (l *limiter) context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// track takes the connection of a request off the list while it is answered.
func (l *limiter) track(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.remove(r.Context().Value(connKey{}).(net.Conn))
		l.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func (l *limiter) remove(c net.Conn) {
	l.waiting = slices.DeleteFunc(l.waiting, func(w net.Conn) bool { return w == c })
}

// state follows the connections for http.Server.
func (l *limiter) state(c net.Conn, s http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch s {
	case http.StateNew:
		l.open++
		l.waiting = append(l.waiting, c)
		if l.open > l.most {
			old := l.waiting[0]
			l.remove(old)
			old.Close() // its own goroutine reports StateClosed
		}
	case http.StateIdle:
		l.remove(c)
		l.waiting = append(l.waiting, c)
	case http.StateClosed, http.StateHijacked:
		l.open--
		l.remove(c)
	}
}
