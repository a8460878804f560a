package draw

import (
	"errors"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
)

// Panel is one of several graphs in a picture.
type Panel struct {
	Graph  *graph.Graph
	Title  string
	Values []float64 // colours of the vertices, nil for none
	names  []string  // texts at the vertices, nil for what the options say
}

// Gallery draws graphs in a table with the given number of columns, each in the middle of its
// cell; a row is as high as its highest picture, all columns are as wide as the widest. The options
// are for each of the graphs, also name and limit of the values: colours mean the same in all.
func Gallery(title string, columns int, panels []Panel, o Options) (*Picture, error) {
	if columns < 1 || len(panels) == 0 {
		return nil, errors.New("a gallery needs at least one graph and one column")
	}
	scale, pictures := o.Values, make([]*Picture, len(panels))
	width, height, heights := 0.0, 0.0, make([]float64, (len(panels)+columns-1)/columns)
	for i, x := range panels {
		o.Title, o.Values, o.names = x.Title, nil, x.names
		if x.Values != nil {
			values := *scale
			values.Vertex = x.Values
			o.Values = &values
		}
		p, err := Graph(x.Graph, o)
		if err != nil {
			return nil, err
		}
		pictures[i] = p
		width = max(width, p.Width)
		heights[i/columns] = max(heights[i/columns], p.Height)
	}
	for _, h := range heights {
		height += h
	}
	top := 0.0
	if title != "" {
		top = headed(title)
	}
	page := newPicture(width*float64(min(columns, len(panels))), top+height, title)
	page.heading(title)
	for i, p := range pictures {
		row, column := i/columns, i%columns
		page.add(&group{point{(float64(column)+0.5)*width - p.Width/2, top + (heights[row]-p.Height)/2}, p.shapes})
		if column == columns-1 {
			top += heights[row]
		}
	}
	return page, nil
}

// Pair draws two graphs side by side. The i-th of the matched pairs of vertices, one of each graph,
// gets the number i on both sides. Name and limit of the values are those of the options.
func Pair(title string, panels [2]Panel, matched [][2]int, o Options) (*Picture, error) {
	for i, pair := range matched {
		for k := range panels {
			if i == 0 {
				panels[k].names = make([]string, panels[k].Graph.N())
			}
			panels[k].names[pair[k]] = strconv.Itoa(i)
		}
	}
	return Gallery(title, 2, panels[:], o)
}
