package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
)

// Dataset is a collection of graphs. Warnings say what was corrected or left out when it was read,
// and how often. Columns has the other fields of the graphs, nil if they are not known; see
// [Dataset.Column].
type Dataset struct {
	Name     string
	Graphs   []*graph.Graph
	Warnings []string
	Columns  *Columns
	Skipped  LeftOut // records that could not be read
	Keyed    bool    // vertices and edges have data by keys, as in GraphML and DOT

	AttributeKeys string // see Options.AttributeKeys
	Filled        int    // graphs without labels among others, which have empty ones; see FillLabels

	rows []int // see Rows; nil for all
}

// Targets returns the targets of the graphs, in their order.
func (d *Dataset) Targets() []string {
	t := make([]string, len(d.Graphs))
	for i, g := range d.Graphs {
		t[i] = g.Target()
	}
	return t
}

// IDs returns the identifiers of the graphs. A graph without one gets its 1-based number.
func (d *Dataset) IDs() []string {
	ids := make([]string, len(d.Graphs))
	for i, g := range d.Graphs {
		ids[i] = identifier(g, i+1)
	}
	return ids
}

func identifier(g *graph.Graph, number int) string { return cmp.Or(g.ID(), strconv.Itoa(number)) }

// Reader gives the graphs of a collection one after the other.
type Reader struct {
	name   string
	warn   *warnings
	next   nextGraph
	weight EdgeWeight
	close  func() error
	count  int    // graphs so far
	err    error  // what Next returns from now on
	lines  *lines // nil unless every line is a graph
	in     *stream

	counted    *countingReader // of a file of so many bytes, see Share
	bytes      int64
	compressed bool
}

// nextGraph returns the next graph, nil for a record that is left out, and io.EOF after the last one.
type nextGraph func() (*graph.Graph, error)

// Name returns the name of the collection: the file name without folder and extensions.
func (r *Reader) Name() string { return r.name }

// Next returns the next graph, and io.EOF after the last one. After an error it returns
// the same error again, unless Skip says otherwise.
func (r *Reader) Next() (*graph.Graph, error) {
	for {
		if g, err := r.Try(); g != nil || err != nil {
			return g, err
		}
	}
}

// Try is Next that looks at one record. It returns neither a graph nor an error for one that is left out, because it cannot
// be read: Bad says why, and Fields what else is in it.
func (r *Reader) Try() (*graph.Graph, error) {
	if r.err != nil {
		return nil, r.err
	}
	g, err := r.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	if g == nil {
		return nil, nil
	}
	r.count++
	if g.Parts() != nil { // which are as the options want them
		return g, nil
	}
	out, err := r.weight.apply(g)
	if err == nil {
		out, err = r.in.opts.parts(out, r.warn)
	}
	if err == nil && r.in.opts.EmptyLabels && !out.HasLabels() {
		out = out.WithEmptyLabels()
	}
	if err != nil {
		r.err = fmt.Errorf("%s: graph %s: %w", r.name, identifier(g, r.count), err)
		return nil, r.err
	}
	return out, nil
}

// Skip lets Next go on behind what it could not read. It reports whether that is possible: where
// every line is a graph, and the lines themselves can be read.
func (r *Reader) Skip() bool {
	if r.lines == nil || r.lines.broken || r.err == nil || r.err == io.EOF {
		return false
	}
	r.in.skip(r.lines.n, r.err)
	r.err = nil
	return true
}

// Format returns the format, which was recognised where the options did not say it.
func (r *Reader) Format() Format { return r.in.opts.Format }

// Fields are texts that stand beside a graph:
//
//	table             its cells
//	SMILES            the string and the name
//	SDF               data fields
//	networks          data of the graph
//	Graph JSON Lines  the id, the target, and unknown texts and numbers
//	TUDataset         the label, and the numbered columns of graph_attributes
//	folder of files   those of the graph, its file, and its row in the table of files
type Fields struct {
	Names, Values []string
	SMILES        int // position of the string that the graph was made of, −1 for none
	Line          int // of the file, 0 where it is not known
}

// Value returns the value of a field, "" if there is no field of that name.
func (f Fields) Value(name string) string {
	if i := slices.Index(f.Names, name); i >= 0 && name != "" {
		return f.Values[i]
	}
	return ""
}

// Fields returns those of the graph or the record that was read last, valid until the next is read.
func (r *Reader) Fields() Fields { return r.in.beside }

// Roles says how the columns of a table are used.
func (r *Reader) Roles() Roles { return r.in.roles }

// Keyed reports whether graphs so far have data by keys, as in GraphML and DOT.
func (r *Reader) Keyed() bool { return r.in.named }

// table reports whether what stands beside the graphs are the columns of a table.
func (r *Reader) table() bool {
	return slices.Contains([]Format{CSV, TSV, SDF, SMILES, Parquet}, r.in.opts.Format)
}

// Bad returns the record that was left out last.
func (r *Reader) Bad() Skipped { return r.in.bad }

// Skipped returns the records that were left out so far.
func (r *Reader) Skipped() LeftOut { return r.in.skipped }

// LeftOut are records that were left out: how many, and the first hundred of them.
type LeftOut struct {
	Count int       `json:"count"`
	First []Skipped `json:"first,omitempty"`
}

// Skipped is a record that was left out.
type Skipped struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// maxSkipped is the number of records that LeftOut lists.
const maxSkipped = 100

// add counts a record.
func (l *LeftOut) add(line int, reason string) {
	if l.Count++; l.Count <= maxSkipped {
		l.First = append(l.First, Skipped{line, reason})
	}
}

func (s *stream) skip(line int, reason error) {
	if inner := errors.Unwrap(reason); inner != nil { // without the place
		reason = inner
	}
	s.bad = Skipped{line, reason.Error()}
	s.skipped.add(line, s.bad.Reason)
}

// Pass goes over one record, as Try does, without looking at it where that is possible: where a line is a graph, and in
// tables. A record that cannot be read is then not noticed.
func (r *Reader) Pass() error {
	if r.in.pass == nil {
		_, err := r.Try()
		return err
	}
	if r.err == nil {
		r.err = r.in.pass()
	}
	return r.err
}

// Line returns the number of the line that was read last, 0 unless every line is a graph.
func (r *Reader) Line() int {
	if r.lines == nil {
		return 0
	}
	return r.lines.n
}

// Warnings returns what was found wrong so far.
func (r *Reader) Warnings() []string { return r.warn.list() }

// Close releases the file.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = errors.New("reader is closed")
	}
	if r.close == nil {
		return nil
	}
	c := r.close
	r.close = nil
	return c()
}

// Read reads a whole collection: a file, a folder, a zip file, a built-in name such as
// "builtin:drugs", or the name of a collection that package fetch has put into the cache.
func Read(ctx context.Context, path string, opts Options) (*Dataset, error) {
	r, err := Open(path, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return collect(ctx, r, opts)
}

// ReadFrom reads a whole collection from a stream. The name serves to recognise the
// format and stands in the error messages.
func ReadFrom(ctx context.Context, src io.Reader, name string, opts Options) (*Dataset, error) {
	r, err := NewReader(src, name, opts)
	if err != nil {
		return nil, err
	}
	return collect(ctx, r, opts)
}

func collect(ctx context.Context, r *Reader, opts Options) (*Dataset, error) {
	d := &Dataset{Name: r.Name(), Columns: &Columns{}}
	size := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g, err := r.Try()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if g == nil {
			continue
		}
		size += 1 + int64(g.N()) + int64(g.M())
		if size > opts.Limits.Items {
			return nil, fmt.Errorf("%s: more than %d graphs, vertices and edges together, which is the limit", r.Name(), opts.Limits.Items)
		}
		d.Graphs = append(d.Graphs, g)
		if d.Columns == nil {
			continue
		}
		if err := d.Columns.Add(r.Fields()); err != nil {
			d.Columns = nil
			r.warn.add(1, err.Error(), err.Error())
		}
	}
	d.Warnings, d.Skipped, d.Keyed, d.AttributeKeys = r.Warnings(), r.Skipped(), r.Keyed(), r.AttributeKeys()
	d.FillLabels()
	if opts.EdgeWeight == GivenWeight && distances(d.Graphs) {
		d.Warnings = append(d.Warnings, DistancesWarning)
	}
	if d.Columns != nil {
		d.Columns.Roles = r.Roles()
		if usual := d.Columns.usualRoles(opts); !r.table() && d.Columns.Roles.ID.Column == "" {
			d.Columns.Roles = usual
		} else if !r.table() && len(d.Columns.Roles.Targets) == 0 { // a folder of files
			d.Columns.Roles.Targets = usual.Targets
		}
		if unread := d.Columns.Roles.Unread(); unread != "" {
			d.Warnings = append(d.Warnings, unread)
		}
	}
	return d, nil
}
