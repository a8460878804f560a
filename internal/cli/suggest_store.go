package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/suggest"
)

// besideStore is what is known of the graphs of a store by their identifiers: a store has neither columns nor structures.
type besideStore struct {
	costs    string             // the file
	cost     map[string]float64 // nil where all cost 1
	excluded map[string]bool
}

// beside reads the files of --cost and --exclude for a store.
func (c *suggestCmd) beside() (*besideStore, error) {
	out := &besideStore{costs: c.Cost}
	if c.Cost != "" {
		out.cost = map[string]float64{}
		err := eachIdentifier(c.Cost, "cost", func(id, text string) error {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(v > 0) || math.IsInf(v, 1) {
				return fmt.Errorf("%s has the cost %q, want a positive number", id, text)
			}
			out.cost[id] = v
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("--cost: %w", err)
		}
	}
	if c.Exclude != "" {
		out.excluded = map[string]bool{}
		err := eachIdentifier(c.Exclude, "id", func(id, _ string) error {
			out.excluded[id] = true
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("--exclude: %w", err)
		}
	}
	return out, nil
}

// eachIdentifier calls f with the columns id and another of a CSV file.
func eachIdentifier(path, column string, f func(id, value string) error) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	r := csv.NewReader(in)
	head, err := r.Read()
	id, value := slices.Index(head, "id"), slices.Index(head, column)
	if err != nil || id < 0 || value < 0 {
		want := "the column id"
		if column != "id" {
			want = "the columns id and " + column
		}
		return fmt.Errorf("%s: want a CSV file with %s, as the pool is a store", path, want)
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := f(row[id], row[value]); err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", path, line, err)
		}
	}
}

// add sets what is known of the graphs of a block.
func (x *besideStore) add(b *suggest.Block) error {
	for _, id := range b.IDs {
		if x.cost != nil {
			v, ok := x.cost[id]
			if !ok {
				return fmt.Errorf("--cost: %s has no row for %s, want one for every graph of the store", x.costs, id)
			}
			b.Cost = append(b.Cost, v)
		}
		if x.excluded != nil {
			b.Excluded = append(b.Excluded, x.excluded[id])
		}
	}
	return nil
}
