package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
)

// A search of a file fits the kernel to at most searchSample of its graphs, as fit does. If there
// are more than keptGraphs, it keeps a store in the cache. Then the next search need not read and
// compare them again.
const (
	searchSample = 10_000
	keptGraphs   = 5000
	keptStores   = 8 // the last used
)

// kept returns the graphs of a file with the kernel of the flags, which may be in a store; nil for other data.
func (c *searchCmd) kept(g *globals) (*source, error) {
	at, err := os.Stat(c.From)
	if err != nil || !at.Mode().IsRegular() || file.KindOf(c.From) != "" {
		return nil, nil
	}
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	dir, noDir := dataset.CacheDir()
	path := filepath.Join(dir, "search", key+".mlgs")
	if noDir == nil {
		if s, err := store.Open(path); err == nil { // else it is not there, or damaged
			now := time.Now()
			os.Chtimes(path, now, now) // a failure makes the store go earlier
			return &source{s.Model(), s, c.From, c.like(s.Model())}, nil
		}
	}
	f := sampleFlags{Sample: searchSample, dataFlags: c.dataFlags, kernelFlag: c.kernelFlag}
	m, total, err := f.fitSample(g, c.From)
	if err != nil {
		return nil, err
	}
	c.dataFlags = f.dataFlags // which know what the labels are
	read := c.options()
	read.Format = dataset.Auto // that of a query may be another
	all := &source{m, nil, c.From, read}
	if total <= keptGraphs {
		return all, nil
	}
	err = noDir
	if err == nil {
		err = c.keep(g, m, path)
	}
	if err == nil {
		var s *store.Store
		if s, err = store.Open(path); err == nil {
			return &source{s.Model(), s, c.From, c.like(s.Model())}, nil
		}
	}
	if g.ctx.Err() != nil {
		return nil, g.ctx.Err()
	}
	g.note("the next search will take as long as this one, because the graphs cannot be kept: %v", err)
	if total > searchSample {
		return nil, nil
	}
	return all, nil
}

// key depends on all that the store depends on.
func (c *searchCmd) key() (string, error) {
	f, err := os.Open(c.From)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	err = json.NewEncoder(sum).Encode([]any{filepath.Base(c.From), c.options(), c.text(), store.Version, model.Version, thisBuild().String()})
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
}

// keep writes the store of all graphs.
func (c *searchCmd) keep(g *globals, m *model.Model, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	os.Remove(path)
	data, err := openData(c.From, c.like(m))
	if err != nil {
		return err
	}
	defer data.Close()
	if _, err := store.Write(g.work(), path, m, data.Next); err != nil {
		return err
	}
	g.note("the features of the graphs of %s are kept for the next search in %s, %s", c.From, path, count(float64(fileSize(path)), "B"))
	return prune(filepath.Dir(path))
}

// prune deletes all but the stores that were used last.
func prune(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	used := map[string]time.Time{}
	var names []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			names, used[e.Name()] = append(names, e.Name()), info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return used[b].Compare(used[a]) })
	for _, name := range names[min(keptStores, len(names)):] {
		os.Remove(filepath.Join(dir, name)) // another search may have done so
	}
	return nil
}
