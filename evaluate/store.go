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

	"github.com/mlgkernel/mlg/dataset"
)

// storeVersion changes whenever results that were computed earlier may no longer hold.
const storeVersion = 5

// store keeps finished parts of an evaluation, one file each, in a folder. A nil store keeps
// nothing.
type store struct {
	folder string
	common string // fingerprint of what all parts share
}

// storedUnit is the content of a file.
type storedUnit struct {
	Fingerprint   string       `json:"fingerprint"`
	Method        string       `json:"method"`
	Parameters    string       `json:"parameters"`
	Repeat        int          `json:"repeat"`
	KernelSeconds float64      `json:"kernel_seconds"`
	LearnSeconds  float64      `json:"learn_seconds"`
	Results       []foldResult `json:"results"`
}

func newStore(e *engine, folder string) (*store, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	common, err := e.fingerprint()
	if err != nil {
		return nil, err
	}
	return &store{folder: folder, common: common}, nil
}

// fingerprint is a hash of the data, the splits and the options on which results depend.
func (e *engine) fingerprint() (string, error) {
	h := sha256.New()
	var line []byte
	for i, g := range e.data.Graphs {
		var err error
		if line, err = dataset.AppendJSON(line[:0], g); err != nil {
			return "", fmt.Errorf("graph %d (%s): %w", i, g.ID(), err)
		}
		h.Write(line)
	}
	o := e.o
	err := json.NewEncoder(h).Encode(struct {
		Version                                   int
		Regression                                bool
		Splits                                    *Splits
		Learner, Selection, Inner, Score, Fitting int
		Validators, Examples                      int
		C, Ridge                                  []float64
		Epsilon                                   float64
	}{
		storeVersion, e.targets.regression(), e.splits,
		int(o.Learner), int(o.Selection), int(o.Inner), int(o.Score), int(o.Fitting),
		len(e.validators(0)), o.Examples, o.C, o.Ridge, o.Epsilon,
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// key returns the fingerprint of a method on a part. Combinations depend on all settings.
func (s *store) key(e *engine, m int, p part) string {
	h := sha256.New()
	describe := func(m int) {
		x := &e.methods[m]
		fmt.Fprintf(h, "%q %q %q\n", x.name, x.parameters, x.kernel)
	}
	fmt.Fprintf(h, "%s %d %d\n", s.common, p.repeat, p.folds)
	if p.final {
		fmt.Fprintln(h, "final")
	}
	if m < len(e.settings) {
		describe(m)
	} else {
		fmt.Fprintf(h, "%s\n", e.methods[m].parameters)
		for _, i := range e.methods[m].of {
			describe(i)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (s *store) path(key string) string {
	return filepath.Join(s.folder, "part-"+key[:24]+".json")
}

// read returns the stored result of a part, nil when there is none. A file that cannot be
// understood, or belongs to something else, counts as none.
func (s *store) read(e *engine, m int, p part) (*storedUnit, error) {
	if s == nil {
		return nil, nil
	}
	key := s.key(e, m, p)
	b, err := os.ReadFile(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var u storedUnit
	if json.Unmarshal(b, &u) != nil || u.Fingerprint != key || !e.fits(&u, m, p) {
		return nil, nil
	}
	return &u, nil
}

// fits reports whether a stored result has the shape that the part wants.
func (e *engine) fits(u *storedUnit, m int, p part) bool {
	if len(u.Results) != len(p.folds) {
		return false
	}
	for k, f := range p.folds {
		r := &u.Results[k]
		grid, n := len(e.o.grid()), len(e.splits.Test(p.repeat, f))
		if r.Fold != f || r.Best < 0 || r.Best >= grid {
			return false
		}
		if p.final != (r.Final != nil) {
			return false
		}
		if e.o.Selection == Nested && e.o.Inner == LeaveOneOut && len(r.Missed) != grid {
			return false
		}
		for _, scores := range [][][]float64{r.Inner, r.Known} {
			if e.o.Selection == Nested && len(scores) != grid {
				return false
			}
			for _, s := range scores {
				if len(s) != len(e.validators(f)) {
					return false
				}
			}
		}
		switch {
		case e.o.Selection == OnReported:
			if len(r.Confusions) != grid {
				return false
			}
			for _, c := range r.Confusions {
				if len(c) != len(e.targets.classes) {
					return false
				}
			}
		case r.Labels == nil && r.Values == nil && n > 0 && !e.leads(m, p.repeat, r):
		case e.targets.regression():
			if len(r.Values) != n {
				return false
			}
		default:
			if len(r.Labels) != n || len(r.Scores) != n*e.targets.width() {
				return false
			}
			for _, l := range r.Labels {
				if l < 0 || l >= len(e.targets.classes) {
					return false
				}
			}
		}
	}
	return true
}

// write stores the result of a part: the file is there whole or not at all.
func (s *store) write(ctx context.Context, e *engine, m int, p part, u *storedUnit) error {
	if s == nil {
		return nil
	}
	u.Fingerprint = s.key(e, m, p)
	u.Method, u.Parameters, u.Repeat = e.methods[m].name, e.methods[m].parameters, p.repeat
	return dataset.WriteFile(ctx, s.path(u.Fingerprint), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(u)
	})
}
