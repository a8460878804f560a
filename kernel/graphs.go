package kernel

import "github.com/mlgkernel/mlg/graph"

// Graphs are the features of maps that compare graphs as they are.
type Graphs struct{ List []*graph.Graph }

// Len implements Features.
func (g *Graphs) Len() int { return len(g.List) }

// Select implements Features.
func (g *Graphs) Select(at []int) Features {
	out := &Graphs{make([]*graph.Graph, len(at))}
	for k, i := range at {
		out.List[k] = g.List[i]
	}
	return out
}

// AppendBinary implements Features.
func (g *Graphs) AppendBinary(b []byte) ([]byte, error) {
	return append(b, graph.Encode(g.List)...), nil
}

// JoinGraphs implements Map.Join for such features.
func JoinGraphs(parts ...Features) Features {
	out := &Graphs{}
	for _, p := range parts {
		out.List = append(out.List, p.(*Graphs).List...)
	}
	return out
}

// DecodeGraphs implements Map.DecodeFeatures for such features.
func DecodeGraphs(data []byte) (Features, error) {
	b, err := graph.Decode(data)
	if err != nil {
		return nil, err
	}
	out := &Graphs{make([]*graph.Graph, b.Len())}
	for i := range out.List {
		if out.List[i], err = b.Graph(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}
