package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/tiles"
)

// Options say what a pipeline does. Start from DefaultOptions. Paths may have any scheme for
// which a file system of Beam is registered: gs://, s3:// and, without a scheme, those of the
// machines themselves, which then have to be the same files on all of them.
type Options struct {
	Model string // model file

	// Inputs are paths or patterns of files, in the order of the graphs; the files of a
	// pattern are in the order of their names. Built-in collections and the folders or zip
	// files of a TUDataset are possible too.
	Inputs []string

	// Read says where graphs are in the inputs. They become like the model's training graphs;
	// see dataset.Options.Like.
	Read dataset.Options

	// Tiles is the folder for the tiles of the Gram matrix, Embeddings the one for the
	// vectors, Train the file for the model with what is learned from all graphs (model.Refiner),
	// Predictions the folder for what the model says of the graphs. One of them is given.
	Tiles       string
	Embeddings  string
	Train       string
	Predictions string

	Nearest  int     `want:"at least 0"` // training graphs that predictions name
	Interval float64 `want:"at least 1"` // per cent of measured values that should lie in their interval, below 100

	Side int `json:"tile-side"` // graphs in a block: rows and columns of a tile, rows of a file of vectors or of predictions

	// How landmarks are chosen among the model's training graphs; see nystrom.Options.
	Dim    int            `json:"dimension" want:"at least 1"` // dimension of the vectors
	Pivots nystrom.Pivots `json:"pivots" want:"one of random greedy"`
	Seed   uint64

	PartBytes int `json:"part-bytes" want:"at least 1"` // a file of lines on the machine is cut into parts of this many bytes
	Batch     int `json:"batch" want:"at least 1"`      // graphs that are transformed together
	Threads   int `json:"threads" want:"at least 1"`    // goroutines for the work on a batch

	// Device computes tiles and features: "cpu", "cuda" (a GPU of the worker) or "auto" (a GPU where
	// there is one and enough work). The values are the same.
	Device string `json:"device" want:"one of cpu cuda auto"`

	// SkipInvalid leaves out graphs that cannot be read, where a line is a graph, or not be
	// transformed, and lists them in the file BadName of the output folder. Otherwise the
	// first of them is an error.
	SkipInvalid bool
}

// BadName is the name of the list of the graphs that were left out.
const BadName = "bad.jsonl"

// DefaultOptions returns the options to start from. Runners work on several pieces at a time,
// so that a piece has one thread.
func DefaultOptions() Options {
	return Options{Read: dataset.DefaultOptions(), Side: tiles.DefaultSide, Dim: 256, Pivots: nystrom.Random, Nearest: 3, Interval: 90,
		PartBytes: 4 << 20, Batch: 1024, Threads: 1, Device: "cpu"}
}

// Validate returns an error that names the first field with an impossible value.
func (o *Options) Validate() error {
	switch {
	case o.Model == "":
		return errors.New("no model, want the path of a model file")
	case len(o.Inputs) == 0:
		return errors.New("no inputs, want paths or patterns of files with graphs")
	case len(slices.DeleteFunc([]string{o.Tiles, o.Embeddings, o.Train, o.Predictions}, func(s string) bool { return s == "" })) != 1:
		return errors.New("want one of tiles, embeddings, train and predictions, where to write to")
	case !(o.Interval < 100):
		return fmt.Errorf("interval %v, want at least 1 and less than 100 per cent", o.Interval)
	}
	return errors.Join(param.Check("options", *o), tiles.Layout{Side: o.Side}.Validate(), o.Read.Validate())
}

// output returns the folder to write to.
func (o *Options) output() string {
	if o.Train != "" {
		return parent(o.Train)
	}
	return cmp.Or(o.Tiles, o.Embeddings, o.Predictions)
}

// absolute makes paths of the machine absolute: workers may run in another folder.
func (o *Options) absolute() error {
	o.Inputs = slices.Clone(o.Inputs)
	paths := []*string{&o.Model, &o.Tiles, &o.Embeddings, &o.Train, &o.Predictions}
	for i := range o.Inputs {
		paths = append(paths, &o.Inputs[i])
	}
	for _, p := range paths {
		if *p == "" || !local(*p) || builtin(*p) {
			continue
		}
		var err error
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	return nil
}
