package explorer

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain/draw"
	"github.com/mlgkernel/mlg/graph"
)

// maxDrawn is the largest number of vertices that are drawn one by one.
const maxDrawn = 1500

// GraphAnswer is a graph with its drawing.
type GraphAnswer struct {
	Index   int      `json:"index"` // −1 for a graph of the request
	ID      string   `json:"id"`
	Target  string   `json:"target"`
	Nodes   int      `json:"nodes"`
	Edges   [][2]int `json:"edges"`
	Labels  []string `json:"labels"` // empty without labels
	Drawing *drawing `json:"drawing"`
	Graph   rawJSON  `json:"graph"` // as Graph JSON, which requests accept again
}

type rawJSON []byte

// MarshalJSON returns the text itself.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// drawing is a picture without its background, and where its vertices are.
type drawing struct {
	SVG      string       `json:"svg"`
	Width    float64      `json:"width"`
	Height   float64      `json:"height"`
	Molecule bool         `json:"molecule"`
	Vertices [][2]float64 `json:"vertices"` // empty where the graph is drawn in part
}

// drawings keeps drawings of the source's graphs.
type drawings struct {
	mu   sync.Mutex
	kept map[int]*drawing
}

// maxDrawings bounds the drawings that are kept.
const maxDrawings = 500

// drawingOf draws a graph, training graph i unless i is −1.
func (s *Server) drawingOf(g *graph.Graph, i int) (*drawing, error) {
	d := &s.drawing
	if i >= 0 {
		d.mu.Lock()
		old := d.kept[i]
		d.mu.Unlock()
		if old != nil {
			return old, nil
		}
	}
	out, err := drawGraph(g)
	if err != nil || i < 0 {
		return out, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil || len(d.kept) >= maxDrawings {
		d.kept = map[int]*drawing{}
	}
	d.kept[i] = out
	return out, nil
}

// drawGraph draws a graph with all vertices marked, reads their positions from the marks,
// which come first among the circles and in the order of the vertices, and takes the marks
// and the background away.
func drawGraph(g *graph.Graph) (*drawing, error) {
	o := draw.DefaultOptions()
	o.Width, o.Height, o.MaxVertices, o.MaxEdges = 520, 400, maxDrawn, 4*maxDrawn
	marked := g.N() <= maxDrawn
	if marked {
		for v := range g.N() {
			o.Highlight = append(o.Highlight, v)
		}
	}
	p, err := draw.Graph(g, o)
	if err != nil {
		return nil, err
	}
	d := &drawing{Vertices: [][2]float64{}}
	d.Width, d.Height = p.Size()
	var b strings.Builder
	background := true
	molecule := true
	for line := range strings.Lines(string(p.SVG())) {
		circle := strings.HasPrefix(line, "<circle ")
		switch {
		case background && strings.HasPrefix(line, "<path "):
			background = false
			continue
		case circle && len(d.Vertices) < len(o.Highlight):
			x, errX := attribute(line, "cx")
			y, errY := attribute(line, "cy")
			if errX != nil || errY != nil {
				return nil, fmt.Errorf("drawing: no position in %q", line)
			}
			d.Vertices = append(d.Vertices, [2]float64{x, y})
			continue
		case circle:
			molecule = false // atoms are letters
		}
		b.WriteString(line)
	}
	if len(d.Vertices) != len(o.Highlight) {
		return nil, fmt.Errorf("drawing: %d positions of %d vertices", len(d.Vertices), g.N())
	}
	d.SVG, d.Molecule = b.String(), molecule
	return d, nil
}

// attribute reads a number of an element.
func attribute(element, name string) (float64, error) {
	_, rest, _ := strings.Cut(element, " "+name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return strconv.ParseFloat(value, 64)
}

func (s *Server) graphAnswer(g *graph.Graph, i int) (*GraphAnswer, error) {
	d, err := s.drawingOf(g, i)
	if err != nil {
		return nil, err
	}
	a := &GraphAnswer{Index: i, ID: g.ID(), Target: g.Target(), Nodes: g.N(), Edges: [][2]int{}, Labels: []string{}, Drawing: d}
	if i >= 0 {
		a.ID = s.src.IDs[i]
	}
	for e := range g.Edges() {
		a.Edges = append(a.Edges, [2]int{e.U, e.V})
	}
	a.Labels = append(a.Labels, g.Labels()...)
	line, err := dataset.AppendJSON(nil, g)
	if err != nil {
		return nil, err
	}
	a.Graph = bytes.TrimSpace(line)
	return a, nil
}
