package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// FetchOptions say where collections come from and go to. Start from DefaultFetchOptions.
type FetchOptions struct {
	BaseURL  string        // folder of the zip files
	CacheDir string        // where they are kept
	MaxBytes int64         // largest download
	Stall    time.Duration // longest wait for the next bytes
	Attempts int           // connections, each of which goes on where the one before broke
	Force    bool          // download even what is in the cache
	// Progress is called with the bytes that are there and those that are expected, -1 when
	// that is unknown. May be nil.
	Progress func(done, total int64)
	Limits   Limits       // for the check that the file is a dataset
	Client   *http.Client // honours the proxy variables of the environment
}

// DefaultFetchOptions returns the options to start from. The cache folder is $MLG_CACHE,
// or the folder mlg in the user's cache folder.
func DefaultFetchOptions() (FetchOptions, error) {
	dir, err := CacheDir()
	if err != nil {
		return FetchOptions{}, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = http.ProxyFromEnvironment
	return FetchOptions{
		BaseURL:  "https://www.chrsmrrs.com/graphkerneldatasets",
		CacheDir: dir,
		MaxBytes: 4 << 30,
		Stall:    30 * time.Second,
		Attempts: 3,
		Limits:   DefaultOptions().Limits,
		Client:   &http.Client{Transport: t, CheckRedirect: checkRedirect},
	}, nil
}

// CacheDir returns $MLG_CACHE, or the folder mlg in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("MLG_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder, set MLG_CACHE: %w", err)
	}
	return filepath.Join(dir, "mlg"), nil
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("redirect from https to %s: refused", req.URL)
	}
	return nil
}

func (o FetchOptions) validate() error {
	u, err := url.Parse(o.BaseURL)
	switch {
	case err != nil:
		return fmt.Errorf("FetchOptions.BaseURL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("FetchOptions.BaseURL: %q, want http or https and a host", o.BaseURL)
	case o.CacheDir == "":
		return errors.New("FetchOptions.CacheDir: empty, want a folder")
	case o.MaxBytes <= 0:
		return fmt.Errorf("FetchOptions.MaxBytes: %d, want a positive number", o.MaxBytes)
	case o.Stall <= 0:
		return fmt.Errorf("FetchOptions.Stall: %v, want a positive time", o.Stall)
	case o.Attempts <= 0:
		return fmt.Errorf("FetchOptions.Attempts: %d, want a positive number", o.Attempts)
	case o.Client == nil:
		return errors.New("FetchOptions.Client: nil, want a client")
	}
	return nil
}

var collectionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}$`)

// cached returns the path of a collection in the cache.
func cached(dir, name string) string { return filepath.Join(dir, "tudataset", name+".zip") }

// Fetch downloads a TUDataset collection into the cache, unless it is there, and returns
// its path. A broken download is kept as NAME.zip.part, and goes on where it broke, in this
// call or a later one. The file gets its name only when it reads as a dataset.
func Fetch(ctx context.Context, name string, opts FetchOptions) (string, error) {
	if err := opts.validate(); err != nil {
		return "", err
	}
	if !collectionName.MatchString(name) {
		return "", fmt.Errorf("collection %q, want a name such as MUTAG", name)
	}
	path := cached(opts.CacheDir, name)
	if _, err := os.Stat(path); err == nil && !opts.Force {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	source := strings.TrimSuffix(opts.BaseURL, "/") + "/" + name + ".zip"
	d := &download{opts: opts, url: source, part: path + ".part", tag: path + ".part.tag"}
	var err error
	for range opts.Attempts {
		if err = d.attempt(ctx); err == nil || d.final || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("cannot download %s: %w\nBy hand: get that file with a browser, and give its path instead of the name %s, or put it at %s", source, err, name, path)
	}
	if err := verify(ctx, d.part, opts.Limits); err != nil {
		d.discard()
		return "", fmt.Errorf("%s is not a dataset: %w", source, err)
	}
	if err := os.Rename(d.part, path); err != nil {
		return "", err
	}
	os.Remove(d.tag)
	return path, nil
}

// verify reads the downloaded file as a dataset.
func verify(ctx context.Context, path string, lim Limits) error {
	o := DefaultOptions()
	o.Format, o.Limits = TUDataset, lim
	d, err := Read(ctx, path, o)
	if err == nil && len(d.Graphs) == 0 {
		err = errors.New("it has no graphs")
	}
	return err
}

// download is a file on its way.
type download struct {
	opts           FetchOptions
	url, part, tag string
	final          bool // another attempt would not help
}

func (d *download) discard() {
	os.Remove(d.part)
	os.Remove(d.tag)
}

// attempt makes one connection and appends what it gives.
func (d *download) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(d.opts.Stall, func() {
		cancel(fmt.Errorf("nothing came for %v", d.opts.Stall))
	})
	defer stalled.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return err
	}
	have := int64(0)
	tag, tagErr := os.ReadFile(d.tag)
	if st, err := os.Stat(d.part); err == nil && tagErr == nil && st.Size() > 0 {
		have = st.Size()
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", string(tag))
	}
	resp, err := d.opts.Client.Do(req)
	if err != nil {
		return d.why(ctx, err)
	}
	defer resp.Body.Close()
	total := int64(-1)
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	switch resp.StatusCode {
	case http.StatusOK:
		have = 0
		total = resp.ContentLength
		d.remember(resp)
	case http.StatusPartialContent:
		start, size, err := contentRange(resp.Header.Get("Content-Range"))
		if err != nil || start != have {
			d.discard() // the next attempt starts anew
			return fmt.Errorf("answer with Content-Range %q, want bytes from %d", resp.Header.Get("Content-Range"), have)
		}
		total = size
		flags = os.O_WRONLY | os.O_APPEND
	case http.StatusRequestedRangeNotSatisfiable:
		d.discard()
		return errors.New(resp.Status)
	case http.StatusNotFound:
		d.final = true
		return errors.New("there is no such collection (404 Not Found); capital and small letters matter in its name")
	default:
		d.final = resp.StatusCode < 500
		return errors.New(resp.Status)
	}
	if total > d.opts.MaxBytes {
		d.final = true
		return fmt.Errorf("it has %d bytes, more than the limit of %d", total, d.opts.MaxBytes)
	}
	f, err := os.OpenFile(d.part, flags, 0o666)
	if err != nil {
		d.final = true
		return err
	}
	have, err = d.copy(ctx, f, resp.Body, have, total, stalled)
	if e := f.Sync(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return d.why(ctx, err)
	}
	if total >= 0 && have != total {
		return fmt.Errorf("%d of %d bytes came", have, total)
	}
	return nil
}

// why returns the reason for which ctx ended, when that is behind err.
func (d *download) why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return cause
	}
	return err
}

// remember keeps what identifies this version of the file, for If-Range; without it a
// broken download starts anew.
func (d *download) remember(resp *http.Response) {
	tag := resp.Header.Get("ETag")
	if tag == "" || strings.HasPrefix(tag, "W/") {
		tag = resp.Header.Get("Last-Modified")
	}
	if tag == "" || os.WriteFile(d.tag, []byte(tag), 0o666) != nil {
		os.Remove(d.tag)
	}
}

func (d *download) copy(ctx context.Context, f io.Writer, body io.Reader, have, total int64, stalled *time.Timer) (int64, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			stalled.Reset(d.opts.Stall)
			if have == 0 && !isZip(buf[:n]) && n >= 4 {
				d.final = true
				return have, errors.New("the answer is no zip file: a proxy or a login page may stand between")
			}
			if have+int64(n) > d.opts.MaxBytes {
				d.final = true
				d.discard()
				return have, fmt.Errorf("more than %d bytes came, the limit", d.opts.MaxBytes)
			}
			if _, err := f.Write(buf[:n]); err != nil {
				d.final = true
				return have, err
			}
			have += int64(n)
			if d.opts.Progress != nil {
				d.opts.Progress(have, total)
			}
		}
		if err == io.EOF {
			return have, nil
		}
		if err != nil {
			return have, err
		}
		if err := ctx.Err(); err != nil {
			return have, err
		}
	}
}

// contentRange parses "bytes 5-9/10"; the size is -1 when it is unknown.
func contentRange(s string) (start, size int64, err error) {
	s, ok := strings.CutPrefix(s, "bytes ")
	span, all, ok2 := strings.Cut(s, "/")
	from, _, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return 0, 0, errors.New("no range of bytes")
	}
	if start, err = strconv.ParseInt(from, 10, 64); err != nil {
		return 0, 0, err
	}
	if all == "*" {
		return start, -1, nil
	}
	size, err = strconv.ParseInt(all, 10, 64)
	return start, size, err
}
