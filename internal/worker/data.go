package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// readOptions say how data is read, by the names of the flags of the command.
type readOptions struct {
	Format        string `json:"format"`
	SMILESColumn  string `json:"smiles_column"`
	Target        string `json:"target"`
	ID            string `json:"id"`
	Hydrogens     bool   `json:"hydrogens"`
	AtomCharge    bool   `json:"atom_charge"`
	AtomAromatic  bool   `json:"atom_aromatic"`
	AtomHydrogens bool   `json:"atom_hydrogens"`
	SkipInvalid   bool   `json:"skip_invalid"`
	EdgeWeight    string `json:"edge_weight"`
}

func (r *readOptions) options() (dataset.Options, error) {
	o := dataset.DefaultOptions()
	if r.Format != "" && r.Format != "auto" {
		f, err := dataset.ParseFormat(r.Format)
		if err != nil {
			return o, err
		}
		o.Format = f
	}
	o.SMILESColumn, o.TargetColumn, o.IDColumn = r.SMILESColumn, r.Target, r.ID
	if r.Hydrogens {
		o.Hydrogens = dataset.HydrogensExplicit
	}
	o.AtomCharge, o.AtomAromatic, o.AtomHydrogens, o.SkipInvalid = r.AtomCharge, r.AtomAromatic, r.AtomHydrogens, r.SkipInvalid
	return o, o.Validate()
}

// notThere is an error about something that does not exist, with a text of its own.
type notThere struct{ error }

func (notThere) Is(target error) bool { return target == fs.ErrNotExist }

// read reads a dataset.
func (s *server) read(ctx context.Context, q *request, a *answer) error {
	args := struct {
		Path string `json:"path"`
		readOptions
	}{readOptions: readOptions{EdgeWeight: "weight"}}
	if err := arguments(q, &args); err != nil {
		return err
	}
	o, err := args.options()
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
	w, err := dataset.ParseEdgeWeight(args.EdgeWeight)
	if err != nil {
		return err
	}
	if d, err = d.Reweight(w); err != nil {
		return err
	}
	warnings := []string{}
	for _, w := range d.Warnings {
		warnings = append(warnings, w.String())
	}
	info := dataset.Info(d)
	info.LabelCounts = nil
	a.Result = map[string]any{"name": d.Name, "warnings": warnings, "info": info}
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
	o, err := dataset.DefaultFetchOptions()
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
	path, err := dataset.Fetch(ctx, args.Name, o)
	if err != nil {
		return outside{err}
	}
	a.Result = map[string]any{"path": path}
	return nil
}

// smiles parses molecules; an error names the place of the molecule in the list.
func (s *server) smiles(_ context.Context, q *request, a *answer) error {
	var args struct {
		SMILES []string `json:"smiles"`
		readOptions
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	o, err := args.options()
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
