package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/splits"
)

// stratified is how graphs are dealt to folds without --split.
const stratified = "stratified"

// dealt deals the graphs to folds as --split says, and keeps the folds in the file of --save-splits. Kernels that it
// needs are fitted in a collection of the graphs.
func (c *evaluateCmd) dealt(g *globals, ds *dataset.Dataset, in *kernel.Collection) (*splits.Splits, error) {
	s, err := c.deal(g, ds, in)
	if err != nil && c.Split != stratified {
		err = fmt.Errorf("--split %s: %w", c.Split, err)
	}
	if err != nil || c.SaveSplits == "" {
		return s, err
	}
	return s, output(g, c.SaveSplits, func(w io.Writer) error { return s.Write(w, ds.IDs()) })
}

func (c *evaluateCmd) deal(g *globals, ds *dataset.Dataset, in *kernel.Collection) (*splits.Splits, error) {
	how, name, named := strings.Cut(c.Split, "=")
	switch {
	case strings.HasSuffix(c.Split, ".json"):
		f, err := os.Open(c.Split)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return splits.Read(f, ds.IDs())
	case how == "column" && name != "":
		values, err := cellsOf(ds, name)
		if err != nil {
			return nil, err
		}
		return c.byColumn(name, values)
	case how == "time" && name != "":
		values, err := cellsOf(ds, name)
		if err != nil {
			return nil, err
		}
		times, err := dataset.Times(ds.IDs(), values)
		if err != nil {
			return nil, err
		}
		return splits.ByTime(times, c.Folds)
	case named:
	case how == stratified:
		t, err := choose.ReadTargets(ds, choose.AutoTask)
		if err != nil {
			return nil, err
		}
		return t.Deal(c.Folds, c.Repeats, c.Splits)
	case how == "random":
		return splits.Random(len(ds.Graphs), c.Folds, c.Repeats, c.Splits)
	case how == "scaffold":
		groups, err := chem.Scaffolds(ds.Graphs)
		if err != nil {
			return nil, err
		}
		return splits.ByGroup("by scaffold", groups, c.Folds, c.Repeats, c.Splits)
	case how == "cluster":
		return c.byCluster(g, in)
	}
	return nil, usageError("want stratified, random, scaffold, cluster, column=NAME, time=NAME, or a file that ends in .json")
}

// byColumn keeps graphs with one value together, or takes the parts that the values name.
func (c *evaluateCmd) byColumn(name string, values []string) (*splits.Splits, error) {
	parts := map[string]bool{"train": false, "training": false, "valid": false, "validation": false, "val": false, "test": true}
	test, fixed := make([]bool, len(values)), true
	for i, v := range values {
		tested, part := parts[strings.ToLower(v)]
		test[i], fixed = tested, fixed && part
	}
	if fixed {
		return splits.Fixed(test)
	}
	return splits.ByGroup("by "+name, numbered(values), c.Folds, c.Repeats, c.Splits)
}

// numbered returns numbers for texts, equal ones for equal texts.
func numbered(texts []string) []int {
	numbers, out := map[string]int{}, make([]int, len(texts))
	for i, v := range texts {
		if _, known := numbers[v]; !known {
			numbers[v] = len(numbers)
		}
		out[i] = numbers[v]
	}
	return out
}

// byCluster keeps graphs together that are similar by the first kernel.
func (c *evaluateCmd) byCluster(g *globals, in *kernel.Collection) (*splits.Splits, error) {
	all, err := kernels(c.Kernel)
	if err != nil {
		return nil, err
	}
	k := all[0]
	g.bar.show("similarities", 0, 0, "")
	fitted, err := in.Fit(g.work(), k)
	if err != nil {
		return nil, err
	}
	groups, err := choose.Clusters(g.work(), fitted, choose.DefaultOptions().Examples, c.Folds)
	if err != nil {
		return nil, err
	}
	return splits.ByGroup("by cluster of "+k.String(), groups.Of, c.Folds, c.Repeats, c.Splits)
}

// cellsOf returns the cells of a column of the data, which every graph has to have.
func cellsOf(ds *dataset.Dataset, name string) ([]string, error) {
	values, err := ds.Column(name)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(values, dataset.Missing); i >= 0 {
		return nil, fmt.Errorf("graph %s has no value in column %s", ds.IDs()[i], name)
	}
	return values, nil
}
