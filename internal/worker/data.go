package worker

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/dataset/fetch"
	"github.com/mlgkernel/mlg/graph"
)

// reading returns how graphs are read: with the handle of a model they become like its training
// graphs.
func (c *call) reading(o dataset.Options) (dataset.Options, error) {
	if c.fitted != nil {
		o = c.fitted.model.Like(o)
	}
	return o, o.Validate()
}

type readArgs struct {
	Path string `json:"path"`
	dataset.Options
}

// targetColumn is what is learned of graphs.
type targetColumn struct {
	Values  []string `json:"values"` // "" where there is none
	Numeric bool     `json:"numeric"`
}

// targets returns those of a dataset: the columns that were taken for targets, or what the graphs have.
func targets(d *dataset.Dataset) []targetColumn {
	found := [][]string{d.Targets()}
	if d.Columns != nil && len(d.Columns.Roles.Targets) > 1 {
		found = nil
		for _, role := range d.Columns.Roles.Targets {
			found = append(found, d.Columns.Values(role.Column))
		}
	}
	var out []targetColumn
	for _, texts := range found {
		values, numeric := dataset.Learnable(texts)
		out = append(out, targetColumn{values, numeric})
	}
	return out
}

// read reads a dataset: a file, or the body of the request, which is then a table.
func (c *call) read(args readArgs) (any, error) {
	o, err := c.reading(args.Options)
	if err != nil {
		return nil, err
	}
	var d *dataset.Dataset
	if len(c.body) > 0 {
		d, err = dataset.ReadFrom(c.ctx, bytes.NewReader(c.body), args.Path, o)
	} else {
		d, err = dataset.Read(c.ctx, args.Path, o)
	}
	if err != nil {
		if _, e := os.Stat(args.Path); len(c.body) == 0 && errors.Is(e, fs.ErrNotExist) {
			err = failure{"missing", err}
		}
		return nil, err
	}
	info := struct {
		dataset.Summary
		Values  map[string][]string `json:"values"` // by column
		Learned []targetColumn      `json:"learned"`
	}{dataset.Survey(d), map[string][]string{}, targets(d)}
	info.LabelCounts = nil
	if d.Columns != nil {
		for _, name := range d.Columns.Names {
			info.Values[name] = d.Columns.Values(name)
		}
	}
	c.putBytes("graphs", graph.Encode(d.Graphs))
	return info, nil
}

type smilesArgs struct {
	SMILES []string `json:"smiles"`
	dataset.Options
}

// smiles parses molecules. The result has the place of the first that cannot be parsed.
func (c *call) smiles(args smilesArgs) (any, error) {
	o, err := c.reading(args.Options)
	if err != nil {
		return nil, err
	}
	graphs := make([]*graph.Graph, len(args.SMILES))
	for i, text := range args.SMILES {
		g, err := dataset.ParseSMILES(text, o)
		if err != nil {
			return map[string]any{"index": i, "error": err.Error()}, nil
		}
		graphs[i] = g.With(text, "") // as the command names it
	}
	c.putBytes("graphs", graph.Encode(graphs))
	return nil, nil
}

// scaffolds numbers the scaffolds of molecules.
func (c *call) scaffolds(struct{}) (any, error) {
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	groups, err := chem.Scaffolds(graphs)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(groups))
	for i, g := range groups {
		out[i] = int64(g)
	}
	c.put("group", out, len(out))
	return nil, nil
}

type fetchArgs struct {
	Name  string `json:"name"`
	Cache string `json:"cache"`
	URL   string `json:"url"`
	Force bool   `json:"force"`
}

// fetch downloads a collection and returns its path.
func (c *call) fetch(args fetchArgs) (any, error) {
	o, err := fetch.DefaultOptions()
	if err != nil {
		return nil, err
	}
	if args.Cache != "" {
		o.CacheDir = args.Cache
	}
	if args.URL != "" {
		o.BaseURL = args.URL
	}
	o.Force = args.Force
	path, err := fetch.Collection(c.ctx, args.Name, o)
	if err != nil {
		return nil, failure{"file", err}
	}
	return map[string]any{"path": path}, nil
}
