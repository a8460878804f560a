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

// Searches of large files keep a store in the cache, so that the next one need not read and compare the graphs again.
const (
	keptBytes  = 512 << 10 // of a file from which on its store is kept
	keptStores = 8         // that are kept, the last used
)

// kept returns the store of a large file of graphs, which it makes at the first time; nil for other data.
func (c *searchCmd) kept(g *globals) (*source, error) {
	at, err := os.Stat(c.From)
	if err != nil || !at.Mode().IsRegular() || at.Size() < keptBytes || file.KindOf(c.From) != "" ||
		c.Kernel != "mlg" || c.given()["exact"] == "true" {
		return nil, nil
	}
	dir, err := dataset.CacheDir()
	if err != nil {
		return nil, nil
	}
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "search", key+".mlgs")
	s, err := store.Open(path)
	if err != nil { // it is not there, or damaged
		if err = c.keep(g, path); err == nil {
			s, err = store.Open(path)
		}
		if g.ctx.Err() != nil {
			return nil, g.ctx.Err()
		}
		if err != nil {
			g.note("no store is kept for the next search: %v", err)
			return nil, nil
		}
	}
	now := time.Now()
	os.Chtimes(path, now, now) // a failure makes the store go earlier
	return &source{s.Model(), s, c.From, c.like(s.Model())}, nil
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
	err = json.NewEncoder(sum).Encode([]any{filepath.Base(c.From), c.options(), c.given(), store.Version, model.Version, thisBuild().String()})
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
}

// keep fits the kernel to a sample of the graphs, as fit does, and writes the store of all.
func (c *searchCmd) keep(g *globals, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	os.Remove(path)
	f := sampleFlags{Sample: 10_000, dataFlags: c.dataFlags, multiscaleFlag: multiscaleFlag{c.Kernel}, kernelFlags: c.kernelFlags}
	m, _, err := f.fitSample(g.quietly(), c.From)
	if err != nil {
		return err
	}
	data, err := openData(c.From, c.like(m))
	if err != nil {
		return err
	}
	defer closeData(g, data)
	if _, err := store.Write(g.work(), path, m, data.Next); err != nil {
		return err
	}
	g.note("kept for the next search of %s: %s", c.From, path)
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
