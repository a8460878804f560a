package explorer

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain/draw"
)

func (s *Server) getHealth(*request) (any, error) {
	return map[string]any{"status": "ok", "running": len(s.heavy.slots), "waiting": s.heavy.waiting.Load(), "requests_waiting": s.light.waiting.Load()}, nil
}

// Info is what the page has to know about the source.
type Info struct {
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	Graphs     int         `json:"graphs"`
	HasGraphs  bool        `json:"has_graphs"` // they can be drawn, and kernels fitted to them
	Saved      bool        `json:"saved"`      // without parameters the model answers as its file has it
	Task       task        `json:"task"`
	Classes    []ClassInfo `json:"classes"`
	Range      []float64   `json:"range"` // least and largest target of regression, else empty
	Vertices   int         `json:"vertices"`
	Edges      int         `json:"edges"`
	Labels     bool        `json:"labels"`
	Molecules  bool        `json:"molecules"` // the first graph is drawn as one
	Attributes int         `json:"attributes"`
	Bases      []string    `json:"bases"` // base kernels that suit the graphs
	Parameters Parameters  `json:"parameters"`
	Core       int         `json:"core"`    // graphs in the Gram matrix
	Kernels    []string    `json:"kernels"` // of a model
	Warnings   []string    `json:"warnings"`
}

// ClassInfo is a class with its colour on the map.
type ClassInfo struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Color string `json:"color"`
}

func (s *Server) getInfo(*request) (any, error) {
	src := s.src
	i := Info{Name: src.Name, Version: s.o.Version, Graphs: len(src.IDs), HasGraphs: src.Graphs != nil, Saved: src.Model != nil, Task: src.task,
		Classes: []ClassInfo{}, Range: []float64{}, Bases: []string{}, Kernels: []string{}, Warnings: append([]string{}, src.Warnings...),
		Parameters: src.defaults(), Core: len(s.core)}
	if src.Graphs != nil {
		d, err := s.drawingOf(src.Graphs[0], 0)
		i.Molecules = err == nil && d.Molecule
	}
	for c, name := range src.classes {
		k := draw.ClassColor(c)
		i.Classes = append(i.Classes, ClassInfo{Name: name, Color: fmt.Sprintf("#%02x%02x%02x", k.R, k.G, k.B)})
	}
	for _, c := range src.class {
		if c >= 0 {
			i.Classes[c].Count++
		}
	}
	for g, t := range src.Targets {
		if src.task == regression && t != "" {
			v := src.value[g]
			if len(i.Range) == 0 {
				i.Range = []float64{v, v}
			}
			i.Range[0], i.Range[1] = min(i.Range[0], v), max(i.Range[1], v)
		}
	}
	for _, g := range src.Graphs {
		i.Vertices += g.N()
		i.Edges += g.M()
		i.Labels = i.Labels || g.HasLabels()
		i.Attributes = max(i.Attributes, g.AttributeDim())
	}
	if i.Labels {
		i.Bases = append(i.Bases, "labels", "labels*degree")
	}
	if i.Attributes > 0 {
		i.Bases = append(i.Bases, "attributes", "gaussian")
	}
	if i.Labels && i.Attributes > 0 {
		i.Bases = append(i.Bases, "labels*gaussian")
	}
	i.Bases = append(i.Bases, "degree", "heat", "wl")
	if src.Model != nil {
		for _, k := range src.Model.Kernels {
			i.Kernels = append(i.Kernels, k.String())
		}
	}
	return i, nil
}

// getGraphs lists the graphs, one column per property.
func (s *Server) getGraphs(*request) (any, error) {
	out := struct {
		IDs     []string  `json:"ids"`
		Targets []string  `json:"targets"` // empty where there are none, as are classes and values
		Classes []int     `json:"classes"` // positions in the classes of info, −1 for none
		Values  []float64 `json:"values"`
		Nodes   []int     `json:"nodes"`
		Edges   []int     `json:"edges"`
	}{s.src.IDs, append([]string{}, s.src.Targets...), []int{}, append([]float64{}, s.src.value...), []int{}, []int{}}
	if s.src.task == classification {
		out.Classes = s.src.class
	}
	for _, g := range s.src.Graphs {
		out.Nodes = append(out.Nodes, g.N())
		out.Edges = append(out.Edges, g.M())
	}
	return out, nil
}

func (s *Server) getGraph(q *request) (any, error) {
	i, err := strconv.Atoi(q.PathValue("index"))
	if err != nil {
		return nil, badRequest("graph %q, want a number", q.PathValue("index"))
	}
	g, err := s.src.graph(i)
	if err != nil {
		return nil, err
	}
	return short(q, func(context.Context) (*GraphAnswer, error) { return s.graphAnswer(g, i) })
}

func (s *Server) postGraph(q *request) (any, error) {
	var r reference
	if err := q.readBody(&r); err != nil {
		return nil, err
	}
	g, i, err := s.resolve(r)
	if err != nil {
		return nil, err
	}
	return short(q, func(context.Context) (*GraphAnswer, error) { return s.graphAnswer(g, i) })
}

// postRead reads the text of a file in any format but TUDataset. Its name serves to recognise
// the format only.
func (s *Server) postRead(q *request) (any, error) {
	var body struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	if err := q.readBody(&body); err != nil {
		return nil, err
	}
	if len(body.Name) > 200 {
		return nil, badRequest("name: %d bytes, want at most 200", len(body.Name))
	}
	if strings.TrimSpace(body.Text) == "" {
		return nil, badRequest("text: empty, want the text of a file")
	}
	type one struct {
		ID     string  `json:"id"`
		Target string  `json:"target"`
		Nodes  int     `json:"nodes"`
		Edges  int     `json:"edges"`
		Graph  rawJSON `json:"graph"`
	}
	return short(q, func(ctx context.Context) (any, error) {
		o := s.src.Read
		o.Format = dataset.Auto
		o.Limits = dataset.Limits{Line: maxText, Record: maxText, Bytes: maxText, Ratio: 10, Vertices: maxVertices, Edges: maxEdges, Items: 1 << 20}
		ds, err := dataset.ReadFrom(ctx, strings.NewReader(body.Text), body.Name, o)
		if err != nil {
			return nil, badRequest("%v", err)
		}
		if len(ds.Graphs) == 0 || len(ds.Graphs) > maxRead {
			return nil, badRequest("%d graphs, want 1 to %d", len(ds.Graphs), maxRead)
		}
		ids := ds.IDs()
		out := []one{}
		for i, g := range ds.Graphs {
			line, err := dataset.AppendJSON(nil, g.With(ids[i], g.Target()))
			if err != nil {
				return nil, err
			}
			out = append(out, one{ids[i], g.Target(), g.N(), g.M(), line})
		}
		warnings := []string{}
		for _, w := range ds.Warnings {
			warnings = append(warnings, w.String())
		}
		return map[string]any{"graphs": out, "warnings": warnings}, nil
	})
}

// maxText bounds the text of a file; the body, which is larger by its escapes, has its own limit.
const maxText = 4 << 20
