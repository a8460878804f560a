package explorer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

const (
	openPath    = "/api/v1/open"
	keptVersion = 1    // of the format
	maxLearned  = 2000 // kernels in the text of a session, which may have been chosen by training
)

// kept is a session of the page as a file: the data, or the model as it was trained, a batch, and what the page wants to find
// again. The kernel is fitted anew, which gives the same bits.
type kept struct {
	Format  int    `json:"mlg session"`
	Program string `json:"program"`
	Name    string `json:"name"`
	Page    string `json:"page"` // as the page sent it

	Task       task              `json:"task,omitempty"`
	TargetName string            `json:"target_name,omitempty"`
	ColorName  string            `json:"color_name,omitempty"`
	Read       *dataset.Options  `json:"read,omitempty"`
	Kernel     string            `json:"kernel,omitempty"`
	Warnings   []string          `json:"warnings,omitempty"`
	Graphs     []json.RawMessage `json:"graphs,omitempty"`
	SMILES     []string          `json:"smiles,omitempty"`
	Columns    []keptColumn      `json:"columns,omitempty"`
	Model      []byte            `json:"model,omitempty"` // in place of all that
	Batch      *keptBatch        `json:"batch,omitempty"`
}

type keptColumn struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

type keptBatch struct {
	Name   string            `json:"name"`
	Kernel string            `json:"kernel"` // of the request
	Graphs []json.RawMessage `json:"graphs"`
	Lines  []int             `json:"lines"`
}

type keepRequest struct {
	Page  string `json:"page" help:"what the page keeps of itself; the server does not read it"`
	Batch string `json:"batch,omitempty" help:"a batch that is kept with the data"`
	kernelRequest
}

// postSession writes the data, the model and what the page keeps into a file.
func postSession(q *request, in *keepRequest) (*file, error) {
	d := q.s.data
	out := &kept{Format: keptVersion, Program: q.s.o.Version, Name: d.Name, Page: in.Page}
	if in.Batch != "" {
		b, err := q.s.batch(in.Batch)
		if err != nil {
			return nil, err
		}
		lines, err := lines(b.graphs)
		if err != nil {
			return nil, err
		}
		out.Batch = &keptBatch{b.name, in.Kernel, lines, b.lines}
	}
	var err error
	if d.saved {
		var b bytes.Buffer
		err = model.Encode(&b, d.Model)
		out.Model = b.Bytes()
	} else {
		out.Task, out.TargetName, out.ColorName, out.Read, out.SMILES = d.task, d.targetName, d.colorName, &d.read, d.smiles
		out.Kernel, out.Warnings = kernel.FullText(d.Kernel.Asked), d.info.Warnings
		for _, c := range d.columns {
			out.Columns = append(out.Columns, keptColumn{c.name, c.values})
		}
		out.Graphs, err = lines(d.Graphs)
	}
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(out)
	return &file{"application/octet-stream", d.Name + "-session.json", data}, err
}

// lines returns graphs as Graph JSON.
func lines(graphs []*graph.Graph) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(graphs))
	for i, g := range graphs {
		line, err := dataset.AppendJSON(nil, g)
		if err != nil {
			return nil, badRequest("source", "graph %d: %v", i, err)
		}
		out[i] = bytes.TrimSpace(line)
	}
	return out, nil
}

type openRequest struct {
	Name string `json:"name" want:"1 to 200" help:"name of the file, for errors"`
	Key  string `json:"key,omitempty" want:"0 to 100" help:"any text; names the file in requests for its progress"`
}

// openAnswer says what was in a session.
type openAnswer struct {
	Source string   `json:"source" help:"name of the data in requests"`
	Name   string   `json:"name"`
	Graphs int      `json:"graphs"`
	Batch  string   `json:"batch" help:"the batch in requests; empty for none"`
	Page   string   `json:"page" help:"what the page kept of itself"`
	Gone   []string `json:"gone" help:"names of files that the server does not keep any more"`
}

// postOpen opens a session that was kept as a file.
func postOpen(q *request, in *openRequest) (*openAnswer, error) {
	if q.s.o.ReadOnly {
		return nil, &apiError{http.StatusForbidden, "this server takes no files", "body"}
	}
	var x *source
	var b *batch
	out := &openAnswer{}
	_, err := q.sent(in.Name, in.Key, func(u *uploading) error {
		whole, err := io.ReadAll(u.body)
		if err != nil {
			return err
		}
		k := &kept{}
		if err := json.Unmarshal(whole, k); err != nil || k.Format == 0 {
			return badRequest("body", "%s is no session, or only a part of one", in.Name)
		}
		if k.Format > keptVersion {
			return badRequest("body", "%s was made by mlg %s, whose sessions this version cannot read", in.Name, k.Program)
		}
		d, err := k.data(q.Context(), q.s.o)
		if err != nil {
			return badRequest("body", "%s: %v", in.Name, err)
		}
		x = q.s.newSource(d)
		out.Source, out.Name, out.Graphs, out.Page = x.id, d.Name, len(d.IDs), k.Page
		if b, err = k.batch(q.Context(), x); err != nil {
			return badRequest("body", "%s: %v", in.Name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.Gone = q.s.add(x)
	if b != nil {
		out.Batch = b.id
		q.s.Server.keep(b)
	}
	return out, nil
}

// data makes the data of a session.
func (k *kept) data(ctx context.Context, o Options) (*Data, error) {
	if k.Model != nil {
		m, err := model.Decode(k.Model)
		if err != nil {
			return nil, err
		}
		return FromModel(k.Name, m)
	}
	if k.Read == nil {
		return nil, fmt.Errorf("it has no data")
	}
	n := len(k.Graphs)
	if n > o.UploadGraphs {
		return nil, fmt.Errorf("%d graphs, want at most %d", n, o.UploadGraphs)
	}
	if k.Task != classification && k.Task != regression && k.Task != noTask {
		return nil, fmt.Errorf("task %q, want %s, %s or %s", k.Task, classification, regression, noTask)
	}
	ds, err := read(ctx, k.Name, k.Graphs, *k.Read, o)
	if err != nil {
		return nil, err
	}
	ds.Warnings = k.Warnings
	d, err := fromDataset(ds, *k.Read, k.Task)
	if err != nil {
		return nil, err
	}
	if k.SMILES != nil && len(k.SMILES) != n {
		return nil, fmt.Errorf("%d SMILES of %d graphs", len(k.SMILES), n)
	}
	d.smiles, d.targetName, d.colorName = k.SMILES, k.TargetName, k.ColorName
	for _, c := range k.Columns {
		if len(c.Values) != n {
			return nil, fmt.Errorf("the column %s has %d values of %d graphs", c.Name, len(c.Values), n)
		}
		d.columns = append(d.columns, newColumn(c.Name, c.Values))
	}
	learned, err := kernel.ParseChecked(k.Kernel, (&bounds{d: d, most: maxLearned}).check)
	if err != nil {
		return nil, err
	}
	return d, d.use(learned)
}

// batch makes the batch of a session, nil for none.
func (k *kept) batch(ctx context.Context, x *source) (*batch, error) {
	if k.Batch == nil {
		return nil, nil
	}
	_, key, err := x.choose(k.Batch.Kernel)
	if err != nil {
		return nil, err
	}
	if n := len(k.Batch.Graphs); n > maxBatch || n != len(k.Batch.Lines) {
		return nil, fmt.Errorf("a batch of %d graphs with %d lines, want at most %d of each", n, len(k.Batch.Lines), maxBatch)
	}
	ds, err := read(ctx, k.Batch.Name, k.Batch.Graphs, x.data.read, x.o)
	if err != nil {
		return nil, err
	}
	return &batch{id: rand.Text(), name: k.Batch.Name, s: x, key: key, graphs: ds.Graphs, lines: k.Batch.Lines}, nil
}

// read reads graphs that are kept as Graph JSON, all of which have to be there.
func read(ctx context.Context, name string, graphs []json.RawMessage, as dataset.Options, o Options) (*dataset.Dataset, error) {
	limits := (&uploadRequest{}).options(o.UploadBytes)
	as.Format, as.Strict, as.Limits = dataset.JSONLines, true, limits.Limits
	as.Structure, as.TargetColumn, as.IDColumn = "", "", ""
	text := bytes.Join(slices.Collect(func(yield func([]byte) bool) {
		for _, g := range graphs {
			if !yield(bytes.ReplaceAll(g, []byte("\n"), []byte(" "))) {
				return
			}
		}
	}), []byte("\n"))
	ds, err := dataset.ReadFrom(ctx, bytes.NewReader(append(text, '\n')), cmp.Or(strings.TrimSpace(name), "session"), as)
	if err != nil {
		return nil, err
	}
	if len(ds.Graphs) != len(graphs) {
		return nil, fmt.Errorf("%d graphs of %d can be read", len(ds.Graphs), len(graphs))
	}
	ds.Name = name
	return ds, nil
}
