package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/fetch"
	"github.com/mlgkernel/mlg/graph"
)

// readArgs say how graphs are read, by the fields of dataset.Options. With the handle of a
// model they become like its training graphs.
type readArgs struct {
	Handle int64 `json:"handle"`
	dataset.Options
}

func (s *server) reading(args readArgs) (dataset.Options, error) {
	o := args.Options
	if args.Handle != 0 {
		f, err := s.handle(args.Handle)
		if err != nil {
			return o, err
		}
		if f.model != nil {
			o = o.Like(f.model.Reader)
		}
	}
	return o, o.Validate()
}

// notThere is an error about something that does not exist, with a text of its own.
type notThere struct{ error }

func (notThere) Is(target error) bool { return target == fs.ErrNotExist }

// read reads a dataset.
func (s *server) read(ctx context.Context, q *request, a *answer) error {
	args := struct {
		Path string `json:"path"`
		readArgs
	}{readArgs: readArgs{Options: dataset.DefaultOptions()}}
	if err := arguments(q, &args); err != nil {
		return err
	}
	o, err := s.reading(args.readArgs)
	if err != nil {
		return err
	}
	d, err := dataset.Read(ctx, args.Path, o)
	if err != nil {
		if _, e := os.Stat(args.Path); errors.Is(e, fs.ErrNotExist) {
			err = notThere{err}
		}
		return err
	}
	info := dataset.Info(d)
	info.LabelCounts = nil
	a.Result = map[string]any{"name": d.Name, "warnings": d.Warnings, "info": info}
	encodeGraphs(a, d.Graphs)
	return nil
}

// outside is an error of the world outside: a download that failed.
type outside struct{ error }

// fetch downloads a collection and returns its path.
func (s *server) fetch(ctx context.Context, q *request, a *answer) error {
	var args struct {
		Name  string `json:"name"`
		Cache string `json:"cache"`
		URL   string `json:"url"`
		Force bool   `json:"force"`
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	o, err := fetch.DefaultOptions()
	if err != nil {
		return err
	}
	if args.Cache != "" {
		o.CacheDir = args.Cache
	}
	if args.URL != "" {
		o.BaseURL = args.URL
	}
	o.Force = args.Force
	path, err := fetch.Collection(ctx, args.Name, o)
	if err != nil {
		return outside{err}
	}
	a.Result = map[string]any{"path": path}
	return nil
}

// smiles parses molecules; an error names the place of the molecule in the list.
func (s *server) smiles(_ context.Context, q *request, a *answer) error {
	args := struct {
		SMILES []string `json:"smiles"`
		readArgs
	}{readArgs: readArgs{Options: dataset.DefaultOptions()}}
	if err := arguments(q, &args); err != nil {
		return err
	}
	o, err := s.reading(args.readArgs)
	if err != nil {
		return err
	}
	var graphs []*graph.Graph
	var failed []map[string]any
	for i, text := range args.SMILES {
		g, err := dataset.ParseSMILES(text, o)
		if err != nil {
			failed = append(failed, map[string]any{"index": i, "error": err.Error()})
			continue
		}
		graphs = append(graphs, g)
	}
	if len(failed) > 0 {
		a.Result = map[string]any{"failed": failed}
		return nil
	}
	a.Result = map[string]any{"count": len(graphs)}
	encodeGraphs(a, graphs)
	return nil
}

// exactly returns the graphs of a batch that must have the given number.
func exactly(n int, l batchLayout, body []byte) ([]*graph.Graph, error) {
	graphs, _, err := decodeGraphs(l, body)
	if err == nil && len(graphs) != n {
		err = fmt.Errorf("%d graphs, want %d", len(graphs), n)
	}
	return graphs, err
}
