package explorer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mlgkernel/mlg/dataset"
)

const (
	uploadPath = "/api/v1/upload"
	maxUploads = 2         // files that are read at a time
	uploadRate = 128 << 10 // bytes a second that a client must send on average
	maxKey     = 100       // bytes
)

// uploadRequest says how an uploaded file is read. Its body is the file.
type uploadRequest struct {
	Name           string  `json:"name" want:"1 to 200" help:"name of the file; it tells the format and names the collection"`
	Key            string  `json:"key,omitempty" want:"0 to 100" help:"any text; names the upload in requests for its progress"`
	Check          bool    `json:"check,omitempty" help:"read the file and report on it, but make no collection of it"`
	File           string  `json:"file,omitempty" want:"0 to 100" help:"a file that was checked, as the answer named it; the body is empty then"`
	Target         *string `json:"target,omitempty" help:"column of the targets; empty for none; by default the suggested one"`
	ID             *string `json:"id,omitempty" help:"column of the identifiers; empty for none; by default the suggested one"`
	Color          *string `json:"color,omitempty" help:"column to colour graphs by"`
	Structure      string  `json:"structure,omitempty" help:"column of the SMILES, or several with commas between them: graphs are then rows; by default the server finds it"`
	With           string  `json:"with,omitempty" want:"0 to 2000" help:"columns of numbers and categories that rows are compared by too, with commas between them"`
	TargetName     string  `json:"target_name,omitempty" want:"0 to 100" help:"what the targets are called, with their unit; by default as their column"`
	Task           string  `json:"task,omitempty" default:"auto" want:"one of auto classification regression" help:"kind of the targets; auto decides by their values"`
	Format         string  `json:"format,omitempty" default:"auto" want:"one of auto tudataset smiles csv tsv parquet sdf jsonl graphml gml gexf pajek nodelink dot edgelist"`
	Hydrogens      string  `json:"hydrogens,omitempty" default:"written" want:"one of written explicit implicit" help:"which hydrogens of molecules become vertices"`
	EdgeWeight     string  `json:"edge_weight,omitempty" default:"weight" want:"1 to 200" help:"edge weights: unit, weight, order, distance, or a key of the data of edges"`
	NodeLabel      string  `json:"node_label,omitempty" want:"0 to 200" help:"key of node data that is the label, or none; by default usual names"`
	Attributes     string  `json:"attributes,omitempty" want:"0 to 2000" help:"keys of node data that are the attributes, with commas between them, or none; by default all numbers"`
	EdgeLabel      string  `json:"edge_label,omitempty" want:"0 to 200" help:"key of edge data that is the label, or none; by default usual names"`
	EdgeAttributes string  `json:"edge_attributes,omitempty" want:"0 to 2000" help:"keys of edge data with numbers, with commas between them; every edge becomes a vertex with these attributes"`
	Clusters       bool    `json:"clusters,omitempty" help:"every cluster of a DOT file is a graph"`
	Directed       bool    `json:"directed,omitempty" help:"edges of data that do not say what they are, such as edge lists, lead from the first vertex to the second"`
	AtomCharge     bool    `json:"atom_charge,omitempty" default:"true" help:"charges are part of atom labels"`
	AtomAromatic   bool    `json:"atom_aromatic,omitempty" help:"aromaticity is part of atom labels"`
	AtomHydrogens  bool    `json:"atom_hydrogens,omitempty" help:"numbers of hydrogens are part of atom labels"`

	LargestFragment bool `json:"largest_fragment,omitempty" help:"keep only the largest fragment of molecules with several, such as salts"`
}

// options returns how the file is read. Records that cannot be read are left out and reported.
func (in *uploadRequest) options(bytes int64) dataset.Options {
	o := dataset.DefaultOptions()
	o.Format, o.Structure, o.With, o.LargestFragment = dataset.Format(in.Format), in.Structure, in.With, in.LargestFragment
	o.Hydrogens, o.EdgeWeight = dataset.Hydrogens(in.Hydrogens), dataset.EdgeWeight(in.EdgeWeight)
	o.NodeLabel, o.Attributes, o.EdgeLabel, o.Clusters = in.NodeLabel, in.Attributes, in.EdgeLabel, in.Clusters
	o.EdgeAttributes, o.Directed = in.EdgeAttributes, in.Directed
	o.AtomCharge, o.AtomAromatic, o.AtomHydrogens = in.AtomCharge, in.AtomAromatic, in.AtomHydrogens
	o.Limits.Line, o.Limits.Record = 16<<20, 64<<20
	o.Limits.Bytes, o.Limits.Ratio, o.Limits.Items = 4*bytes, 20, sourceItems
	o.Limits.Vertices, o.Limits.Edges = 1_000_000, 5_000_000
	return o
}

// uploadAnswer says what was read.
type uploadAnswer struct {
	Source      string            `json:"source" help:"name of the collection in requests; empty after a check"`
	File        string            `json:"file" help:"after a check: name of the file in further requests, while the server keeps it"`
	Name        string            `json:"name"`
	Format      dataset.Format    `json:"format"`
	Bytes       int64             `json:"bytes"`
	Graphs      int               `json:"graphs"`
	All         int               `json:"all" help:"graphs of the file; of more than the limit, graphs is an even sample"`
	Skipped     int               `json:"skipped" help:"records that could not be read"`
	SkippedRows []dataset.Skipped `json:"skipped_rows" help:"the first of them"`
	Unmeasured  dataset.LeftOut   `json:"unmeasured" help:"graphs whose target is a text where numbers are wanted: their number, and the first of them; they count as not measured"`
	Compared    string            `json:"compared" help:"what the kernel of requests that choose none compares, in words"`
	Fragments   int               `json:"fragments" help:"molecules of several fragments, such as salts"`
	Columns     []dataset.Column  `json:"columns" help:"fields beside the graphs"`
	NodeKeys    []string          `json:"node_keys" help:"keys of the data of vertices, which may be their labels and attributes"`
	EdgeKeys    []string          `json:"edge_keys" help:"keys of the data of edges, which may be their labels and weights"`
	Target      string            `json:"target" help:"columns that are used; empty for none"`
	ID          string            `json:"id"`
	Color       string            `json:"color"`
	Structure   string            `json:"structure"`
	Beside      []string          `json:"beside" help:"further columns that rows are compared by: structures, numbers and categories"`
	Task        task              `json:"task" want:"one of classification regression none"`
	Classes     []string          `json:"classes"`
	Warnings    []string          `json:"warnings"`
	Gone        []string          `json:"gone" help:"names of files that the server does not keep any more"`
}

// uploadProgress is a file that is being read.
type uploadProgress struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Graphs int64  `json:"graphs"`
}

// uploading is a file that is being read, with its present numbers.
type uploading struct {
	name   string
	body   *slowReader
	graphs atomic.Int64
}

// announce lets requests for the progress of an upload find it by its key until done is called. One without a key is not found.
func (s *Server) announce(key string, u *uploading) (done func()) {
	if key == "" {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading[key] = u
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.reading[key] == u { // not another one that has the same key
			delete(s.reading, key)
		}
	}
}

// uploaded returns the progress of the upload of a key, nil for none.
func (s *Server) uploaded(key string) *uploadProgress {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.reading[key]
	if u == nil {
		return nil
	}
	return &uploadProgress{u.name, u.body.n.Load(), u.graphs.Load()}
}

// postUpload reads a file as it comes and makes a source of it.
func postUpload(q *request, in *uploadRequest) (out *uploadAnswer, err error) {
	if q.s.o.ReadOnly {
		return nil, &apiError{http.StatusForbidden, "this server takes no files", "body"}
	}
	f := &checked{id: rand.Text()}
	if in.File != "" {
		if f = q.s.checkedFile(in.File); f == nil {
			return nil, unkept("the file %.100q is not here: the server keeps the last %d that were checked", in.File, maxChecked)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var x *source
	size, err := q.sent(in.Name, in.Key, func(u *uploading) (err error) {
		out, x, err = q.readUpload(in, f, u)
		return err
	})
	if err != nil {
		return nil, err
	}
	if in.File == "" {
		f.size = size
	}
	if out.Bytes = f.size; in.Check {
		q.s.keepChecked(f)
		out.File = f.id
		return out, nil
	}
	q.s.forgetChecked(f)
	out.Gone = q.s.add(x)
	out.Source = x.id
	return out, nil
}

// sent has a file read as it comes, by a key under which other requests see how far it is, and returns its size.
func (q *request) sent(name, key string, read func(u *uploading) error) (bytes int64, err error) {
	if n := len(name); n < 1 || n > maxName {
		return 0, badRequest("name", "name: %d bytes, want 1 to %d", n, maxName)
	}
	if n := len(key); n > maxKey {
		return 0, badRequest("key", "key: %d bytes, want at most %d", n, maxKey)
	}
	if err := q.s.uploads.enter(q.Context()); err != nil {
		return 0, err
	}
	defer q.s.uploads.leave()
	body := &slowReader{r: q.Body, patience: q.s.o.BodyTimeout, allowed: q.s.o.BodyTimeout, now: time.Now,
		deadline: http.NewResponseController(q.w).SetReadDeadline}
	body.end = body.now().Add(q.s.o.UploadTime)
	u := &uploading{name: name, body: body}
	err = func() error {
		defer q.s.announce(key, u)()
		return read(u)
	}()
	if body.err != nil && body.err != io.EOF { // whatever the reader made of it
		return 0, bodyError(body.err)
	}
	if _, rest := io.Copy(io.Discard, body); rest != nil { // a client that is cut off does not read the answer
		return 0, bodyError(rest)
	}
	body.deadline(time.Time{})
	if err == nil {
		err = q.Context().Err()
	}
	return body.n.Load(), asRequestError(q.Context(), err)
}

// readUpload reads a file, unless it was read in the same way before, and describes it. It returns a source that is not in the
// list of sources yet.
func (q *request) readUpload(in *uploadRequest, f *checked, u *uploading) (*uploadAnswer, *source, error) {
	o := in.options(q.s.o.UploadBytes)
	if f.read == nil || f.as != o {
		if err := q.readFile(in, f, u, o); err != nil {
			return nil, nil, err
		}
	}
	l := f.read
	c := Choices{Target: in.Target, ID: in.ID, Color: in.Color, TargetName: in.TargetName}
	if in.Task != "auto" {
		c.Task = in.Task
	}
	if err := l.choose(&c, o, true); err != nil {
		return nil, nil, err
	}
	out := l.report(c)
	if len(l.graphs) == 0 {
		if out.Skipped > 0 {
			bad := out.SkippedRows[0]
			err := fmt.Errorf("%s: no graph can be read; the first error is in line %d: %s", in.Name, bad.Line, bad.Reason)
			return nil, nil, uploadError(err)
		}
		return nil, nil, uploadError(fmt.Errorf("%s: no graphs", in.Name))
	}
	d, err := l.data(o, c)
	if err != nil {
		return nil, nil, &apiError{http.StatusUnprocessableEntity, err.Error(), "target"}
	}
	out.Task, out.Classes = d.task, append([]string{}, d.classes...)
	out.Warnings = d.info.Warnings // with those of the targets
	out.Unmeasured, out.Compared = d.unmeasured, d.Compared()
	if in.Check {
		return out, nil, nil
	}
	return out, q.s.newSource(d), nil
}

// readFile reads a file as it comes, or as it was kept.
func (q *request) readFile(in *uploadRequest, f *checked, u *uploading, o dataset.Options) error {
	ctx := q.Context()
	var body io.Reader = u.body
	size := q.ContentLength
	if in.File != "" {
		if f.text == nil {
			return unkept("%s is too large to be kept: send it again", in.Name)
		}
		body, size = bytes.NewReader(f.text), int64(len(f.text))
	}
	var kept keptText
	if in.Check && in.File == "" {
		body = io.TeeReader(body, &kept)
	}
	r, err := openUpload(ctx, body, size, q.s.o.UploadBytes, in.Name, o)
	if err != nil {
		return uploadError(err)
	}
	l := &loader{most: q.s.o.UploadGraphs, items: o.Limits.Items}
	tick := func(graphs int) { u.graphs.Store(int64(graphs)) }
	for err := l.read(ctx, r, tick); err != nil; err = l.read(ctx, r, tick) {
		if ctx.Err() != nil || !r.Skip() {
			return uploadError(err)
		}
	}
	l.file = aboutFile(r)
	if f.read, f.as = l, o; in.File == "" {
		f.text = kept.whole()
	}
	return nil
}

// openUpload opens a file as it comes. A zip file, which cannot be read from its beginning, is kept in memory
// meanwhile; size is what was announced.
func openUpload(ctx context.Context, body io.Reader, size, most int64, name string, o dataset.Options) (*dataset.Reader, error) {
	in := bufio.NewReaderSize(body, 64<<10)
	if magic, _ := in.Peek(4); !dataset.IsZip(magic) {
		return dataset.NewReader(in, name, o)
	}
	var whole bytes.Buffer
	if size > 0 && size <= most {
		whole.Grow(int(size) + bytes.MinRead)
	}
	if _, err := whole.ReadFrom(in); err != nil {
		return nil, err
	}
	return dataset.NewZipReader(&cancelled{ctx, bytes.NewReader(whole.Bytes())}, int64(whole.Len()), name, o)
}

// cancelled can be read until its context ends.
type cancelled struct {
	ctx context.Context
	io.ReaderAt
}

func (c *cancelled) ReadAt(p []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.ReaderAt.ReadAt(p, off)
}

// uploadError says why a file cannot be read. For a table without a column of SMILES it names the
// field that helps.
func uploadError(err error) error {
	field := "body"
	if text := err.Error(); strings.Contains(text, "no SMILES column") || strings.Contains(text, "no column") {
		field = "structure"
	} else if strings.Contains(text, "format not recognised") {
		field = "format"
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &apiError{http.StatusUnprocessableEntity, err.Error(), field}
}

// report says what was read, with the role of every column.
func (l *loader) report(c Choices) *uploadAnswer {
	left := l.file.skipped
	out := &uploadAnswer{Name: l.file.name, Format: l.file.format, Graphs: len(l.graphs), All: l.all, Columns: l.columns.Describe(),
		Skipped: left.Count, SkippedRows: append([]dataset.Skipped{}, left.First...), Structure: l.columns.Roles.Structure.Column, Warnings: append([]string{}, l.file.warnings...), Gone: []string{}, Beside: []string{}}
	for _, r := range append(slices.Clone(l.columns.Roles.More), l.columns.Roles.With...) {
		out.Beside = append(out.Beside, r.Column)
	}
	out.NodeKeys, out.EdgeKeys = append([]string{}, l.file.nodes...), append([]string{}, l.file.edges...)
	for _, g := range l.graphs {
		if strings.Contains(g.SMILES(), ".") {
			out.Fragments++
		}
	}
	more := l.columns.Structures()
	taken := func(name *string) string {
		if name == nil {
			return ""
		}
		return *name
	}
	out.Target, out.ID, out.Color = taken(c.Target), taken(c.ID), taken(c.Color)
	for i := range out.Columns {
		d := &out.Columns[i]
		suggested := d.Role
		if slices.Contains(more, d.Name) {
			d.Kind = dataset.StructureKind
		}
		d.Role = ""
		for role, of := range map[string]string{"structure": out.Structure, "target": out.Target, "id": out.ID, "color": out.Color} {
			if strings.EqualFold(of, d.Name) && (d.Role == "" || role < d.Role) { // one role of several
				d.Role = role
			}
		}
		if d.Role != suggested {
			d.Why = ""
		}
	}
	return out
}

// slowReader gives a body as long as its client is fast enough, so that slow ones do not keep others from their turn. It may be
// waited for as long as patience says, and for a second more with every uploadRate bytes, which nobody can save up for more
// than the patience. The time between reads is the server's own. At the end nothing more is read.
type slowReader struct {
	r                 io.Reader
	n                 atomic.Int64  // bytes so far
	patience, allowed time.Duration // to wait at most, and now
	end               time.Time
	now               func() time.Time
	deadline          func(time.Time) error
	err               error
}

func (s *slowReader) Read(p []byte) (int, error) {
	begin := s.now()
	last := begin.Add(s.allowed)
	if s.end.Before(last) {
		last = s.end
	}
	s.deadline(last) // a test's writer may have none
	n, err := s.r.Read(p)
	now := s.now()
	s.allowed = min(s.allowed+time.Duration(n)*time.Second/uploadRate-now.Sub(begin), s.patience)
	s.n.Add(int64(n))
	if err == nil && (s.allowed < 0 || now.After(s.end)) {
		err = os.ErrDeadlineExceeded
	}
	if err != nil {
		s.err = err
	}
	return n, err
}
