package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

type clusterCmd struct {
	dataFlags
	kernelFlag
	kernelFlags
	Data   string `arg:"" help:"Dataset, or a model file, whose training graphs are grouped."`
	Groups int    `help:"Number of groups; 0 chooses it by silhouettes." short:"k" name:"groups" default:"0" group:"Groups"`
	Most   int    `help:"With --groups 0: the largest number to try." default:"20" group:"Groups"`
	CSV    bool   `help:"Print the group of every graph as CSV." name:"csv" group:"Groups"`
	Out    string `help:"Write to this file instead of standard output." short:"o" placeholder:"FILE" group:"Groups"`
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
	switch {
	case c.CSV && g.JSON:
		return usageError("--csv and --json exclude each other")
	case c.Groups < 0:
		return usageError("--groups: want 1 or more, or 0 for a number that fits")
	case c.Most < 2:
		return usageError("--most: want at least 2")
	}
	bar := newBar(g)
	defer bar.done()
	r, ids, targets, gram, err := c.gram(g, bar)
	if err != nil {
		return err
	}
	var found *cluster.Clustering
	if c.Groups > 0 {
		found, err = cluster.Medoids(g.ctx, gram, c.Groups)
	} else {
		r.Chosen = true
		found, r.Tried, err = cluster.Auto(g.work(bar), gram, c.Most)
	}
	if err != nil {
		return err
	}
	bar.done()
	r.fill(found, ids, targets)
	return output(g, c.Out, func(w io.Writer) error {
		switch {
		case g.JSON:
			return printJSON(w, r)
		case c.CSV:
			return r.csv(w)
		}
		r.print(w)
		return nil
	})
}

// gram returns the kernel matrix of the graphs.
func (c *clusterCmd) gram(g *globals, bar *bar) (r *grouping, ids, targets []string, k *kernel.Matrix, err error) {
	if model.Is(c.Data) {
		if flag := c.named(&c.kernelFlags); flag != "" {
			return nil, nil, nil, nil, usageError(flag + ": a model has its kernel; the flag is for a dataset")
		}
		m, err := readModel(g, c.Data)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		r := &grouping{Data: c.Data, Kernel: kernelText(m)}
		k, err := m.Kernel.Gram(g.ctx)
		return r, m.IDs, m.Targets, k, err
	}
	ds, err := c.read(g, c.Data)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	m, err := c.fit(g, c.Kernel, ds.Graphs, bar)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	k, err = m.Kernel.Gram(g.work(bar))
	return &grouping{Data: ds.Name, Kernel: kernelText(m)}, ds.IDs(), ds.Targets(), k, err
}

func (r *grouping) fill(c *cluster.Clustering, ids, targets []string) {
	r.Graphs, r.Silhouette = len(ids), c.Mean
	known := targets != nil && !slices.Contains(targets, "")
	for i, m := range c.Medoids {
		r.Groups = append(r.Groups, group{Size: c.Sizes[i], Typical: ids[m]})
		if known {
			r.Groups[i].Targets = map[string]int{}
		}
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
			t.Write([]string{m.ID, strconv.Itoa(i + 1), g.Typical, strconv.FormatFloat(m.Silhouette, 'g', -1, 64), m.Target})
		}
	}
	t.Flush()
	return t.Error()
}

func (r *grouping) print(w io.Writer) {
	head := fmt.Sprintf("%s: %d graphs in %s, mean silhouette %.3f", r.Data, r.Graphs, agree(len(r.Groups), "group", "groups"), r.Silhouette)
	if r.Chosen && len(r.Tried) > 0 {
		head += fmt.Sprintf(" (the largest of 2 to %d groups)", len(r.Tried)+1)
	}
	fmt.Fprintln(w, breakLines(head, 0, 2))
	if r.Purity != nil {
		fmt.Fprintf(w, "%.1f %% have the most frequent target of their group\n", 100**r.Purity)
	}
	fmt.Fprintf(w, "\n%5s %5s  %-24s %10s", "group", "size", "typical", "silhouette")
	if r.Purity != nil {
		fmt.Fprint(w, "  targets")
	}
	fmt.Fprintln(w)
	for i, g := range r.Groups {
		fmt.Fprintf(w, "%5d %5d  %-24s %10.3f", i+1, g.Size, clip(g.Typical, 24), g.Silhouette)
		if r.Purity != nil {
			names := slices.SortedFunc(maps.Keys(g.Targets), func(a, b string) int {
				if d := g.Targets[b] - g.Targets[a]; d != 0 {
					return d
				}
				return strings.Compare(a, b)
			})
			var parts []string
			for _, n := range names {
				parts = append(parts, fmt.Sprintf("%s %d", n, g.Targets[n]))
			}
			fmt.Fprintf(w, "  %s", clip(strings.Join(parts, ", "), 30))
		}
		fmt.Fprintln(w)
	}
}
