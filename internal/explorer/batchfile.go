package explorer

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/work"
)

type batchExportRequest struct {
	Batch  string `json:"batch" help:"the batch, as POST batch names it"`
	Rows   []int  `json:"rows" help:"positions in the batch, from 0, in the order of the file"`
	Format string `json:"format" want:"one of csv sdf"`

	Endpoints []string `json:"endpoints,omitempty" want:"0 to 50" help:"columns of the data that are predicted besides the target"`
	kernelRequest
}

// postBatchExport writes rows of a batch, as they were predicted.
func postBatchExport(q *request, in *batchExportRequest) (*file, error) {
	b, err := q.s.batch(in.Batch)
	if err != nil {
		return nil, err
	}
	for _, i := range in.Rows {
		if i < 0 || i >= len(b.graphs) {
			return nil, notFound("rows", "row %d, want 0 … %d", i, len(b.graphs)-1)
		}
	}
	if n := len(in.Rows); n < 1 || n > len(b.graphs) {
		return nil, badRequest("rows", "rows: %d, want 1 to %d", n, len(b.graphs))
	}
	names, texts, err := q.told(in)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(b.name, ".")
	name += "-predicted." + in.Format
	if in.Format == "csv" {
		return short(q, func(context.Context) (*file, error) { return tableOf(names, texts, in.Rows, name) })
	}
	x, err := q.s.session(in.Kernel)
	if err != nil {
		return nil, err
	}
	var made result[*file] // of this request alone: drawings of many molecules take their time
	return computeAt(q.Context(), x, paceOf(len(in.Rows)), &made, "draw", func(ctx context.Context) (*file, error) {
		return b.sdf(ctx, names, texts, in.Rows, name)
	})
}

// told returns the names of what is predicted, for the target and further endpoints, and for a row their texts.
func (q *request) told(in *batchExportRequest) ([]string, func(i int) []string, error) {
	var names []string
	var parts []func(i int) []string
	for k, endpoint := range append([]string{""}, in.Endpoints...) {
		a, err := getBatch(q, &batchNamed{in.Batch, endpoint, in.kernelRequest})
		if err != nil {
			return nil, nil, err
		}
		some, texts := a.fields(q.s.data)
		if k > 0 {
			some, texts = a.further(endpoint)
		}
		names, parts = append(names, some...), append(parts, texts)
	}
	return names, func(i int) (out []string) {
		for _, texts := range parts {
			out = append(out, texts(i)...)
		}
		return out
	}, nil
}

// fields returns the names of what is told of a graph, and for a row their texts.
func (a *batchAnswer) fields(d *Data) (names []string, texts func(i int) []string) {
	target := d.quantity()
	names = []string{"id", "smiles", "line"}
	if len(a.Classes) > 0 {
		names = append(names, "predicted "+target)
	}
	if len(a.Probability) > 0 {
		names = append(names, "probability")
	}
	if len(a.Values) > 0 {
		names = append(names, "predicted "+target)
	}
	if a.Level != nil {
		names = append(names, "deviation", fmt.Sprintf("low %g %%", 100**a.Level), fmt.Sprintf("high %g %%", 100**a.Level))
	}
	names = append(names, "similarity", "percentile", "unlike", "nearest", "known", "same")
	return names, func(i int) []string {
		number := func(v float64) string { return fmt.Sprintf("%.6g", v) }
		out := []string{a.IDs[i], a.SMILES[i], strconv.Itoa(a.Lines[i])}
		if len(a.Classes) > 0 {
			out = append(out, a.Classes[i])
		}
		if len(a.Probability) > 0 {
			out = append(out, number(a.Probability[i]))
		}
		if len(a.Values) > 0 {
			out = append(out, number(a.Values[i]))
		}
		if a.Level != nil {
			out = append(out, number(a.Deviations[i]), number(a.Low[i]), number(a.High[i]))
		}
		known := ""
		if a.Known[i] >= 0 {
			known = d.IDs[a.Known[i]]
		}
		return append(out, number(a.Similarity[i]), strconv.Itoa(a.Percentile[i]), strconv.FormatBool(a.Unlike[i]), d.IDs[a.Nearest[i]], known, string(a.Same[i]))
	}
}

// tableOf writes rows as CSV.
func tableOf(names []string, texts func(i int) []string, rows []int, name string) (*file, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(names) // errors stay until the end
	for _, i := range rows {
		cells := texts(i)
		for k, c := range cells {
			cells[k] = cell(c)
		}
		w.Write(cells)
	}
	w.Flush()
	return &file{"text/csv; charset=utf-8", name, b.Bytes()}, w.Error()
}

// sdf writes molecules with the places and wedges of their drawings.
func (b *batch) sdf(ctx context.Context, names []string, texts func(i int) []string, rows []int, name string) (*file, error) {
	records := make([][]byte, len(rows))
	meter := work.NewMeter(ctx, "draw", len(rows))
	err := work.Each(work.Quiet(ctx), len(rows), 1, func(_, k int) error {
		i := rows[k]
		out, err := draw.AppendMolfile(nil, b.graphs[i], b.graphs[i].ID())
		if err != nil {
			return cannot("row %d, %s, cannot be written as SDF: %v; CSV has it", i, b.graphs[i].ID(), err)
		}
		for k, text := range texts(i) {
			if text = strings.Join(strings.Fields(text), " "); text != "" {
				out = fmt.Appendf(out, ">  <%s>\n%s\n\n", names[k], text)
			}
		}
		records[k] = append(out, "$$$$\n"...)
		meter.Add(1)
		return nil
	})
	return &file{"chemical/x-mdl-sdfile", name, slices.Concat(records...)}, err
}
