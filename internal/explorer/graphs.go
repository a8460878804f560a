package explorer

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

type nothing struct{}

type healthAnswer struct {
	Status          string `json:"status" want:"one of ok"`
	Running         int    `json:"running" help:"long computations"`
	Waiting         int    `json:"waiting" help:"long computations"`
	RequestsWaiting int    `json:"requests_waiting" help:"short computations"`
}

func getHealth(q *request, _ *nothing) (healthAnswer, error) {
	return healthAnswer{"ok", len(q.s.heavy.slots), int(q.s.heavy.waiting.Load()), int(q.s.light.waiting.Load())}, nil
}

// infoAnswer is what the page has to know about the data.
type infoAnswer struct {
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	Graphs     int         `json:"graphs"`
	HasGraphs  bool        `json:"has_graphs" help:"they can be drawn, and kernels fitted to them"`
	Saved      bool        `json:"saved" help:"without parameters the model answers as its file has it"`
	Task       task        `json:"task" want:"one of classification regression none"`
	Classes    []classInfo `json:"classes"`
	Range      []float64   `json:"range" help:"least and largest target of regression, else empty"`
	Vertices   int         `json:"vertices"`
	Edges      int         `json:"edges"`
	Labels     bool        `json:"labels"`
	Attributes int         `json:"attributes"`
	Molecules  bool        `json:"molecules" help:"the first graph is drawn as one"`
	Parameters []parameter `json:"parameters" help:"of the kernel, with the defaults of requests"`
	Core       int         `json:"core" help:"graphs in the Gram matrix"`
	Kernels    []string    `json:"kernels" help:"terms of the kernel of a model"`
	Warnings   []string    `json:"warnings"`
}

// classInfo is a class with its colour on the map.
type classInfo struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Color string `json:"color"`
}

func getInfo(q *request, _ *nothing) (*infoAnswer, error) {
	s, d := q.s, q.s.data
	a := &infoAnswer{Name: d.Name, Version: s.o.Version, Graphs: len(d.IDs), HasGraphs: d.Graphs != nil, Saved: d.saved(), Task: d.task,
		Classes: []classInfo{}, Range: []float64{}, Kernels: []string{}, Warnings: d.info.Warnings, Core: len(s.core),
		Vertices: d.info.Vertices, Edges: d.info.Edges, Labels: d.info.NodeLabels > 0, Attributes: d.info.Attributes}
	if d.Graphs != nil {
		drawn, err := s.drawingOf(d.Graphs[0], 0)
		a.Molecules = err == nil && drawn.Molecule
	}
	for c, name := range d.classes {
		k := draw.ClassColor(c)
		a.Classes = append(a.Classes, classInfo{name, 0, fmt.Sprintf("#%02x%02x%02x", k.R, k.G, k.B)})
	}
	for _, c := range d.class {
		if c >= 0 {
			a.Classes[c].Count++
		}
	}
	if known := d.labelled(all(len(d.IDs))); d.task == regression && len(known) > 0 {
		values := pick(d.value, known)
		a.Range = []float64{slices.Min(values), slices.Max(values)}
	}
	a.Parameters = d.parameters()
	if d.saved() {
		for _, t := range d.Kernel.Sum.Terms {
			a.Kernels = append(a.Kernels, kernel.Sum{Terms: []kernel.Term{t}}.String())
		}
	}
	return a, nil
}

// bases returns base kernels that suit the graphs.
func (d *Data) bases() []string {
	var out []string
	if d.info.NodeLabels > 0 {
		out = append(out, "labels", "labels*degree")
	}
	if d.info.Attributes > 0 {
		out = append(out, "attributes", "gaussian(1)")
	}
	if d.info.NodeLabels > 0 && d.info.Attributes > 0 {
		out = append(out, "labels*gaussian(1)")
	}
	return append(out, "degree", "heat(0.5,1,2)", "wl(3)")
}

// graphsAnswer lists the graphs, one list per property. Lists of what the data lacks are empty.
type graphsAnswer struct {
	IDs     []string  `json:"ids"`
	Targets []string  `json:"targets"`
	Classes []int     `json:"classes" help:"positions in the classes of info, −1 for none"`
	Values  []float64 `json:"values"`
	Nodes   []int     `json:"nodes"`
	Edges   []int     `json:"edges"`
}

func getGraphs(q *request, _ *nothing) (*graphsAnswer, error) {
	d := q.s.data
	a := &graphsAnswer{d.IDs, append([]string{}, d.Targets...), []int{}, append([]float64{}, d.value...), []int{}, []int{}}
	if d.task == classification {
		a.Classes = d.class
	}
	for _, g := range d.Graphs {
		a.Nodes = append(a.Nodes, g.N())
		a.Edges = append(a.Edges, g.M())
	}
	return a, nil
}

// Limits of graphs in requests.
const (
	maxSMILES   = 4000
	maxVertices = 5000
	maxEdges    = 50000
	maxRead     = 1000 // graphs of a file
)

// graphJSON is a graph as a line of Graph JSON Lines.
type graphJSON []byte

// MarshalJSON returns the text itself.
func (g graphJSON) MarshalJSON() ([]byte, error) { return g, nil }

// UnmarshalJSON keeps the text.
func (g *graphJSON) UnmarshalJSON(text []byte) error {
	*g = slices.Clone(text)
	return nil
}

// reference names a graph in a request, by one of the three.
type reference struct {
	Index  *int      `json:"index,omitempty" help:"position of a graph of the data, from 0"`
	SMILES *string   `json:"smiles,omitempty" want:"1 to 4000" help:"a molecule"`
	Graph  graphJSON `json:"graph,omitempty"`
}

// position returns the position in the data that a reference names, −1 for a new graph.
func (s *Server) position(r reference) (int, error) {
	given := 0
	for _, b := range []bool{r.Index != nil, r.SMILES != nil, r.Graph != nil} {
		if b {
			given++
		}
	}
	if given != 1 {
		return -1, badRequest("a graph is given by one of index, smiles and graph; %d of them are there", given)
	}
	if r.Index == nil {
		return -1, nil
	}
	if i, n := *r.Index, len(s.data.IDs); i < 0 || i >= n {
		return -1, notFound("graph %d, want 0 … %d", i, n-1)
	}
	return *r.Index, nil
}

// resolve returns the graph that a reference names, and its position in the data or −1.
func (s *Server) resolve(r reference) (*graph.Graph, int, error) {
	i, err := s.position(r)
	switch {
	case err != nil:
		return nil, -1, err
	case i < 0:
		g, err := s.newGraph(r, 0)
		return g, -1, err
	case s.data.Graphs == nil:
		return nil, -1, cannot("the model file holds no graphs, only what was learned from them")
	}
	return s.data.Graphs[i], i, nil
}

// newGraph reads a graph of a request. Without an identifier it gets its number among the graphs
// of the request, from 1.
func (s *Server) newGraph(r reference, before int) (*graph.Graph, error) {
	g, err := s.readGraph(r)
	if err != nil {
		return nil, err
	}
	if g.N() > maxVertices || g.M() > maxEdges {
		return nil, badRequest("a graph of %d vertices and %d edges, want at most %d and %d", g.N(), g.M(), maxVertices, maxEdges)
	}
	if g.N() == 0 {
		return nil, badRequest("a graph without vertices")
	}
	if g.ID() == "" {
		g = g.With(strconv.Itoa(before+1), g.Target())
	}
	return g, nil
}

// readGraph reads a graph of a request as the data was read.
func (s *Server) readGraph(r reference) (*graph.Graph, error) {
	o := s.data.read
	o.Limits.Vertices, o.Limits.Edges = maxVertices, maxEdges
	if r.SMILES == nil {
		o.Format = dataset.JSONLines
		ds, err := dataset.ReadFrom(context.Background(), bytes.NewReader(r.Graph), "graph", o)
		if err != nil {
			return nil, badRequest("graph: %v", err)
		}
		if len(ds.Graphs) != 1 {
			return nil, badRequest("graph: %d graphs, want one", len(ds.Graphs))
		}
		return ds.Graphs[0], nil
	}
	text := strings.TrimSpace(*r.SMILES)
	if text == "" {
		return nil, badRequest("smiles: empty, want a molecule")
	}
	if len(text) > maxSMILES {
		return nil, badRequest("smiles: %d bytes, want at most %d", len(text), maxSMILES)
	}
	g, err := dataset.ParseSMILES(text, o)
	if err != nil {
		return nil, badRequest("smiles: %v", err)
	}
	return g.With(text, ""), nil
}

// graphAnswer is a graph with its drawing.
type graphAnswer struct {
	Index   int       `json:"index" help:"position in the data, −1 for a graph of the request"`
	Graph   graphJSON `json:"graph"`
	Drawing drawing   `json:"drawing"`
}

// drawing is a picture without its background, and where its vertices are.
type drawing struct {
	SVG      string       `json:"svg"`
	Width    float64      `json:"width"`
	Height   float64      `json:"height"`
	Molecule bool         `json:"molecule"`
	Vertices [][2]float64 `json:"vertices" help:"places; empty where the graph is drawn in part"`
}

func getGraph(q *request, in *struct {
	Index int `json:"index" help:"position of a graph of the data, from 0"`
}) (*graphAnswer, error) {
	return postGraph(q, &reference{Index: &in.Index})
}

func postGraph(q *request, in *reference) (*graphAnswer, error) {
	g, i, err := q.s.resolve(*in)
	if err != nil {
		return nil, err
	}
	return short(q, func(context.Context) (*graphAnswer, error) {
		if i >= 0 {
			g = g.With(q.s.data.IDs[i], g.Target())
		}
		line, err := dataset.AppendJSON(nil, g)
		if err != nil {
			return nil, err
		}
		drawn, err := q.s.drawingOf(g, i)
		return &graphAnswer{i, line, drawn}, err
	})
}

// drawings keeps drawings of the graphs of the data.
type drawings struct {
	mu   sync.Mutex
	kept map[int]drawing
}

const (
	maxDrawings = 500  // that are kept
	maxDrawn    = 1500 // vertices that are drawn one by one
)

// drawingOf draws a graph, graph i of the data unless i is −1.
func (s *Server) drawingOf(g *graph.Graph, i int) (drawing, error) {
	d := &s.drawings
	d.mu.Lock()
	old, ok := d.kept[i]
	d.mu.Unlock()
	if ok {
		return old, nil
	}
	out, err := drawGraph(g)
	if err != nil || i < 0 {
		return out, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil || len(d.kept) >= maxDrawings {
		d.kept = map[int]drawing{}
	}
	d.kept[i] = out
	return out, nil
}

func drawGraph(g *graph.Graph) (drawing, error) {
	o := draw.DefaultOptions()
	o.Size, o.Transparent, o.MaxVertices, o.MaxEdges = draw.Size{Width: 520, Height: 400}, true, maxDrawn, 4*maxDrawn
	p, err := draw.Graph(g, o)
	if err != nil {
		return drawing{}, err
	}
	d := drawing{SVG: string(p.SVG()), Molecule: p.Molecule(), Vertices: append([][2]float64{}, p.Vertices()...)}
	d.Width, d.Height = p.Size()
	return d, nil
}

type readRequest struct {
	Name string `json:"name" want:"0 to 200" help:"of the file, to recognise the format; no file is opened"`
	Text string `json:"text"`
}

// readAnswer has graphs to be used in other requests.
type readAnswer struct {
	Graphs   []graphJSON `json:"graphs"`
	Warnings []string    `json:"warnings"`
}

// maxText bounds the text of a file; the body, which is larger by its escapes, has its own limit.
const maxText = 4 << 20

// postRead reads the text of a file in any format but TUDataset.
func postRead(q *request, in *readRequest) (*readAnswer, error) {
	if strings.TrimSpace(in.Text) == "" {
		return nil, badRequest("text: empty, want the text of a file")
	}
	return short(q, func(ctx context.Context) (*readAnswer, error) {
		o := q.s.data.read
		o.Format = dataset.Auto
		o.Limits = dataset.Limits{Line: maxText, Record: maxText, Bytes: maxText, Ratio: 10, Vertices: maxVertices, Edges: maxEdges, Items: 1 << 20}
		ds, err := dataset.ReadFrom(ctx, strings.NewReader(in.Text), in.Name, o)
		if err != nil {
			return nil, badRequest("%v", err)
		}
		if len(ds.Graphs) == 0 || len(ds.Graphs) > maxRead {
			return nil, badRequest("%d graphs, want 1 to %d", len(ds.Graphs), maxRead)
		}
		ids, a := ds.IDs(), &readAnswer{Graphs: []graphJSON{}, Warnings: ds.Warnings}
		for i, g := range ds.Graphs {
			line, err := dataset.AppendJSON(nil, g.With(ids[i], g.Target()))
			if err != nil {
				return nil, err
			}
			a.Graphs = append(a.Graphs, line)
		}
		return a, nil
	})
}
