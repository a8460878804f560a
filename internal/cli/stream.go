package cli

import (
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// stream gives one graph of a dataset after the other.
type stream struct {
	reader *dataset.Reader
	weight dataset.EdgeWeight
}

// stream opens a dataset, "-" being standard input.
func (r reading) stream(path string) (*stream, error) {
	d, err := r.open(path)
	if err != nil {
		return nil, err
	}
	return &stream{d, r.weight}, nil
}

// stream opens a dataset, "-" being standard input.
func (f *dataFlags) stream(path string) (*stream, error) {
	r, err := f.reading()
	if err != nil {
		return nil, err
	}
	return r.stream(path)
}

// reading returns how the flags say that graphs are read.
func (f *dataFlags) reading() (reading, error) {
	o, err := f.options()
	if err != nil {
		return reading{}, err
	}
	w, err := dataset.ParseEdgeWeight(f.EdgeWeight)
	if err != nil {
		return reading{}, usageError(err.Error())
	}
	return reading{o, w}, nil
}

// next returns the next graph, and io.EOF after the last one.
func (s *stream) next() (*graph.Graph, error) {
	g, err := s.reader.Next()
	if err != nil {
		return nil, err
	}
	return s.weight.Apply(g)
}

// close ends the stream and prints what was wrong with its graphs.
func (s *stream) close(g *globals) {
	for _, w := range s.reader.Warnings() {
		g.note("%s: %s", s.reader.Name(), w)
	}
	s.reader.Close()
}
