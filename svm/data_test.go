package svm

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
)

// dataset reads the labelled graphs of a TUDataset folder and returns the normalised
// Weisfeiler-Lehman Gram matrix with h iterations and the classes, renumbered 0, 1, … in
// the order in which they first occur (which is the order that LIBSVM gives them).
func dataset(t testing.TB, name string, h int) (*mlg.Matrix, []int) {
	t.Helper()
	root := os.Getenv("MLG_DATASETS")
	if root == "" {
		root = "../../shared/datasets"
	}
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		t.Skipf("dataset %s not found: set MLG_DATASETS to the folder that holds it", name)
	}
	read := func(what string) [][]int {
		rows, err := readInts(filepath.Join(root, name, name+"_"+what+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	indicator, labels, edges := read("graph_indicator"), read("node_labels"), read("A")
	neighbours := make([][]int, len(labels))
	for _, e := range edges {
		neighbours[e[0]-1] = append(neighbours[e[0]-1], e[1]-1)
	}
	classes := map[int]int{}
	var y []int
	for _, c := range read("graph_labels") {
		if _, ok := classes[c[0]]; !ok {
			classes[c[0]] = len(classes)
		}
		y = append(y, classes[c[0]])
	}
	colour := make([]int, len(labels))
	for v := range labels {
		colour[v] = labels[v][0]
	}
	gram := mlg.NewMatrix(len(y), len(y))
	for round := range h + 1 {
		if round > 0 {
			colour = refine(colour, neighbours)
		}
		addHistograms(gram, indicator, colour)
	}
	normalise(gram)
	return gram, y
}

// refine gives vertices the same colour if they and their neighbours had the same colours.
func refine(colour []int, neighbours [][]int) []int {
	names := map[string]int{}
	next := make([]int, len(colour))
	for v, ns := range neighbours {
		around := make([]int, len(ns))
		for k, u := range ns {
			around[k] = colour[u]
		}
		slices.Sort(around)
		key := fmt.Sprint(colour[v], around)
		if _, ok := names[key]; !ok {
			names[key] = len(names)
		}
		next[v] = names[key]
	}
	return next
}

// addHistograms adds the dot products of the colour histograms of the graphs.
func addHistograms(gram *mlg.Matrix, indicator [][]int, colour []int) {
	counts := map[int]map[int]float64{} // colour, graph
	for v, c := range colour {
		if counts[c] == nil {
			counts[c] = map[int]float64{}
		}
		counts[c][indicator[v][0]-1]++
	}
	for _, graphs := range counts {
		for a, x := range graphs {
			row := gram.Row(a)
			for b, y := range graphs {
				row[b] += x * y // integers: any order gives the same sum
			}
		}
	}
}

func normalise(gram *mlg.Matrix) {
	d := make([]float64, gram.Rows)
	for i := range d {
		d[i] = math.Sqrt(gram.At(i, i))
	}
	for i := range d {
		for j := range d {
			gram.Set(i, j, gram.At(i, j)/(d[i]*d[j]))
		}
		gram.Set(i, i, 1)
	}
}

func readInts(path string) ([][]int, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows [][]int
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var row []int
		for field := range strings.SplitSeq(sc.Text(), ",") {
			v, err := strconv.Atoi(strings.TrimSpace(field))
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, len(rows)+1, err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows, sc.Err()
}
