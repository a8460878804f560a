package evaluate

import (
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
)

// Kept is which share of an evaluation is in its folder.
type Kept struct {
	Scores      float64 // of methods on training parts
	Predictions float64 // of folds
}

// Done reports whether nothing is left to compute.
func (k Kept) Done() bool { return k.Scores == 1 && k.Predictions == 1 }

// KeptOf returns what the folder of the options has of an evaluation, nothing where there is no folder.
func KeptOf(d *dataset.Dataset, candidates []choose.Candidate, o Options) (Kept, error) {
	if o.Folder == "" {
		return Kept{}, nil
	}
	o.Damaged = nil // Run tells
	e, err := newEvaluation(d, candidates, &o)
	if err != nil {
		return Kept{}, err
	}
	sessions := [][]*choose.TrainingPart{e.parts}
	if o.Inductive {
		sessions = slices.Collect(slices.Chunk(e.parts, 1))
	}
	methods := slices.Concat(e.settings, e.sums)
	scored := map[*method][]bool{}
	all, have := 0, 0
	for _, parts := range sessions {
		s := &session{evaluation: e, parts: parts, took: map[*method]*seconds{}}
		for _, m := range methods {
			s.took[m] = &seconds{}
			known, err := e.folder.read(s, m)
			if err != nil {
				return Kept{}, err
			}
			if known != nil {
				s.take(m, known)
			}
		}
	}
	for _, m := range methods {
		scored[m] = make([]bool, len(e.parts))
		for i := range e.parts {
			if all++; m.results[i].Inner != nil || o.OnReported {
				have++
				scored[m][i] = true
			}
		}
	}
	out := Kept{Scores: float64(have) / float64(all)}
	all, have = 0, 0
	for _, row := range e.rows {
		for i, p := range e.parts {
			todo := row.methods
			if !o.OnReported {
				if all += row.methods[0].steps(); slices.ContainsFunc(row.methods, func(m *method) bool { return !scored[m][i] }) {
					continue // it is not known which method predicts
				}
				todo = []*method{e.chosen(row, p)}
			}
			for _, m := range todo {
				if o.OnReported {
					all += m.steps()
				}
				if m.results[i].predicted() {
					have += m.steps()
				}
			}
		}
	}
	out.Predictions = float64(have) / float64(all)
	return out, nil
}
