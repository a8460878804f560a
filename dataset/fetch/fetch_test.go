package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/dataset"
)

// collection returns the bytes of a small zip file that is a dataset.
func collection(t *testing.T) []byte {
	t.Helper()
	var a strings.Builder
	for i := 1; i < 2000; i++ { // large enough to be cut
		fmt.Fprintf(&a, "%d, %d\n%d, %d\n", i, i+1, i+1, i)
	}
	return zipped(t, map[string]string{"X/X_A.txt": a.String(),
		"X/X_graph_indicator.txt": strings.Repeat("1\n", 2000), "X/X_graph_labels.txt": "1\n"})
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cached returns where a collection is to stand.
func cached(o Options, name string) string {
	return filepath.Join(o.CacheDir, "tudataset", name+".zip")
}

func fetchOptions(t *testing.T, h http.Handler) Options {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Setenv("MLG_CACHE", filepath.Join(t.TempDir(), "cache"))
	o, err := DefaultOptions()
	if err != nil {
		t.Fatal(err)
	}
	o.BaseURL = s.URL + "/sets/"
	return o
}

// serve answers as a good server does, with ranges.
func serve(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sets/X.zip" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "X.zip", time.Time{}, strings.NewReader(string(data)))
	}
}

// wantFetched checks that the collection can be read by its name and nothing else is left.
func wantFetched(t *testing.T, path string) {
	t.Helper()
	d, err := dataset.Read(t.Context(), "X", dataset.DefaultOptions())
	if err != nil || len(d.Graphs) != 1 || d.Graphs[0].N() != 2000 {
		t.Errorf("%v: %v", d, err)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFetch(t *testing.T) {
	data := collection(t)
	var requests atomic.Int32
	o := fetchOptions(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		serve(data)(w, r)
	}))
	last, total := int64(0), int64(0)
	o.Progress = func(d, n int64) { last, total = d, n }
	path, err := Collection(context.Background(), "X", o)
	if err != nil {
		t.Fatal(err)
	}
	if last != int64(len(data)) || total != int64(len(data)) {
		t.Errorf("progress ended at %d of %d, want %d", last, total, len(data))
	}
	wantFetched(t, path)
	if _, err := Collection(context.Background(), "X", o); err != nil || requests.Load() != 1 {
		t.Errorf("%v, %d requests; want the file of the cache", err, requests.Load())
	}
	o.Force = true
	if _, err := Collection(context.Background(), "X", o); err != nil || requests.Load() != 2 {
		t.Errorf("%v, %d requests; want a second one", err, requests.Load())
	}
}

// TestFetchResumes lets the server cut the answer, in one call and between two.
func TestFetchResumes(t *testing.T) {
	data := collection(t)
	var ranges []string
	cut := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		w.Header().Set("ETag", `"v1"`)
		from := 0
		if r.Header.Get("Range") != "" {
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(data)-1, len(data)))
			w.Header().Set("Content-Length", fmt.Sprint(len(data)-from))
			w.WriteHeader(http.StatusPartialContent)
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		}
		w.Write(data[from:min(from+len(data)/4+1, len(data))]) // then the connection breaks
	})
	o := fetchOptions(t, cut)
	o.Attempts = 2
	_, err := Collection(context.Background(), "X", o)
	if err == nil || !strings.Contains(err.Error(), "By hand: get that file with a browser") {
		t.Fatal(err)
	}
	if _, err := os.Stat(cached(o, "X")); err == nil {
		t.Fatal("half a file has the name of a whole one")
	}
	path, err := Collection(context.Background(), "X", o)
	if err != nil {
		t.Fatal(err)
	}
	if len(ranges) != 4 || ranges[0] != "" || ranges[1] == "" || ranges[2] == "" || ranges[3] == "" {
		t.Errorf("ranges %q, want one whole request and three that go on", ranges)
	}
	wantFetched(t, path)
}

// TestFetchChangedFile lets the file change between two attempts: the server answers If-Range
// with the whole new file.
func TestFetchChangedFile(t *testing.T) {
	data := collection(t)
	o := fetchOptions(t, serve(data))
	part := cached(o, "X") + ".part"
	if err := os.MkdirAll(filepath.Dir(part), 0o777); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(part, []byte("PK\x03\x04 of an older version"), 0o666)
	os.WriteFile(part+".tag", []byte(`"v0"`), 0o666)
	path, err := Collection(context.Background(), "X", o)
	if err != nil {
		t.Fatal(err)
	}
	wantFetched(t, path)
}

func TestFetchRedirect(t *testing.T) {
	data := collection(t)
	o := fetchOptions(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sets/X.zip":
			http.Redirect(w, r, "/moved/X.zip", http.StatusMovedPermanently)
		case "/sets/loop.zip":
			http.Redirect(w, r, "/sets/loop.zip", http.StatusFound)
		default:
			w.Write(data)
		}
	}))
	path, err := Collection(context.Background(), "X", o)
	if err != nil {
		t.Fatal(err)
	}
	wantFetched(t, path)
	if _, err := Collection(context.Background(), "loop", o); err == nil || !strings.Contains(err.Error(), "more than 10 redirects") {
		t.Error(err)
	}
	secure, _ := http.NewRequest("GET", "https://example.org/", nil)
	plain, _ := http.NewRequest("GET", "http://example.org/", nil)
	if err := checkRedirect(plain, []*http.Request{secure}); err == nil {
		t.Error("a redirect from https to http was followed")
	}
}

func TestFetchFailures(t *testing.T) {
	data := collection(t)
	bad := make([]byte, len(data))
	copy(bad, data)
	copy(bad[100:], make([]byte, 500)) // damaged inside
	notTU := zipped(t, map[string]string{"readme.txt": "nothing here"})
	send := func(b []byte) http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) { w.Write(b) } }
	for name, c := range map[string]struct {
		h      http.HandlerFunc
		change func(*Options)
		want   string
	}{
		"missing":                 {http.NotFound, nil, "there is no such collection (404 Not Found)"},
		"forbidden":               {func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusForbidden) }, nil, "403 Forbidden"},
		"down":                    {func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }, nil, "503 Service Unavailable"},
		"web page":                {send([]byte("<html>please log in</html>")), nil, "the answer is not a zip file; it may come from a proxy or a login page"},
		"damaged":                 {send(bad), nil, "is not a dataset"},
		"other zip":               {send(notTU), nil, "is not a dataset"},
		"empty":                   {send(nil), nil, "is not a dataset"},
		"too large by its header": {serve(data), func(o *Options) { o.MaxBytes = 1000 }, "more than the limit of 1000"},
		"too large without a header": {func(w http.ResponseWriter, r *http.Request) {
			w.Write(data[:1000])
			w.(http.Flusher).Flush()
			for range 100 {
				w.Write(data)
			}
		}, func(o *Options) { o.MaxBytes = 10000 }, "more than 10000 bytes arrived, which is the limit"},
		"stall": {func(w http.ResponseWriter, r *http.Request) {
			w.Write(data[:100])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, func(o *Options) { o.Stall = 50 * time.Millisecond }, "no data arrived for 50ms"},
		"stall before the header": {func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, func(o *Options) { o.Stall = 50 * time.Millisecond }, "no data arrived for 50ms"},
		"lies about the length": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)*2))
			w.Write(data)
		}, nil, "unexpected EOF"},
		"lies about the range": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 7-9/10")
			w.WriteHeader(http.StatusPartialContent)
		}, nil, `answer with Content-Range "bytes 7-9/10", want bytes from 0`},
	} {
		t.Run(name, func(t *testing.T) {
			o := fetchOptions(t, c.h)
			if c.change != nil {
				c.change(&o)
			}
			_, err := Collection(context.Background(), "X", o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if _, err := os.Stat(cached(o, "X")); err == nil {
				t.Error("the file got its name")
			}
		})
	}
}

func TestFetchWithoutNetwork(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	o := fetchOptions(t, http.NotFoundHandler())
	o.BaseURL = s.URL
	s.Close() // nobody listens there now
	_, err := Collection(context.Background(), "MUTAG", o)
	want := "or copy it to " + cached(o, "MUTAG")
	if err == nil || !strings.Contains(err.Error(), "cannot download "+s.URL+"/MUTAG.zip") || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want what to do by hand", err)
	}
}

func TestFetchIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := fetchOptions(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	if _, err := Collection(ctx, "X", o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFetchChecksItsArguments(t *testing.T) {
	o := fetchOptions(t, http.NotFoundHandler())
	for _, name := range []string{"", "../X", "a/b", ".hidden", "a b", strings.Repeat("x", 200)} {
		if _, err := Collection(context.Background(), name, o); err == nil || !strings.Contains(err.Error(), "want a name such as MUTAG") {
			t.Errorf("%q: %v", name, err)
		}
	}
	o.BaseURL = "ftp://x"
	if _, err := Collection(context.Background(), "X", o); err == nil || !strings.Contains(err.Error(), "Options.BaseURL") {
		t.Error(err)
	}
}

// TestFetchProxy fetches from a host that does not exist through a proxy that the
// environment names. Go reads the environment once per process, so a child does it.
func TestFetchProxy(t *testing.T) {
	if os.Getenv("MLG_TEST_PROXY") != "" {
		o, err := DefaultOptions()
		if err != nil {
			t.Fatal(err)
		}
		o.BaseURL = "http://datasets.invalid/sets"
		path, err := Collection(context.Background(), "X", o)
		if err != nil {
			t.Fatal(err)
		}
		wantFetched(t, path)
		return
	}
	data := collection(t)
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.String())
		w.Write(data)
	}))
	defer proxy.Close()
	child := exec.Command(os.Args[0], "-test.run=^TestFetchProxy$")
	child.Env = append(os.Environ(), "MLG_TEST_PROXY=1", "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=", "MLG_CACHE="+t.TempDir())
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if asked.Load() != "http://datasets.invalid/sets/X.zip" {
		t.Errorf("the proxy was asked for %v", asked.Load())
	}
}
