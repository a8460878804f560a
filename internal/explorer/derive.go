package explorer

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// deriveRequest makes other data of the data: some of the graphs, with values that were measured since.
type deriveRequest struct {
	Name     string        `json:"name" want:"1 to 200" help:"what the new data are called"`
	Graphs   []int         `json:"graphs,omitempty" help:"graphs that are kept, by their positions; by default all"`
	Batch    string        `json:"batch,omitempty" help:"the batch that measured graphs are of; without it they are graphs of the data"`
	Measured []measurement `json:"measured,omitempty" help:"new targets"`
	kernelRequest
}

// measurement is a target of a graph.
type measurement struct {
	Index  int          `json:"index" help:"position of the graph in the batch, or in the data"`
	Target string       `json:"target" want:"0 to 200" help:"empty where only others were measured"`
	Others []otherValue `json:"others,omitempty" help:"values of columns of the data that were measured too"`
}

// otherValue is a value of a column.
type otherValue struct {
	Column string `json:"column"`
	Value  string `json:"value" want:"1 to 200"`
}

// check returns an error for what cannot be measured.
func (m *measurement) check(d *Data, field string) error {
	number := func(what, text string) error {
		if v, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return badRequest(what, "%s: %q, want a number", field, text)
		}
		return nil
	}
	if m.Target == "" && len(m.Others) == 0 {
		return badRequest(field+".target", "%s: no target", field)
	}
	if m.Target != "" && d.task == regression {
		if err := number(field+".target", m.Target); err != nil {
			return err
		}
	}
	for k, o := range m.Others {
		at := fmt.Sprintf("%s.others[%d]", field, k)
		c, err := d.column(o.Column)
		if err != nil {
			return within(at, err)
		}
		if c.numeric {
			if err := number(at+".value", o.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// deriveAnswer says what was made.
type deriveAnswer struct {
	Source string   `json:"source" help:"name of the new data in requests"`
	Graphs int      `json:"graphs"`
	Batch  string   `json:"batch" help:"the same batch for the new data, predicted with the kernel of the request; empty for none"`
	Gone   []string `json:"gone" help:"names of files that the server does not keep any more"`
}

// roundColumn says in which round a graph was measured.
const roundColumn = "round"

// postDerive makes new data of the data. Graphs of a batch stand behind the others. The column round counts how often data were
// derived with new targets.
func postDerive(q *request, in *deriveRequest) (*deriveAnswer, error) {
	if q.s.o.ReadOnly {
		return nil, &apiError{http.StatusForbidden, "this server keeps no data but those it was started with", "body"}
	}
	if n := len(in.Name); n < 1 || n > maxName {
		return nil, badRequest("name", "name: %d bytes, want 1 to %d", n, maxName)
	}
	d := q.s.data
	kept, err := in.kept(q.s.data)
	if err != nil {
		return nil, err
	}
	var b *batch
	var graphs []*graph.Graph
	if in.Batch != "" {
		if b, err = q.s.batch(in.Batch); err != nil {
			return nil, err
		}
		graphs = b.graphs
	}
	made, err := d.derive(in, kept, graphs)
	if err != nil {
		return nil, err
	}
	x := q.s.newSource(made)
	out := &deriveAnswer{Source: x.id, Graphs: len(made.IDs)}
	if b != nil {
		_, key, err := x.choose(in.Kernel)
		if err != nil {
			return nil, err
		}
		out.Batch = rand.Text()
		b = &batch{id: out.Batch, name: b.name, s: x, key: key, graphs: b.graphs, lines: b.lines}
	}
	out.Gone = q.s.add(x)
	if b != nil {
		q.s.keep(b)
	}
	return out, nil
}

// kept returns the graphs of the data that are kept, ascending.
func (in *deriveRequest) kept(d *Data) ([]int, error) {
	if in.Graphs == nil {
		return kernel.UpTo(len(d.IDs)), nil
	}
	out := slices.Clone(in.Graphs)
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 {
		return nil, badRequest("graphs", "graphs: none, want at least one")
	}
	return out, d.hasAll(in.Graphs)
}

// derive returns new data. Measured graphs of a batch come behind those that are kept.
func (d *Data) derive(in *deriveRequest, kept []int, batch []*graph.Graph) (*Data, error) {
	from := batch
	if batch == nil {
		from = d.Graphs
	}
	measured := map[int]*measurement{} // by position in the batch or the data
	for k, m := range in.Measured {
		field := fmt.Sprintf("measured[%d]", k)
		if m.Index < 0 || m.Index >= len(from) {
			return nil, notFound(field+".index", "measured[%d]: graph %d, want 0 … %d", k, m.Index, len(from)-1)
		}
		if err := m.check(d, field); err != nil {
			return nil, err
		}
		if measured[m.Index] != nil {
			return nil, badRequest(field+".index", "measured[%d]: graph %d has a target already", k, m.Index)
		}
		measured[m.Index] = &m
	}
	ds := &dataset.Dataset{Name: in.Name}
	var fresh []int // of the batch
	for _, i := range kept {
		if d.Graphs[i] == nil {
			return nil, badRequest("graphs", "the model does not have graph %d, so nothing can be made of it", i)
		}
		target := d.Targets[i]
		if m := measured[i]; batch == nil && m != nil {
			target = cmp.Or(m.Target, target)
		}
		ds.Graphs = append(ds.Graphs, d.Graphs[i].With(d.IDs[i], target))
	}
	if batch != nil {
		for _, m := range in.Measured {
			fresh = append(fresh, m.Index)
			ds.Graphs = append(ds.Graphs, batch[m.Index].With(batch[m.Index].ID(), m.Target))
		}
	}
	out, err := fromDataset(ds, d.read, d.task)
	if err != nil {
		return nil, badRequest("measured", "%v", err)
	}
	out.targetName, out.colorName = d.targetName, d.colorName
	if d.smiles != nil {
		out.smiles = choose.Pick(d.smiles, kept)
		for _, i := range fresh {
			out.smiles = append(out.smiles, batch[i].SMILES())
		}
	}
	if d.lines != nil {
		out.lines = append(choose.Pick(d.lines, kept), make([]int, len(fresh))...)
	}
	for _, c := range d.columns {
		out.columns = append(out.columns, column{c.name, append(choose.Pick(c.values, kept), make([]string, len(fresh))...), c.numeric})
	}
	if len(measured) > 0 {
		out.measure(func(k int) *measurement {
			switch {
			case k >= len(kept):
				return &in.Measured[k-len(kept)]
			case batch == nil:
				return measured[kept[k]]
			}
			return nil
		})
	}
	return out, out.use(d.Kernel.Asked)
}

// measure writes what was measured besides the targets of graphs into their columns, and counts the round. of returns nil for
// graphs that were not measured.
func (d *Data) measure(of func(k int) *measurement) {
	for k := range d.IDs {
		if m := of(k); m != nil {
			for _, o := range m.Others {
				c, _ := d.column(o.Column) // it was checked
				c.values[k] = o.Value
			}
		}
	}
	d.countRound(func(k int) bool { return of(k) != nil })
}

// countRound writes the number of a new round into its column, for graphs that were measured in it.
func (d *Data) countRound(measured func(k int) bool) {
	at := slices.IndexFunc(d.columns, func(c column) bool { return c.name == roundColumn && c.numeric })
	round := 1
	if at < 0 {
		c := column{roundColumn, make([]string, len(d.IDs)), true}
		for i := range c.values {
			if d.Targets[i] != "" {
				c.values[i] = "0"
			}
		}
		at, d.columns = len(d.columns), append(d.columns, c)
	} else {
		for i := range d.IDs {
			if v := d.columns[at].number(i); v >= float64(round) {
				round = int(v) + 1
			}
		}
	}
	for k := range d.IDs {
		if measured(k) {
			d.columns[at].values[k] = strconv.Itoa(round)
		}
	}
}
