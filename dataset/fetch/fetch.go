// Package fetch downloads the public TUDataset collections into a cache, where package
// dataset finds them by their names.
package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
)

// Options say where collections come from and go to. Start from DefaultOptions.
type Options struct {
	BaseURL  string        // folder of the zip files
	CacheDir string        // where they are kept
	MaxBytes int64         // largest download
	Stall    time.Duration // longest wait for the next bytes
	Attempts int           // connections; each goes on where the one before broke
	Force    bool          // download even what is in the cache
	// Progress is called with the number of bytes that have arrived and the number that is
	// expected, -1 if unknown. May be nil.
	Progress func(done, total int64)
	Client   *http.Client // honours the proxy variables of the environment
}

// DefaultOptions returns the options to start from. The cache folder is dataset.CacheDir.
func DefaultOptions() (Options, error) {
	dir, err := dataset.CacheDir()
	if err != nil {
		return Options{}, err
	}
	return Options{
		BaseURL:  "https://www.chrsmrrs.com/graphkerneldatasets",
		CacheDir: dir,
		MaxBytes: 4 << 30,
		Stall:    30 * time.Second,
		Attempts: 3,
		Client:   &http.Client{CheckRedirect: checkRedirect},
	}, nil
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

// Collection downloads a TUDataset collection into the cache, unless it is there, and
// returns its path. A broken download is kept as NAME.zip.part, and goes on where it broke,
// in this call or a later one. The file gets its name only when it reads as a dataset.
func Collection(ctx context.Context, name string, opts Options) (string, error) {
	if u, err := url.Parse(opts.BaseURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("Options.BaseURL: %q, want http or https and a host", opts.BaseURL)
	}
	path, err := dataset.CachePath(opts.CacheDir, name)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil && !opts.Force {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	source := strings.TrimSuffix(opts.BaseURL, "/") + "/" + name + ".zip"
	part := path + file.Partial
	d := &download{opts: opts, url: source, path: path, part: part, tag: part + ".tag"}
	for range opts.Attempts {
		err = d.attempt(ctx)
		if _, last := err.(final); err == nil || last || ctx.Err() != nil {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("cannot download %s: %w\nBy hand: get that file with a browser. Then give its path instead of the name %s, or copy it to %s", source, err, name, path)
	}
	if err := verify(ctx, d.part); err != nil {
		d.discard()
		return "", fmt.Errorf("%s is not a dataset: %w", source, err)
	}
	os.Remove(d.tag)
	return path, file.Publish(d.part, path)
}

// verify reads the downloaded file as a dataset.
func verify(ctx context.Context, path string) error {
	o := dataset.DefaultOptions()
	o.Format = dataset.TUDataset
	d, err := dataset.Read(ctx, path, o)
	if err == nil && len(d.Graphs) == 0 {
		err = errors.New("it has no graphs")
	}
	return err
}

// download is a file on its way. The tag identifies the version of the partial file.
type download struct {
	opts                 Options
	url, path, part, tag string
}

// final is an error after which another attempt would not help.
type final struct{ error }

func (e final) Unwrap() error { return e.error }

func (d *download) discard() {
	os.Remove(d.part)
	os.Remove(d.tag)
}

// attempt makes one connection and appends what it gives.
func (d *download) attempt(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(d.opts.Stall, func() {
		cancel(fmt.Errorf("no data arrived for %v", d.opts.Stall))
	})
	defer stalled.Stop()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
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
		return err
	}
	defer resp.Body.Close()
	total, err := d.check(resp, have)
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusOK {
		have = 0
	}
	f, err := file.CreatePart(d.path)
	if err != nil {
		return final{err}
	}
	defer f.Close()
	if err := f.Truncate(have); err != nil { // a new file does not go on behind an old one
		return final{err}
	}
	have, err = d.copy(io.NewOffsetWriter(f, have), resp.Body, have, total, stalled)
	if err == nil {
		err = f.Sync()
	}
	if err == nil && total >= 0 && have != total {
		err = fmt.Errorf("only %d of %d bytes arrived", have, total)
	}
	return err
}

// check returns the size of the whole file, -1 when that is unknown, or what is wrong with
// an answer to the request for the bytes from have on.
func (d *download) check(resp *http.Response, have int64) (total int64, err error) {
	switch {
	case resp.StatusCode == http.StatusOK:
		total = resp.ContentLength
		d.remember(resp)
	case resp.StatusCode == http.StatusPartialContent:
		var from, to int64
		header := resp.Header.Get("Content-Range")
		n, _ := fmt.Sscanf(header, "bytes %d-%d/%d", &from, &to, &total)
		if n == 2 && strings.HasSuffix(header, "/*") {
			n, total = 3, -1
		}
		if n != 3 || from != have {
			d.discard() // the next attempt starts anew
			err = fmt.Errorf("answer with Content-Range %q, want bytes from %d", header, have)
		}
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		d.discard()
		err = errors.New(resp.Status)
	case resp.StatusCode == http.StatusNotFound:
		err = final{errors.New("there is no such collection (404 Not Found); upper and lower case matter in its name")}
	case resp.StatusCode < 500:
		err = final{errors.New(resp.Status)}
	default:
		err = errors.New(resp.Status)
	}
	if total > d.opts.MaxBytes {
		err = final{fmt.Errorf("it has %d bytes, more than the limit of %d", total, d.opts.MaxBytes)}
	}
	return total, err
}

// remember keeps what identifies this version of the file, for If-Range; without it a
// broken download starts anew.
func (d *download) remember(resp *http.Response) {
	tag := resp.Header.Get("ETag")
	if tag == "" || strings.HasPrefix(tag, "W/") {
		tag = resp.Header.Get("Last-Modified")
	}
	os.Remove(d.tag) // it may be a link
	if tag != "" && os.WriteFile(d.tag, []byte(tag), 0o666) != nil {
		os.Remove(d.tag)
	}
}

// copy appends the body to the file, of which some bytes are there, and returns how many
// there are then.
func (d *download) copy(f io.Writer, body io.Reader, have, total int64, stalled *time.Timer) (int64, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			stalled.Reset(d.opts.Stall)
		}
		switch {
		case have == 0 && n >= 4 && !bytes.HasPrefix(buf, []byte("PK")):
			return have, final{errors.New("the answer is not a zip file; it may come from a proxy or a login page")}
		case have+int64(n) > d.opts.MaxBytes:
			d.discard()
			return have, final{fmt.Errorf("more than %d bytes arrived, which is the limit", d.opts.MaxBytes)}
		}
		if _, err := f.Write(buf[:n]); err != nil {
			return have, final{err}
		}
		have += int64(n)
		if n > 0 && d.opts.Progress != nil {
			d.opts.Progress(have, total)
		}
		if err == io.EOF {
			return have, nil
		}
		if err != nil {
			return have, err
		}
	}
}
