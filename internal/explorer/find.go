package explorer

import (
	"context"
	"fmt"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
)

// findRequest says what graphs shall have; all of it must hold.
type findRequest struct {
	Text   string `json:"text,omitempty" help:"part of the identifier; upper and lower case are the same"`
	Class  string `json:"class,omitempty" help:"the class, or the target as it was read"`
	SMILES string `json:"smiles,omitempty" help:"a fragment of a molecule. Elements, charges and bond orders must match. Aromatic atoms are in lower case. Hydrogens do not count. Marks of stereochemistry must match where the fragment has them."`
	Limit  int    `json:"limit,omitempty" default:"200" want:"1 to 20000" help:"largest number of graphs in the answer"`
}

type findAnswer struct {
	Index   []int   `json:"index" help:"the graphs that were found"`
	Total   int     `json:"total" help:"number of all graphs that match"`
	Matched [][]int `json:"matched" help:"for each graph, the vertices of the fragment; empty without a fragment"`
	Note    string  `json:"note" help:"in how many graphs the search was not complete; otherwise empty"`
}

// fragmentSteps bounds the search for a fragment in a graph.
const fragmentSteps = 50_000

func getFind(q *request, in *findRequest) (*findAnswer, error) {
	d, out := q.s.data, &findAnswer{Index: []int{}, Matched: [][]int{}}
	var fragment *chem.Substructure
	if text := strings.TrimSpace(in.SMILES); text != "" {
		var err error
		switch {
		case !d.fragments():
			return nil, &apiError{422, "fragments can be searched in molecules only, and these graphs are not molecules", "smiles"}
		case len(text) > maxSMILES:
			return nil, badRequest("smiles", "smiles: %d bytes, want at most %d", len(text), maxSMILES)
		}
		if fragment, err = chem.ParseSubstructure(text); err != nil {
			return nil, badRequest("smiles", "smiles: %v", err)
		}
	}
	return short(q, func(ctx context.Context) (*findAnswer, error) {
		wanted, open := strings.ToLower(strings.TrimSpace(in.Text)), 0
		for i, id := range d.IDs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if !strings.Contains(strings.ToLower(id), wanted) || in.Class != "" && d.Targets[i] != in.Class {
				continue
			}
			if fragment != nil {
				at, complete := fragment.In(d.Graphs[i], fragmentSteps)
				if !complete {
					open++
				}
				if at == nil {
					continue
				}
				if out.Total < in.Limit {
					out.Matched = append(out.Matched, at)
				}
			}
			if out.Total++; out.Total <= in.Limit {
				out.Index = append(out.Index, i)
			}
		}
		if open > 0 {
			out.Note = fmt.Sprintf("graphs where the search took too long and was stopped: %d", open)
		}
		return out, nil
	})
}

// fragments reports whether the graphs are molecules that can be searched for fragments: elements as labels and
// bond symbols as edge labels.
func (d *Data) fragments() bool { return d.molecules && chem.Molecules(d.Graphs) }
