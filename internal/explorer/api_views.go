package explorer

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg"
)

func (s *Server) getMap(q *request) (any, error) {
	p, err := q.x.placed(q.Context())
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"pca":        map[string]any{"x": rounded(p.pca[0]), "y": rounded(p.pca[1]), "share": p.share},
		"neighbours": map[string]any{"x": rounded(p.neighbours[0]), "y": rounded(p.neighbours[1])},
		"parameters": q.x.params,
		"levels":     q.x.levels(),
	}, nil
}

// rounded keeps five digits of coordinates, which no screen exceeds.
func rounded(x []float64) []json5 {
	out := make([]json5, len(x))
	for i, v := range x {
		out[i] = json5(v)
	}
	return out
}

type json5 float64

// MarshalJSON writes five significant digits.
func (v json5) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(v), 'g', 5, 64), nil
}

// maxCells is the largest number of rows of the matrix view.
const maxCells = 800

func (s *Server) getMatrix(q *request) (any, error) {
	limit, err := q.number("cells", 600, 1, maxCells)
	if err != nil {
		return nil, err
	}
	f, err := q.x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	o, err := q.x.ordered(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(context.Context) (any, error) {
		c, per := cells(f.gram, o.order, limit)
		low, high := math.Inf(1), math.Inf(-1)
		for i := range c.Rows {
			for j, v := range c.Row(i) {
				if i != j || c.Rows == 1 {
					low, high = min(low, v), max(high, v)
				}
			}
		}
		bytes := make([]byte, len(c.Data))
		for i, v := range c.Data {
			if high > low {
				v = (v - low) / (high - low)
			}
			bytes[i] = byte(math.Round(255 * min(max(v, 0), 1)))
		}
		graphs := make([]int, len(o.order))
		for a, i := range o.order {
			graphs[a] = f.core[i]
		}
		return map[string]any{"order": graphs, "size": c.Rows, "per_cell": per, "low": low, "high": high,
			"cells": base64.StdEncoding.EncodeToString(bytes)}, nil
	})
}

// maxBlock bounds the entries of a block of the Gram matrix.
const maxBlock = 250_000

func (s *Server) getGram(q *request) (any, error) {
	rows, err := q.span("rows")
	if err != nil {
		return nil, err
	}
	cols, err := q.span("columns")
	if err != nil {
		return nil, err
	}
	if len(rows)*len(cols) > maxBlock {
		return nil, badRequest("a block of %d × %d, want at most %d entries", len(rows), len(cols), maxBlock)
	}
	f, err := q.x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(ctx context.Context) (any, error) {
		var b *mlg.Matrix
		if f.whole() {
			b = mlg.NewMatrix(len(rows), len(cols))
			for a, i := range rows {
				copy(b.Row(a), f.gram.Row(i)[cols[0]:cols[0]+len(cols)])
			}
		} else if b, err = f.block(ctx, rows, cols); err != nil {
			return nil, err
		}
		values := make([][]float64, len(rows))
		for i := range values {
			values[i] = b.Row(i)
		}
		return map[string]any{"rows": rows, "columns": cols, "values": values}, nil
	})
}

// span reads a range "from-to" of graphs, both included; without it the first hundred.
func (q *request) span(name string) ([]int, error) {
	n := len(q.s.src.IDs)
	from, to := 0, min(99, n-1)
	if text, ok := q.query[name]; ok {
		a, b, ranged := strings.Cut(text, "-")
		var err, errTo error
		if from, err = strconv.Atoi(a); ranged {
			to, errTo = strconv.Atoi(b)
		} else {
			to = from
		}
		if err != nil || errTo != nil || from < 0 || to < from || to >= n {
			return nil, badRequest("query: %s=%q, want a range such as 0-99 within 0-%d", name, text, n-1)
		}
	}
	out := make([]int, to-from+1)
	for i := range out {
		out[i] = from + i
	}
	return out, nil
}

func (s *Server) getEvaluate(q *request) (any, error) { return q.x.evaluated(q.Context()) }

func (s *Server) getProgress(q *request) (any, error) {
	out := struct {
		State string `json:"state"` // idle, waiting or running
		Progress
	}{State: "idle"}
	if x := q.x; x != nil {
		if p := x.progress.Load(); p != nil {
			out.State, out.Progress = "running", *p
		} else if s.heavy.waiting.Load() > 0 {
			out.State = "waiting"
		}
	}
	return out, nil
}

// table is the CSV of all graphs with their places, nearest others and predictions.
func (x *session) table(ctx context.Context) ([]byte, error) {
	p, err := x.placed(ctx)
	if err != nil {
		return nil, err
	}
	e, err := x.evaluated(ctx)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("index,id,target,cross_validated,nearest,similarity,pca_x,pca_y,neighbours_x,neighbours_y\n")
	src := x.s.src
	for i, id := range src.IDs {
		target, near, similarity := "", "", ""
		if src.Targets != nil {
			target = src.Targets[i]
		}
		if list := p.near.list[i]; len(list) > 0 {
			near, similarity = src.IDs[list[0]], fmt.Sprintf("%.6g", p.near.like[i][0])
		}
		answer, _ := e.answer(i)
		fmt.Fprintf(&b, "%d,%s,%s,%s,%s,%s,%.5g,%.5g,%.5g,%.5g\n", i, field(id), field(target), field(answer), field(near), similarity,
			p.pca[0][i], p.pca[1][i], p.neighbours[0][i], p.neighbours[1][i])
	}
	return []byte(b.String()), nil
}

// field writes a field of a CSV. A text that a spreadsheet would take for a formula gets an
// apostrophe, unless it is a number.
func field(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			s = "'" + s
		}
	}
	if strings.ContainsAny(s, ",\"\n\r") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
