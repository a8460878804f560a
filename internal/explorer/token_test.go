package explorer

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const secret = "a-token-of-some-length"

// asker sends requests to a server without a network.
func asker(s *Server) func(method, path string, change func(*http.Request)) *http.Response {
	h := s.handler()
	return func(method, path string, change func(*http.Request)) *http.Response {
		r := httptest.NewRequest(method, path, nil)
		r.Host = "localhost"
		if change != nil {
			change(r)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
}

func form(token string) func(*http.Request) {
	return func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader("token=" + token))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
}

// Who does not know the token gets a form, and nothing of the data. Who does gets a cookie, which is not the token.
func TestToken(t *testing.T) {
	o := DefaultOptions()
	o.Token = secret
	s := New(drugs(t), o)
	defer s.end()
	ask := asker(s)
	for path, want := range map[string]int{"/": 401, "/app.js": 401, "/docs": 401, "/api/v1/info": 401, "/api/v1/graphs": 401,
		"/api/v1/nothing": 401, "/style.css": 200, "/icon.svg": 200} {
		a := ask("GET", path, nil)
		body, _ := io.ReadAll(a.Body)
		if a.StatusCode != want || strings.Contains(string(body), "benzodiazepine") {
			t.Errorf("%s without a token: %d, want %d", path, a.StatusCode, want)
		}
		if path == "/" && (!strings.Contains(string(body), `action="/token"`) || strings.Contains(string(body), "not the token") ||
			!strings.Contains(a.Header.Get("Content-Security-Policy"), "form-action 'self'")) {
			t.Errorf("the form is %s", body)
		}
	}
	begin := time.Now()
	a := ask("POST", "/token", form("wrong"))
	if body, _ := io.ReadAll(a.Body); a.StatusCode != 401 || !strings.Contains(string(body), "This is not the token") || len(a.Cookies()) > 0 {
		t.Errorf("a wrong token: %d %s", a.StatusCode, body)
	}
	if took := time.Since(begin); took < wrongTime {
		t.Errorf("a wrong token is refused after %v, want %v", took, wrongTime)
	}
	foreign := ask("POST", "/token", func(r *http.Request) {
		form(secret)(r)
		r.Header.Set("Origin", "http://elsewhere.example")
	})
	if foreign.StatusCode != 403 {
		t.Errorf("the token from another page: %d", foreign.StatusCode)
	}
	for name, a := range map[string]*http.Response{"address": ask("GET", "/?token="+secret, nil), "form": ask("POST", "/token", form(secret))} {
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/" || len(a.Cookies()) != 1 {
			t.Fatalf("%s: %d to %q with %d cookies", name, a.StatusCode, a.Header.Get("Location"), len(a.Cookies()))
		}
		c := a.Cookies()[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || strings.Contains(c.Value, secret) {
			t.Errorf("%s: cookie %v", name, c)
		}
		if a := ask("GET", "/api/v1/info", func(r *http.Request) { r.AddCookie(c) }); a.StatusCode != 200 {
			t.Errorf("%s: info with the cookie: %d", name, a.StatusCode)
		}
		c.Value = c.Value[1:] + "0"
		if a := ask("GET", "/api/v1/info", func(r *http.Request) { r.AddCookie(c) }); a.StatusCode != 401 {
			t.Errorf("%s: info with another cookie: %d", name, a.StatusCode)
		}
	}
	if a := ask("GET", "/api/v1/info", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }); a.StatusCode != 200 {
		t.Errorf("info with the header: %d", a.StatusCode)
	}
	if a := ask("GET", "/api/v1/info?token="+secret, nil); a.StatusCode != 401 || a.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("info with the token in the address: %d", a.StatusCode)
	}
	codes := make(chan int)
	for range 3 * mostWrong {
		go func() { codes <- ask("GET", "/?token=wrong", nil).StatusCode }()
	}
	count := map[int]int{}
	for range 3 * mostWrong {
		count[<-codes]++
	}
	if count[401] > 2*mostWrong || count[429] < mostWrong {
		t.Errorf("many wrong tokens at once: %v", count)
	}
}

// One address has so many requests answered at a time; others and this machine do not wait for it.
func TestClients(t *testing.T) {
	o := DefaultOptions()
	o.PerClient = 1
	s := New(drugs(t), o)
	defer s.end()
	ask := asker(s)
	from := func(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }
	r := httptest.NewRequest("GET", "/api/v1/info", nil)
	r.RemoteAddr = "203.0.113.9:1"
	leave, err := s.clients.enter(r)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]int{"203.0.113.9:2": 429, "203.0.113.8:1": 200, "127.0.0.1:1": 200, "[::1]:1": 200} {
		if a := ask("GET", "/api/v1/info", from(addr)); a.StatusCode != want {
			t.Errorf("%s: %d, want %d", addr, a.StatusCode, want)
		}
	}
	if a := ask("GET", "/", from("203.0.113.9:2")); a.StatusCode != 200 {
		t.Errorf("the page itself: %d", a.StatusCode)
	}
	leave()
	if a := ask("GET", "/api/v1/info", from("203.0.113.9:2")); a.StatusCode != 200 || len(s.clients.open) != 0 {
		t.Errorf("afterwards: %d, %v", a.StatusCode, s.clients.open)
	}
}

// A server that is read only takes no files.
func TestReadOnly(t *testing.T) {
	o := DefaultOptions()
	o.ReadOnly = true
	s := New(drugs(t), o)
	defer s.end()
	a := asker(s)("POST", "/api/v1/upload?name=a.smi", func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader("CCO\n"))
		r.Header.Set("Content-Type", "application/octet-stream")
	})
	if a.StatusCode != 403 {
		t.Errorf("an upload: %d, want 403", a.StatusCode)
	}
}

// A computation that nobody waits for is found again for a while. It ends after that, when it is told to, and when somebody
// waits for its place.
func TestAbandoned(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration
		crowded  bool
		act      func(*life)
		ends     bool
	}{
		"found again":      {time.Hour, false, nil, false},
		"after a while":    {time.Millisecond, false, nil, true},
		"told":             {time.Hour, false, (*life).hurry, true},
		"somebody waits":   {time.Hour, true, nil, true},
		"without patience": {0, false, nil, true},
	} {
		l := &life{Context: t.Context(), patience: c.patience, crowded: func() bool { return c.crowded }}
		var r result[int]
		var runs atomic.Int32
		begun, goOn := make(chan struct{}, 2), make(chan struct{})
		work := func(ctx context.Context) (int, error) {
			begun <- struct{}{}
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-goOn:
				return int(runs.Add(1)), nil
			}
		}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			r.get(ctx, l, work)
			close(left)
		}()
		<-begun
		leave()
		<-left
		if c.act != nil {
			c.act(l)
		}
		gone := func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.last == nil
		}
		for end := time.Now().Add(5 * time.Second); c.ends && !gone() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if gone() != c.ends {
			t.Errorf("%s: ended %v, want %v", name, gone(), c.ends)
		}
		go close(goOn)
		if v, err := r.get(t.Context(), l, work); v != 1 || err != nil {
			t.Errorf("%s: %d, %v", name, v, err)
		}
		if again := len(begun) == 1; again != c.ends {
			t.Errorf("%s: begun again %v, want %v", name, again, c.ends)
		}
	}
}
