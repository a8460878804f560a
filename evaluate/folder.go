package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/splits"
)

// folderVersion changes whenever results that were computed earlier may no longer hold.
const folderVersion = 14

// folderKind is the kind of container (package file) that the files are. Each has one section of JSON.
const folderKind = "folds"

// folder keeps the results of methods on the training parts of a session, one file each. A nil folder
// keeps nothing.
type folder struct {
	path   string
	common string // fingerprint of what all results share
}

// storedResults is the content of a file.
type storedResults struct {
	Fingerprint string `json:"fingerprint"`
	Method      string `json:"method"`
	Parameters  string `json:"parameters"`
	seconds
	Folds []foldResult `json:"folds"` // by training part
}

// newFolder makes a folder for the data, the splits and the options on which results depend.
func newFolder(e *evaluation, path string) (*folder, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	h := sha256.New()
	var line []byte
	for i, g := range e.data.Graphs {
		var err error
		if line, err = dataset.AppendJSON(line[:0], g); err != nil {
			return nil, fmt.Errorf("graph %d (%s): %w", i, g.ID(), err)
		}
		h.Write(line)
	}
	o := e.o.Options
	o.Combinations, o.InnerFolds = nil, min(o.InnerFolds, e.Splits.Folds-1)
	if o.Centres(len(e.data.Graphs)) == 0 {
		o.Memory = 0 // no result depends on it
	}
	err := json.NewEncoder(h).Encode(struct {
		Version                           int
		Splits                            *splits.Splits
		Options                           choose.Options
		Regression, OnReported, Inductive bool
	}{folderVersion, e.Splits, o, e.Targets.Regression(), e.o.OnReported, e.o.Inductive})
	return &folder{path, hex.EncodeToString(h.Sum(nil))}, err
}

// key returns the fingerprint of a method in a session. That of a sum has all its kernels.
func (f *folder) key(s *session, m *method) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %d %d\n%q\n", f.common, len(s.parts), s.parts[0].Repeat, s.parts[0].Fold, m.parameters)
	kernels := s.combined
	if m.kernel != nil {
		kernels = []*method{m}
	}
	for _, x := range kernels {
		fmt.Fprintf(h, "%q %q %q\n", x.name, x.parameters, kernel.FullText(x.kernel)) // whatever defaults are
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (f *folder) file(key string) string {
	return filepath.Join(f.path, "folds-"+key[:24]+".bin")
}

// read returns the stored results of a method, nil when there are none. A damaged file is reported
// and counts as none.
func (f *folder) read(s *session, m *method) (*storedResults, error) {
	if f == nil {
		return nil, nil
	}
	key := f.key(s, m)
	b, err := os.ReadFile(f.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := s.decode(b, key)
	if err != nil {
		if s.o.Damaged != nil {
			s.o.Damaged(f.file(key), err)
		}
		return nil, nil
	}
	return x, nil
}

// decode reads the content of a file. Everything that is computed with later is checked.
func (s *session) decode(b []byte, key string) (*storedResults, error) {
	x := &storedResults{}
	if err := file.DecodeJSON(b, folderKind, folderVersion, x); err != nil {
		return nil, err
	}
	if x.Fingerprint != key || len(x.Folds) != len(s.parts) {
		return nil, fmt.Errorf("%d folds of %s, want %d of %s", len(x.Folds), x.Fingerprint, len(s.parts), key)
	}
	for i, p := range s.parts {
		if !s.fits(&x.Folds[i], len(s.Splits.Test(p.Repeat, p.Fold))) {
			return nil, fmt.Errorf("repeat %d, fold %d: the results are not those of the %d graphs", p.Repeat, p.Fold, len(s.data.Graphs))
		}
	}
	return x, nil
}

// fits reports whether the numbers of a result have the right counts and ranges for a fold of n graphs.
func (s *session) fits(r *foldResult, n int) bool {
	grid, classes := len(s.o.Grid()), len(s.Targets.Classes)
	count := func(have, want int) bool { return have == 0 || have == want }
	return r.Best >= 0 && r.Best < grid && count(len(r.Inner), grid) && count(len(r.Errors), grid) && count(len(r.Confusions), grid) &&
		count(len(r.Labels), n) && count(len(r.HeldPredictions.Scores), n) && count(len(r.Values), n) && count(len(r.Deviations), n) &&
		!slices.ContainsFunc(r.Inner, func(row []float64) bool { return len(row) != len(r.Inner[0]) || len(row) == 0 }) &&
		!slices.ContainsFunc(r.Labels, func(l int) bool { return l < 0 || l >= classes }) &&
		!slices.ContainsFunc(r.HeldPredictions.Scores, func(row []float64) bool { return len(row) != classes }) &&
		!slices.ContainsFunc(r.Confusions, func(c metrics.Confusion) bool {
			return len(c) != classes || slices.ContainsFunc(c, func(row []int) bool { return len(row) != classes })
		})
}

// write stores the results of a method: the file is there whole or not at all.
func (f *folder) write(ctx context.Context, s *session, m *method, x *storedResults) error {
	if f == nil {
		return nil
	}
	x.Fingerprint, x.Method, x.Parameters = f.key(s, m), m.name, m.parameters
	return file.WriteJSON(ctx, f.file(x.Fingerprint), folderKind, folderVersion, x)
}
