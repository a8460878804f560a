package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/work"
)

type clusterCmd struct {
	Data   string `arg:"" help:"Dataset, or a model file: then its training graphs are grouped."`
	Groups int    `help:"Number of groups. 0 takes the number with the largest mean silhouette." short:"k" name:"groups" default:"0" least:"0" group:"Groups"`
	Most   int    `help:"With --groups 0: the largest number to try." default:"20" least:"2" group:"Groups"`
	CSV    bool   `help:"Print the group of every graph as CSV." name:"csv" group:"Groups"`
	Out    string `help:"Write to this file instead of standard output." short:"o" placeholder:"FILE" ends:"" group:"Groups"`
	sourceFlags
}

// grouping is what the command finds.
type grouping struct {
	Data       string    `json:"data"`
	Kernel     string    `json:"kernel"`
	Graphs     int       `json:"graphs"`
	Chosen     bool      `json:"chosen"`           // the number of groups
	Tried      []float64 `json:"tried,omitempty"`  // mean silhouettes of 2, 3, … groups
	Silhouette float64   `json:"silhouette"`       // mean
	Purity     *float64  `json:"purity,omitempty"` // share of graphs with the most frequent target of their group
	Groups     []group   `json:"groups"`
}

type group struct {
	Size       int            `json:"size"`
	Typical    string         `json:"typical"`
	Silhouette float64        `json:"silhouette"`
	Targets    map[string]int `json:"targets,omitempty"`
	Members    []member       `json:"members"`
}

type member struct {
	ID         string  `json:"id"`
	Target     string  `json:"target,omitempty"`
	Silhouette float64 `json:"silhouette"`
}

// Run groups the graphs of a dataset.
func (c *clusterCmd) Run(g *globals) error {
	s, err := c.open(g, c.Data, func(n int) error { return work.CheckMatrices(2, n, n, fewer) }) // with the distances
	if err != nil {
		return err
	}
	defer s.close()
	if s.store != nil {
		return fmt.Errorf("%s is a store, want a dataset or a model file", c.Data)
	}
	gram, err := s.Kernel.Gram(g.work())
	if err != nil {
		return err
	}
	r := &grouping{Data: s.name, Kernel: kernelText(s.Model), Graphs: s.Examples(), Chosen: c.Groups == 0}
	var found *cluster.Clustering
	if n := r.Graphs; c.Groups > n {
		g.note("--groups %d: there are only %s, so this makes %s", c.Groups, agree(n, "graph", "graphs"), agree(n, "group", "groups"))
	}
	if c.Groups > 0 {
		found, err = cluster.Medoids(g.ctx, gram, c.Groups)
	} else {
		found, r.Tried, err = cluster.Auto(g.work(), gram, c.Most)
	}
	if err != nil {
		return err
	}
	r.fill(found, s.IDs, s.Targets)
	return output(g, c.Out, func(w io.Writer) error {
		switch {
		case g.JSON:
			return printJSON(w, r)
		case c.CSV:
			g.forPrograms()
			return r.csv(w)
		}
		r.print(w)
		return nil
	})
}

func (r *grouping) fill(c *cluster.Clustering, ids, targets []string) {
	r.Silhouette = c.Mean
	known := targets != nil && !slices.Contains(targets, "")
	for i, m := range c.Medoids {
		r.Groups = append(r.Groups, group{Size: c.Sizes[i], Typical: ids[m], Targets: map[string]int{}})
	}
	for i, at := range c.Group {
		x := &r.Groups[at]
		p := member{ID: ids[i], Silhouette: c.Width[i]}
		if known {
			p.Target = targets[i]
			x.Targets[targets[i]]++
		}
		x.Members = append(x.Members, p)
		x.Silhouette += c.Width[i] / float64(x.Size)
	}
	if known {
		most := 0
		for _, x := range r.Groups {
			most += slices.Max(slices.Collect(maps.Values(x.Targets)))
		}
		share := float64(most) / float64(len(ids))
		r.Purity = &share
	}
}

func (r *grouping) csv(w io.Writer) error {
	t := csv.NewWriter(w)
	t.Write([]string{"id", "group", "typical", "silhouette", "target"})
	for i, g := range r.Groups {
		for _, m := range g.Members {
			t.Write([]string{m.ID, strconv.Itoa(i + 1), g.Typical, number(m.Silhouette), m.Target})
		}
	}
	t.Flush()
	return t.Error()
}

func (r *grouping) print(w io.Writer) {
	head := fmt.Sprintf("%s: %s in %s, mean silhouette %.3f", r.Data, agree(r.Graphs, "graph", "graphs"), agree(len(r.Groups), "group", "groups"), r.Silhouette)
	if len(r.Tried) > 0 {
		head += fmt.Sprintf(" (the largest of 2 to %d groups)", len(r.Tried)+1)
	}
	fmt.Fprintln(w, table.Wrap(head, 0, 2))
	targets := ""
	if r.Purity != nil {
		fmt.Fprintf(w, "%.1f %% have the most frequent target of their group\n", 100**r.Purity)
		targets = "  targets"
	}
	fmt.Fprintf(w, "\n%5s %5s  %-24s %10s%s\n", "group", "size", "typical", "silhouette", targets)
	for i, g := range r.Groups {
		if r.Purity != nil {
			targets = "  " + table.Clip(tally(g.Targets), 30)
		}
		fmt.Fprintf(w, "%5d %5d  %-24s %10.3f%s\n", i+1, g.Size, table.ClipMiddle(g.Typical, 24), g.Silhouette, targets)
	}
}
