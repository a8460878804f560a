package explorer

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
)

// source is a collection that requests may mean.
type source struct {
	*Server
	id   string
	data *Data
	core []int // graphs that the Gram matrix is about
	best result[*choice]

	fixed bool // it was given at the start, and is never let go
}

// sourceField is the name of the source in a query.
const sourceField = "source"

// Uploaded sources that are kept: so many, and graphs of so many vertices and edges.
const (
	maxSources  = 4
	sourceItems = 30_000_000
)

func (s *Server) newSource(d *Data) *source {
	return &source{Server: s, id: d.identity(), data: d, core: d.core(s.o.Whole, s.o.Core)}
}

// given returns the first source of the start.
func (s *Server) given() *source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sources[0]
}

// meant returns the source that a request means.
func (s *Server) meant(e endpoint, r *http.Request) (*source, error) {
	ids := r.URL.Query()[sourceField]
	if e.global || len(ids) == 0 {
		return s.given(), nil
	}
	if len(ids) > 1 {
		return nil, badRequest(sourceField, "query: %q is given more than once", sourceField)
	}
	return s.source(ids[0])
}

// source returns the source with an identifier.
func (s *Server) source(id string) (*source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.sources, func(x *source) bool { return x.id == id }); i >= 0 {
		return s.sources[i], nil
	}
	return nil, notFound(sourceField, "the data %.100q is not here: the server keeps uploaded files in memory only; "+
		"load the file again, and the link works", id)
}

// add keeps a source, and lets the oldest ones go when there are too many. It returns the names of these.
func (s *Server) add(x *source) []string {
	gone := []string{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.sources, func(o *source) bool { return o.fixed && o.id == x.id }) {
		return gone
	}
	s.sources = slices.DeleteFunc(s.sources, func(o *source) bool { return o.id == x.id })
	first := slices.IndexFunc(append(s.sources, x), func(o *source) bool { return !o.fixed })
	s.sources = slices.Insert(s.sources, first, x)
	items := 0
	for i, o := range s.sources[first:] {
		items += o.data.info.Vertices + o.data.info.Edges
		if i > 0 && (i == maxSources || items > sourceItems) {
			for _, o := range s.sources[first+i:] {
				gone = append(gone, o.data.Name)
			}
			s.sources = slices.Delete(s.sources, first+i, len(s.sources))
			break
		}
	}
	s.batches = slices.DeleteFunc(s.batches, func(b *batch) bool { return !slices.Contains(s.sources, b.s) })
	s.recent = slices.DeleteFunc(s.recent, func(r *session) bool { return !slices.Contains(s.sources, r.s) })
	return gone
}

type sourcesAnswer struct {
	Sources []sourceInfo `json:"sources"`
}

type sourceInfo struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Graphs int    `json:"graphs"`
	Task   task   `json:"task" want:"one of classification regression none"`
	Given  bool   `json:"given" help:"it was given at the start"`
}

func getSources(q *request, _ *struct{}) (*sourcesAnswer, error) {
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	out := &sourcesAnswer{}
	for _, x := range q.s.sources {
		out.Sources = append(out.Sources, sourceInfo{x.id, x.data.Name, len(x.data.IDs), x.data.task, x.fixed})
	}
	return out, nil
}

// identity names a collection by its name and its content, so that a link means the same after a restart.
func (d *Data) identity() string {
	h := fnv.New64a()
	text := func(s string) {
		io.WriteString(h, s)
		h.Write([]byte{0})
	}
	number := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	for i, id := range d.IDs {
		text(id)
		text(d.Targets[i])
		for _, c := range d.columns {
			text(c.values[i])
		}
	}
	text(string(d.task))
	text(d.targetName)
	text(d.colorName)
	for _, c := range d.columns {
		text(c.name)
	}
	for i, g := range d.Graphs {
		if d.smiles != nil {
			text(d.smiles[i])
		}
		text(g.SMILES())
		number(uint64(g.N()))
		for v := range g.N() {
			text(g.Label(v))
			for _, a := range g.Attributes(v) {
				number(math.Float64bits(a))
			}
		}
		for e := range g.Edges() {
			number(uint64(e.U)<<32 | uint64(e.V))
			number(math.Float64bits(e.Weight))
			text(e.Label)
		}
	}
	if d.saved {
		text(d.Kernel.String())
	}
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, d.Name)
	return fmt.Sprintf("%s-%010x", name[:min(len(name), 40)], h.Sum64()&(1<<40-1))
}
