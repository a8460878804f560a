package explorer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

type healthAnswer struct {
	Status          string `json:"status" want:"one of ok"`
	Running         int    `json:"running" help:"computations, but short ones"`
	Waiting         int    `json:"waiting" help:"computations, but short ones"`
	RequestsWaiting int    `json:"requests_waiting" help:"short computations"`
}

func getHealth(q *request, _ *struct{}) (healthAnswer, error) {
	return healthAnswer{"ok", q.s.heavy.running(), int(q.s.heavy.waiting.Load()), int(q.s.light.waiting.Load())}, nil
}

// infoAnswer describes the data for the page.
type infoAnswer struct {
	Source     string       `json:"source" help:"the name of this data in requests"`
	Given      bool         `json:"given" help:"it was given at the start"`
	Name       string       `json:"name"`
	Version    string       `json:"version"`
	Graphs     int          `json:"graphs"`
	Saved      bool         `json:"saved" help:"a model: requests without a kernel use it as it was trained"`
	Task       task         `json:"task" want:"one of classification regression none"`
	Classes    []classInfo  `json:"classes"`
	Range      []float64    `json:"range" help:"least and largest target of regression; otherwise empty"`
	TargetName string       `json:"target_name" help:"name of the targets"`
	ColumnName string       `json:"column_name" help:"the column to colour by where a request names none, empty for none"`
	Columns    []columnInfo `json:"columns" help:"the fields beside the graphs that have no other use"`
	ColorBy    []string     `json:"color_by" help:"what the data can be coloured by"`
	Fragments  bool         `json:"fragments" help:"the graphs are molecules that can be searched for fragments"`
	SMILES     bool         `json:"smiles" help:"SMILES can be exported"`
	Uploads    bool         `json:"uploads" help:"the server takes files"`
	Limits     infoLimits   `json:"limits"`
	Palette    draw.Palette `json:"palette" help:"the colours of scales"`
	Vertices   int          `json:"vertices"`
	Edges      int          `json:"edges"`
	Labels     bool         `json:"labels"`
	Attributes int          `json:"attributes"`
	Molecules  bool         `json:"molecules" help:"the first graph is a molecule"`
	Thing      string       `json:"thing" want:"one of row molecule graph" help:"what a graph of the data is: a row has several structures, or values beside one"`
	Parts      []string     `json:"parts" help:"what the rows of a table are compared by, in the order in which smiles has it with semicolons between; empty for other graphs"`
	Kernel     string       `json:"kernel" help:"the kernel of requests that choose none"`
	Kernels    []kernelInfo `json:"kernels" help:"all kernels that texts may name"`
	Core       int          `json:"core" help:"graphs in the Gram matrix"`
	Terms      []string     `json:"terms" help:"terms of the kernel of a model"`
	Warnings   []string     `json:"warnings"`

	Skipped    dataset.LeftOut `json:"skipped" help:"what of the file could not be read: its number, and the first of it"`
	Unmeasured dataset.LeftOut `json:"unmeasured" help:"graphs whose target is a text where numbers are wanted: their number, and the first of them; they count as not measured"`
}

// infoLimits are those of a file that is uploaded.
type infoLimits struct {
	UploadBytes  int64 `json:"upload_bytes"`
	UploadGraphs int   `json:"upload_graphs"`
}

// kernelInfo is a kernel that texts may name.
type kernelInfo struct {
	Name  string `json:"name"`
	About string `json:"about" help:"what it compares"`
}

// classInfo is a class with its colour on the map.
type classInfo struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Color string `json:"color"`
}

func getInfo(q *request, _ *struct{}) (*infoAnswer, error) {
	s, d := q.s, q.s.data
	a := &infoAnswer{Name: d.Name, Version: s.o.Version, Graphs: len(d.IDs), Saved: d.saved,
		Task:    d.task,
		Classes: classInfos(d.classes, d.class), Range: []float64{}, Terms: []string{}, Warnings: d.info.Warnings, Skipped: d.skipped, Unmeasured: d.unmeasured, Core: len(s.core),
		Vertices: d.info.Vertices, Edges: d.info.Edges, Labels: d.info.NodeLabels > 0, Attributes: d.info.Attributes,
		Molecules: d.molecules, Thing: d.thing(), Source: s.id, Given: s.fixed, TargetName: d.quantity(),
		ColumnName: d.colorName, Columns: d.columnInfos(), ColorBy: d.colorBy(), Fragments: d.fragments(), SMILES: d.smiles != nil,
		Palette: draw.Colors(), Uploads: !s.o.ReadOnly, Limits: infoLimits{s.o.UploadBytes, s.o.UploadGraphs}}
	for _, name := range kernel.Names() {
		a.Kernels = append(a.Kernels, kernelInfo{name, kernel.About(name)})
	}
	if known := d.labelled(kernel.UpTo(len(d.IDs))); d.task == regression && len(known) > 0 {
		values := choose.Pick(d.value, known)
		a.Range = []float64{slices.Min(values), slices.Max(values)}
	}
	if a.Parts = []string{}; d.read.Rows != nil {
		a.Parts = d.read.Rows.Names()
	}
	a.Kernel = d.Kernel.String()
	if d.saved {
		for _, t := range kernel.SumOf(d.Kernel.Asked).Terms {
			a.Terms = append(a.Terms, kernel.Sum{Terms: []kernel.Term{t}}.String())
		}
	}
	return a, nil
}

// graphsAnswer lists the graphs, one list per property. The list of a property that the data do not
// have is empty.
type graphsAnswer struct {
	IDs     []string  `json:"ids"`
	Targets []string  `json:"targets"`
	Classes []int     `json:"classes" help:"positions in the classes of info, −1 for none"`
	Values  []float64 `json:"values"`
	Nodes   []int     `json:"nodes"`
	Edges   []int     `json:"edges"`
}

func getGraphs(q *request, _ *struct{}) (*graphsAnswer, error) {
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
	maxName     = 200  // bytes of its name
	maxAsked    = 1000 // graphs to predict
)

// reference names a graph in a request, by one of the three.
type reference struct {
	Index  *int            `json:"index,omitempty" help:"position of a graph of the data, from 0"`
	SMILES *string         `json:"smiles,omitempty" want:"1 to 4000" help:"a molecule; of rows, their parts with semicolons between them"`
	Graph  json.RawMessage `json:"graph,omitempty"`
}

// kind is the field that gives a new graph.
func (r reference) kind() string {
	if r.SMILES != nil {
		return "smiles"
	}
	return "graph"
}

// find returns the graph that a reference names and its position in the data, or −1 and a new graph,
// which without an identifier has its number in the request. It is nil where a model does not have it.
func (s *source) find(r reference, number int) (*graph.Graph, int, error) {
	given := 0
	for _, b := range []bool{r.Index != nil, r.SMILES != nil, r.Graph != nil} {
		if b {
			given++
		}
	}
	if given != 1 {
		return nil, -1, badRequest("graph", "the request has %d of index, smiles and graph, want exactly one of them", given)
	}
	if r.Index == nil {
		g, err := s.readGraph(r, number)
		return g, -1, err
	}
	i := *r.Index
	if err := s.data.has(i, "index"); err != nil {
		return nil, -1, err
	}
	return s.data.Graphs[i], i, nil
}

// graph is find for one graph.
func (s *source) graph(r reference) (*graph.Graph, int, error) { return s.find(r, 1) }

// readGraph reads a new graph as the data was read.
func (s *source) readGraph(r reference, number int) (g *graph.Graph, err error) {
	o := s.data.read.Like(&s.data.read)
	o.Limits.Vertices, o.Limits.Edges = maxVertices, maxEdges
	if r.SMILES != nil {
		text := strings.TrimSpace(*r.SMILES)
		if text == "" {
			return nil, badRequest("smiles", "smiles: empty, want a molecule")
		}
		if len(text) > maxSMILES {
			return nil, badRequest("smiles", "smiles: %d bytes, want at most %d", len(text), maxSMILES)
		}
		if g, err = dataset.ParseSMILES(text, o); err != nil {
			return nil, badRequest("smiles", "smiles: %v", err)
		}
		g = g.With(text, "")
	} else {
		o.Format = dataset.JSONLines
		ds, err := dataset.ReadFrom(context.Background(), bytes.NewReader(r.Graph), "graph", o)
		if err != nil {
			return nil, badRequest("graph", "graph: %v", err)
		}
		if len(ds.Graphs) != 1 {
			return nil, badRequest("graph", "graph: %d graphs, want one", len(ds.Graphs))
		}
		g = ds.Graphs[0]
	}
	if g.N() > maxVertices || g.M() > maxEdges {
		return nil, badRequest(r.kind(), "the graph has %d vertices and %d edges, want at most %d and %d", g.N(), g.M(), maxVertices, maxEdges)
	}
	if g.N() == 0 {
		return nil, badRequest(r.kind(), "the graph has no vertices, want at least one")
	}
	return g.With(cmp.Or(g.ID(), strconv.Itoa(number)), g.Target()), nil
}

// graphAnswer is a graph with its drawing.
type graphAnswer struct {
	Index   int             `json:"index" help:"position in the data, −1 for a graph of the request"`
	Graph   json.RawMessage `json:"graph"`
	Drawing drawing         `json:"drawing"`
}

// drawing is a picture without its background, and where its vertices are.
type drawing struct {
	SVG      string       `json:"svg"`
	Width    float64      `json:"width"`
	Height   float64      `json:"height"`
	Molecule bool         `json:"molecule"`
	Vertices [][2]float64 `json:"vertices" help:"position of each vertex; empty if only a part of the graph is drawn"`
}

func getGraph(q *request, in *struct {
	Index int `json:"index" help:"position of a graph of the data, from 0"`
}) (*graphAnswer, error) {
	return postGraph(q, &reference{Index: &in.Index})
}

func postGraph(q *request, in *reference) (*graphAnswer, error) {
	g, i, err := q.s.graph(*in)
	if err != nil {
		return nil, err
	}
	return drawn(q, g, i)
}

// maxDrawn is the number of vertices that are drawn one by one.
const maxDrawn = 1500

func drawGraph(g *graph.Graph) (drawing, error) {
	o := draw.DefaultOptions()
	o.Size, o.Transparent, o.MaxVertices, o.MaxEdges = draw.Size{Width: 520, Height: 400}, true, maxDrawn, 4*maxDrawn
	p, err := draw.Graph(g, o)
	if err != nil {
		return drawing{}, err
	}
	d := drawing{SVG: string(p.SVG()), Molecule: p.Molecule, Vertices: append([][2]float64{}, p.Vertices...)}
	d.Width, d.Height = p.Width, p.Height
	return d, nil
}

type readRequest struct {
	Name string `json:"name" want:"0 to 200" help:"name of the file, to recognise the format; no file is opened"`
	Text string `json:"text"`
}

// readAnswer has graphs to be used in other requests.
type readAnswer struct {
	Graphs   []json.RawMessage `json:"graphs"`
	Warnings []string          `json:"warnings"`
}

// postRead reads the text of a file in any format but TUDataset.
func postRead(q *request, in *readRequest) (*readAnswer, error) {
	if strings.TrimSpace(in.Text) == "" {
		return nil, badRequest("text", "text: empty, want the text of a file")
	}
	if len(in.Name) > maxName {
		return nil, badRequest("name", "name: %d bytes, want at most %d", len(in.Name), maxName)
	}
	return short(q, func(ctx context.Context) (*readAnswer, error) {
		o := q.s.data.read.Like(&q.s.data.read)
		o.Format = dataset.Auto
		o.Limits = dataset.Limits{Line: maxBody, Record: maxBody, Bytes: maxBody, Ratio: 10, Vertices: maxVertices, Edges: maxEdges, Items: 1 << 20}
		ds, err := dataset.ReadFrom(ctx, strings.NewReader(in.Text), in.Name, o)
		if err != nil {
			return nil, badRequest("text", "%v", err)
		}
		if left := ds.Skipped; len(ds.Graphs) == 0 && left.Count > 0 {
			return nil, badRequest("text", "%s:%d: %s", in.Name, left.First[0].Line, left.First[0].Reason)
		}
		if len(ds.Graphs) == 0 || len(ds.Graphs) > maxRead {
			return nil, badRequest("text", "%d graphs, want 1 to %d", len(ds.Graphs), maxRead)
		}
		ids, a := ds.IDs(), &readAnswer{Graphs: []json.RawMessage{}, Warnings: append([]string{}, ds.Warnings...)}
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
