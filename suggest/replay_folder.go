package suggest

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

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
)

// replayVersion changes whenever runs that were played earlier may no longer hold.
const replayVersion = 1

// replayKind is the kind of container (package file) that the files are.
const replayKind = "replay"

// replayFolder keeps what methods found in repeats, one file each. A nil one keeps nothing.
type replayFolder struct {
	*replay
	common string // fingerprint of what all runs share
}

// newFolder makes a folder for the data and the options on which runs depend, and reads the runs that it has. It returns how
// many are to be played.
func (r *replay) newFolder(methods []Method, runs [][]run) (f *replayFolder, todo int, err error) {
	if r.Folder != "" {
		if f, err = r.folder(); err != nil {
			return nil, 0, err
		}
	}
	for i, m := range methods {
		for k := range runs[i] {
			if runs[i][k], err = f.read(m.Acquisition, k); err != nil {
				return nil, 0, err
			}
			if runs[i][k].Best == nil {
				todo++
			}
		}
	}
	return f, todo, nil
}

// folder makes the folder.
func (r *replay) folder() (*replayFolder, error) {
	if err := os.MkdirAll(r.Folder, 0o777); err != nil {
		return nil, err
	}
	h := sha256.New()
	var line []byte
	for i, g := range r.graphs {
		var err error
		if line, err = dataset.AppendJSON(line[:0], g); err != nil {
			return nil, fmt.Errorf("graph %d (%s): %w", i, g.ID(), err)
		}
		h.Write(line)
	}
	var kernels []string
	for _, c := range r.Candidates {
		kernels = append(kernels, c.Name)
		for _, s := range c.Settings {
			kernels = append(kernels, kernel.FullText(s.Kernel))
		}
		kernels = append(kernels, fmt.Sprint(c.Share, c.Ridges))
	}
	choice := r.Choice
	if choice.Centres(len(r.graphs)) == 0 {
		choice.Memory = 0 // no result depends on it
	}
	err := json.NewEncoder(h).Encode(struct {
		Version, K, Start, Rounds, Fantasies int
		Goal                                 string
		Beta                                 float64
		Seed                                 uint64
		Kernels                              []string
		Choice                               choose.Options
	}{replayVersion, r.K, r.Start, r.Rounds, r.Fantasies, r.Goal.String(), r.Beta, r.Seed, kernels, choice})
	return &replayFolder{r, hex.EncodeToString(h.Sum(nil))}, err
}

// place returns the fingerprint of a run, and its file.
func (f *replayFolder) place(a Acquisition, repeat int) (key, path string) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", f.common, a, repeat))
	key = hex.EncodeToString(sum[:])
	return key, filepath.Join(f.Folder, "replay-"+key[:24]+".bin")
}

// read returns a run, an empty one where it is not kept or damaged.
func (f *replayFolder) read(a Acquisition, repeat int) (run, error) {
	if f == nil {
		return run{}, nil
	}
	key, path := f.place(a, repeat)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return run{}, nil
	}
	if err != nil {
		return run{}, err
	}
	var x run
	err = file.DecodeJSON(b, replayKind, replayVersion, &x)
	if n := len(x.Best); err == nil && (x.Fingerprint != key || n == 0 || n > f.Rounds+1 || len(x.Found1) != n || len(x.Found5) != n) {
		err = fmt.Errorf("%d rounds of %s, want those of %s", n, x.Fingerprint, key)
	}
	if err != nil {
		if f.Damaged != nil {
			f.Damaged(path, err)
		}
		return run{}, nil
	}
	return x, nil
}

// write keeps a run.
func (f *replayFolder) write(ctx context.Context, a Acquisition, repeat int, x *run) error {
	if f == nil {
		return nil
	}
	var path string
	x.Fingerprint, path = f.place(a, repeat)
	return file.WriteJSON(ctx, path, replayKind, replayVersion, x)
}
