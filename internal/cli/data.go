package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/mlgkernel/mlg/dataset"
)

// dataFlags say how datasets are read.
type dataFlags struct {
	Format       string `help:"Format of the data: auto, tudataset, smiles, csv, tsv, sdf, jsonl, graphml, dot, edgelist." default:"auto" enum:"auto,tudataset,smiles,csv,tsv,sdf,jsonl,graphml,dot,edgelist" group:"Reading data"`
	SMILESColumn string `help:"Column of a table that has the SMILES." name:"smiles-column" placeholder:"NAME" group:"Reading data"`
	Target       string `help:"Column or data field that has the class or value." placeholder:"NAME" group:"Reading data"`
	ID           string `help:"Column or data field that has the identifier." name:"id" placeholder:"NAME" group:"Reading data"`
	Hydrogens    bool   `help:"Make all hydrogens of molecules vertices." group:"Reading data"`
	AtomCharge   bool   `help:"Charges are part of atom labels." group:"Reading data"`
	AtomAromatic bool   `help:"Aromaticity is part of atom labels." group:"Reading data"`
	AtomH        bool   `help:"Numbers of hydrogens are part of atom labels." name:"atom-hydrogens" group:"Reading data"`
	SkipInvalid  bool   `help:"Leave out molecules that cannot be read, and count them." group:"Reading data"`
	EdgeWeight   string `help:"Edge weights: unit, weight (as in the file), order (bond order or edge label)." default:"weight" enum:"unit,weight,order" group:"Reading data"`
}

func (f *dataFlags) options() (dataset.Options, error) {
	o := dataset.DefaultOptions()
	if f.Format != "auto" {
		format, err := dataset.ParseFormat(f.Format)
		if err != nil {
			return o, usageError(err.Error())
		}
		o.Format = format
	}
	o.SMILESColumn, o.TargetColumn, o.IDColumn = f.SMILESColumn, f.Target, f.ID
	if f.Hydrogens {
		o.Hydrogens = dataset.HydrogensExplicit
	}
	o.AtomCharge, o.AtomAromatic, o.AtomHydrogens = f.AtomCharge, f.AtomAromatic, f.AtomH
	o.SkipInvalid = f.SkipInvalid
	return o, nil
}

// read reads a dataset and prints its warnings.
func (f *dataFlags) read(g *globals, path string) (*dataset.Dataset, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	ds, err := dataset.Read(g.ctx, path, o)
	if err != nil {
		return nil, nearFile(path, err)
	}
	w, err := dataset.ParseEdgeWeight(f.EdgeWeight)
	if err != nil {
		return nil, usageError(err.Error())
	}
	if ds, err = ds.Reweight(w); err != nil {
		return nil, err
	}
	for _, w := range ds.Warnings {
		g.note("%s: %s", ds.Name, w)
	}
	if len(ds.Graphs) == 0 {
		return nil, fmt.Errorf("%s: no graphs", path)
	}
	return ds, nil
}

func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, string(b))
	return err
}

type infoCmd struct {
	dataFlags
	Data []string `arg:"" help:"Datasets: paths, or builtin:drugs, builtin:scales."`
}

// Run prints what is in the datasets.
func (c *infoCmd) Run(g *globals) error {
	for i, path := range c.Data {
		o, err := c.options()
		if err != nil {
			return err
		}
		ds, err := dataset.Read(g.ctx, path, o)
		if err != nil {
			return nearFile(path, err)
		}
		s := dataset.Info(ds)
		if g.JSON {
			if err := printJSON(g.stdout, s); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(g.stdout)
		}
		if _, err := fmt.Fprint(g.stdout, s.String()); err != nil {
			return err
		}
	}
	return nil
}

type convertCmd struct {
	dataFlags
	Data string `arg:"" help:"Dataset to read."`
	Out  string `arg:"" help:"File or folder to write: .jsonl, .graphml, or a folder for a TUDataset."`
	To   string `help:"Format to write: jsonl, graphml, tudataset; auto goes by the name of OUT." default:"auto" enum:"auto,jsonl,graphml,tudataset"`
}

// Run converts a dataset.
func (c *convertCmd) Run(g *globals) error {
	ds, err := c.read(g, c.Data)
	if err != nil {
		return err
	}
	to := dataset.Auto
	if c.To != "auto" {
		if to, err = dataset.ParseFormat(c.To); err != nil {
			return usageError(err.Error())
		}
	}
	if err := g.write(c.Out, func() error { return dataset.WriteDataset(g.ctx, c.Out, ds, to) }); err != nil {
		return err
	}
	if g.JSON {
		return printJSON(g.stdout, map[string]any{"graphs": len(ds.Graphs), "file": c.Out, "warnings": texts(ds.Warnings)})
	}
	g.note("wrote %d graphs to %s", len(ds.Graphs), c.Out)
	return nil
}

// texts returns warnings as they are printed.
func texts(warnings []dataset.Warning) []string {
	out := make([]string, len(warnings))
	for i, w := range warnings {
		out[i] = w.String()
	}
	return out
}

type fetchCmd struct {
	Names []string `arg:"" help:"Names of collections, such as MUTAG."`
	Force bool     `help:"Download again what is in the cache."`
	URL   string   `help:"Folder of the zip files." name:"url" placeholder:"URL"`
}

// Run downloads collections.
func (c *fetchCmd) Run(g *globals) error {
	o, err := dataset.DefaultFetchOptions()
	if err != nil {
		return err
	}
	o.Force = c.Force
	if c.URL != "" {
		o.BaseURL = c.URL
	}
	type fetched struct {
		Name string `json:"name"`
		File string `json:"file"`
	}
	var all []fetched
	for _, name := range c.Names {
		bar := newBar(g)
		o.Progress = func(done, total int64) { bar.show("download "+name, done, total, "B") }
		path, err := dataset.Fetch(g.ctx, name, o)
		bar.done()
		if err != nil {
			return err
		}
		all = append(all, fetched{name, path})
		if !g.JSON {
			fmt.Fprintln(g.stdout, path)
		}
	}
	if g.JSON {
		return printJSON(g.stdout, all)
	}
	return nil
}
