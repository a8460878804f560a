// Command mlg-beam computes tiles of a Gram matrix, embeddings or predictions of a large collection of
// graphs on Apache Beam, or learns from it. docs/howto/beam.md describes it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized" // faster calls
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"
	"github.com/mlgkernel/mlg/beam/pipeline"
)

const usage = `usage: mlg-beam --model FILE --tiles DIR [flags] INPUT...
       mlg-beam --model FILE --embeddings DIR [flags] INPUT...
       mlg-beam --model FILE --train FILE [flags] INPUT...
       mlg-beam --model FILE --predictions DIR [flags] INPUT...

INPUT is a file or pattern with graphs, a TUDataset folder or zip file, or a built-in
collection. "mlg merge DIR" makes a matrix of the tiles. --train writes the
model with what is learned from all graphs, as "mlg refine" does. --predictions
writes what "mlg predict --json" prints.

Flags with a hyphen are those of mlg-beam; those with an underscore belong to Beam and its
runners.
`

func main() {
	o := pipeline.DefaultOptions()
	flags(&o)
	level := flag.String("log-level", "warn", "what Beam prints: debug, info, warn or error")
	quiet := flag.Bool("quiet", false, "print no summary")
	asJSON := flag.Bool("json", false, "print the summary as JSON to standard output")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	log.SetupLogging(*level, "text")
	if err := provision(context.Background()); err != nil {
		fail(err, 1)
	}
	beam.Init() // does not return in a worker
	if o.Inputs = flag.Args(); len(o.Inputs) == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := o.Validate(); err != nil {
		fail(err, 2)
	}
	if err := environment(); err != nil {
		fail(err, 1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	counts, err := run(ctx, o)
	if err != nil {
		fail(err, 1)
	}
	switch {
	case *asJSON:
		if err := json.NewEncoder(os.Stdout).Encode(counts); err != nil {
			fail(err, 1)
		}
	case !*quiet:
		fmt.Fprintf(os.Stderr, "%d graphs read, %d of them left out, %d transformed; %d outputs computed (%d in place of damaged ones) and %d kept\n",
			counts.Read, counts.Bad, counts.Transformed, counts.Computed, counts.Replaced, counts.Kept)
	}
}

func flags(o *pipeline.Options) {
	flag.StringVar(&o.Model, "model", "", "model file, as mlg fit and mlg train write it")
	flag.StringVar(&o.Tiles, "tiles", "", "folder for the tiles of the Gram matrix")
	flag.StringVar(&o.Embeddings, "embeddings", "", "folder for the vectors, as .npy files")
	flag.StringVar(&o.Train, "train", "", "file for the model that is learned from all graphs")
	flag.StringVar(&o.Predictions, "predictions", "", "folder for the predictions, as JSON Lines")
	flag.IntVar(&o.Nearest, "nearest", o.Nearest, "number of nearest training graphs that predictions name")
	flag.Float64Var(&o.Interval, "interval", o.Interval, "per cent of measured values that should lie in their interval")
	flag.IntVar(&o.Dim, "dimension", o.Dim, "dimension of the vectors")
	flag.StringVar((*string)(&o.Pivots), "pivots", string(o.Pivots), "how landmarks are chosen, as for mlg embed")
	flag.Uint64Var(&o.Seed, "pivot-seed", 0, "seed of the choice of landmarks")
	flag.IntVar(&o.Side, "tile-side", o.Side, "rows and columns of a tile, rows of a file of vectors or predictions")
	flag.StringVar(&o.Read.Structure, "structure", "", "column of a table that has the SMILES, or several with commas")
	flag.StringVar(&o.Read.TargetColumn, "target", "", "column or data field that has the class or value")
	flag.StringVar(&o.Read.IDColumn, "id-column", "", "column or data field that has the identifier")
	flag.IntVar(&o.PartBytes, "part-bytes", o.PartBytes, "bytes of the parts into which local files of lines are cut")
	flag.IntVar(&o.Batch, "batch", o.Batch, "graphs that are transformed together")
	flag.IntVar(&o.Threads, "threads", o.Threads, "goroutines for the work on a batch; runners work on several at a time")
	flag.StringVar(&o.Device, "device", o.Device, "what computes on a worker: cpu, cuda (an NVIDIA GPU) or auto")
	flag.BoolVar(&o.SkipInvalid, "skip-invalid", false, "leave out graphs that cannot be read or transformed and list them in "+pipeline.BadName)
	flag.StringVar((*string)(&o.Read.Format), "format", string(o.Read.Format), "format of the inputs")
}

func run(ctx context.Context, o pipeline.Options) (pipeline.Counts, error) {
	job, err := pipeline.New(ctx, o)
	if err != nil {
		return pipeline.Counts{}, err
	}
	// The SDK leaves files in the folder for temporary ones.
	temp, err := os.MkdirTemp("", "mlg-beam-")
	if err != nil {
		return pipeline.Counts{}, err
	}
	defer os.RemoveAll(temp)
	if err := os.Setenv("TMPDIR", temp); err != nil {
		return pipeline.Counts{}, err
	}
	p, s := beam.NewPipelineWithRoot()
	job.Build(s)
	runner := *runners.Runner
	if runner == "" {
		runner = "prism"
	}
	r, err := beam.Run(ctx, runner, p)
	if err != nil {
		return pipeline.Counts{}, err
	}
	if flag.Lookup("async").Value.String() == "true" {
		return pipeline.Counts{}, nil
	}
	counts := job.Counts(r)
	if counts.Transformed == 0 {
		return counts, errors.New(strings.Join(o.Inputs, ", ") + ": no graphs")
	}
	return counts, nil
}

func fail(err error, code int) {
	fmt.Fprintln(os.Stderr, "mlg-beam:", err)
	os.Exit(code)
}
