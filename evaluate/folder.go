package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/splits"
)

// folderVersion changes whenever results that were computed earlier may no longer hold.
const folderVersion = 10

// folder keeps the results of methods on the training parts of a session, one file each. A nil folder
// keeps nothing.
type folder struct {
	path   string
	common string // fingerprint of what all results share
}

// storedResults is the content of a file.
type storedResults struct {
	Fingerprint   string       `json:"fingerprint"`
	Method        string       `json:"method"`
	Parameters    string       `json:"parameters"`
	KernelSeconds float64      `json:"kernel_seconds"`
	LearnSeconds  float64      `json:"learn_seconds"`
	Folds         []foldResult `json:"folds"` // by training part
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
		record, err := kernel.Marshal(x.kernel) // all parameters, whatever their defaults are
		if err != nil {
			panic(err) // parameters are numbers and texts
		}
		fmt.Fprintf(h, "%q %q %q\n", x.name, x.parameters, record)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (f *folder) file(key string) string {
	return filepath.Join(f.path, "folds-"+key[:24]+".json")
}

// read returns the stored results of a method, nil when there are none. A file that cannot be
// understood, or belongs to something else, counts as none.
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
	var x storedResults
	if json.Unmarshal(b, &x) != nil || x.Fingerprint != key || len(x.Folds) != len(s.parts) {
		return nil, nil
	}
	for i, p := range s.parts {
		if r := &x.Folds[i]; !s.o.OnReported && r.Labels == nil && r.Values == nil && s.leads(m, p, &r.Scores) {
			return nil, nil // other settings came before it
		}
	}
	return &x, nil
}

// write stores the results of a method: the file is there whole or not at all.
func (f *folder) write(ctx context.Context, s *session, m *method, x *storedResults) error {
	if f == nil {
		return nil
	}
	x.Fingerprint, x.Method, x.Parameters = f.key(s, m), m.name, m.parameters
	return file.Write(ctx, f.file(x.Fingerprint), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(x)
	})
}
