package explorer

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// access lets in who knows a token: in the address of the page once, in a form, or as a bearer of API requests. A browser
// gets a cookie, which follows from the token and is not the token. A nil access lets everyone in.
type access struct {
	token  [sha256.Size]byte // its hash
	cookie http.Cookie
	wrong  chan struct{} // places of those who gave a wrong token and wait
}

const (
	cookieTime = 30 * 24 * time.Hour
	wrongTime  = time.Second // that a wrong token takes,
	mostWrong  = 8           // and how many may wait for it
)

func newAccess(token string) *access {
	if token == "" {
		return nil
	}
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("cookie of mlg serve"))
	text := fmt.Sprintf("%x", mac.Sum(nil))
	return &access{token: sha256.Sum256([]byte(token)), wrong: make(chan struct{}, mostWrong), cookie: http.Cookie{
		Name: "mlg_" + text[:8], Value: text[8:], // so servers on several ports of a host do not share one
		Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(cookieTime.Seconds()),
	}}
}

// knows reports whether a text is the token. It takes the same time for all texts of a length.
func (a *access) knows(text string) bool {
	sum := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(sum[:], a.token[:]) == 1
}

// admits reports whether a request has the cookie or the token.
func (a *access) admits(r *http.Request) bool {
	if text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && a.knows(text) {
		return true
	}
	c, err := r.Cookie(a.cookie.Name)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(a.cookie.Value)) == 1
}

// tokenPath is where the form sends the token.
const tokenPath = "/token"

// open are the files that the form needs.
var open = map[string]bool{"/style.css": true, "/icon.svg": true}

// refuse answers a request that is not admitted, and reports whether it did.
func (a *access) refuse(w http.ResponseWriter, r *http.Request) bool {
	if a == nil || open[r.URL.Path] {
		return false
	}
	asked := r.URL.Query().Get("token")
	if r.Method == http.MethodPost && r.URL.Path == tokenPath {
		r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
		asked = strings.TrimSpace(r.PostFormValue("token"))
	}
	bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch page := r.URL.Path == "/" || r.URL.Path == tokenPath; {
	case page && asked != "" && a.knows(asked):
		c := a.cookie
		c.Secure = r.TLS != nil
		http.SetCookie(w, &c)
		http.Redirect(w, r, "/", http.StatusSeeOther)
	case a.admits(r) && r.URL.Path == tokenPath:
		http.Redirect(w, r, "/", http.StatusSeeOther)
	case a.admits(r):
		return false
	case cmp.Or(asked, bearer) != "" && !a.wait(r):
		w.Header().Set("Retry-After", "1")
		writeError(w, &apiError{http.StatusTooManyRequests, "too many wrong tokens; try again in a moment", "token"})
	case strings.HasPrefix(r.URL.Path, "/api/"):
		w.Header().Set("WWW-Authenticate", "Bearer")
		writeError(w, &apiError{http.StatusUnauthorized, "want the token of the server, as the header Authorization: Bearer TOKEN", "token"})
	default:
		a.form(w, asked != "")
	}
	return true
}

// wait lets who gave a wrong token wait. It returns false where too many do.
func (a *access) wait(r *http.Request) bool {
	select {
	case a.wrong <- struct{}{}:
	default:
		return false
	}
	defer func() { <-a.wrong }()
	select {
	case <-time.After(wrongTime):
	case <-r.Context().Done():
	}
	return true
}

// form asks for the token.
func (a *access) form(w http.ResponseWriter, wrong bool) {
	data, err := pageFiles.ReadFile("page/token.html")
	if err != nil {
		writeError(w, err)
		return
	}
	text := string(data)
	if !wrong {
		before, rest, _ := strings.Cut(text, "<p class=\"error\"")
		_, after, _ := strings.Cut(rest, "</p>\n")
		text = before + after
	}
	w.Header().Set("Referrer-Policy", "same-origin") // without a referrer, a form has the origin null
	w.Header().Set("Content-Security-Policy", strings.Replace(policy, "form-action 'none'", "form-action 'self'", 1))
	send(w, http.StatusUnauthorized, kinds[".html"], []byte(text))
}
