package baseline

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// loadDataset reads a folder in the TUDataset format, or skips the test when there is none.
func loadDataset(tb testing.TB, name string) []*graph.Graph {
	tb.Helper()
	root := os.Getenv("MLG_DATASETS")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "datasets")
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); err != nil {
		tb.Skipf("dataset %s is not in %s (set MLG_DATASETS)", name, root)
	}
	file := func(part string) [][]string {
		f, err := os.Open(filepath.Join(dir, name+"_"+part+".txt"))
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		var rows [][]string
		for sc := bufio.NewScanner(f); sc.Scan(); {
			row := strings.Split(sc.Text(), ",")
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			rows = append(rows, row)
		}
		return rows
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			tb.Fatal(err)
		}
		return n
	}
	var builders []*graph.Builder
	var owner, local []int
	for _, row := range file("graph_indicator") {
		g := number(row[0]) - 1
		for len(builders) <= g {
			builders = append(builders, graph.NewBuilder(0))
		}
		owner = append(owner, g)
		local = append(local, builders[g].AddVertex())
	}
	for v, row := range file("node_labels") {
		builders[owner[v]].SetLabel(local[v], row[0])
	}
	for v, row := range file("node_attributes") {
		x := make([]float64, len(row))
		for i := range row {
			var err error
			if x[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				tb.Fatal(err)
			}
		}
		builders[owner[v]].SetAttributes(local[v], x)
	}
	edgeLabels := file("edge_labels")
	for e, row := range file("A") {
		u, v := number(row[0])-1, number(row[1])-1
		if edgeLabels != nil {
			builders[owner[u]].AddLabeledEdge(local[u], local[v], 1, edgeLabels[e][0])
		} else {
			builders[owner[u]].AddEdge(local[u], local[v])
		}
	}
	graphs := make([]*graph.Graph, len(builders))
	for i, b := range builders {
		var err error
		if graphs[i], err = b.Build(); err != nil {
			tb.Fatalf("graph %d: %v", i, err)
		}
	}
	return graphs
}
