package worker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/suggest"
)

// suggestArgs say which of a pool of graphs are wanted. The last Excluded graphs are not part of the pool, and not
// wanted. Goals are those of several targets, in place of Goal. Class is a place among the model's classes, −1 for none.
// Budget 0 is none.
type suggestArgs struct {
	K           int       `json:"k"`
	Goal        string    `json:"goal"`
	Goals       []goalOf  `json:"goals"`
	Class       int       `json:"class"`
	Acquisition string    `json:"acquisition"`
	Cost        []float64 `json:"cost"`
	Budget      float64   `json:"budget"`
	Beta        float64   `json:"beta"`
	Seed        uint64    `json:"seed"`
	Excluded    int       `json:"excluded"`
}

// goalOf is the goal of a target.
type goalOf struct {
	Target string `json:"target"`
	Goal   string `json:"goal"`
}

// suggestBlock is the number of graphs that are looked at together.
const suggestBlock = 512

// suggest returns the batch of a pool as the command does. Classes are places among the model's.
func (c *call) suggest(args suggestArgs) (any, error) {
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	o := suggest.DefaultPoolOptions()
	for _, g := range args.Goals {
		w := suggest.Wanted{Target: g.Target}
		if w.Goal, err = suggest.ParseGoal(g.Goal); err != nil {
			return nil, fmt.Errorf("target %s: %w", g.Target, err)
		}
		o.Goals = append(o.Goals, w)
	}
	if o.Goals == nil {
		if o.Goal, err = suggest.ParseGoal(args.Goal); err != nil {
			return nil, err
		}
		if err := c.single(); err != nil {
			return nil, err
		}
	}
	m, err := o.Wants(c.fitted.model)
	if err != nil {
		return nil, err
	}
	o.K, o.Acquisition, o.Beta, o.Seed = args.K, suggest.Acquisition(args.Acquisition), args.Beta, args.Seed
	if args.Budget > 0 {
		o.Budget = args.Budget
	}
	if args.Class >= 0 {
		o.Class = m.Classes[args.Class]
	}
	pool := graphs[:len(graphs)-args.Excluded]
	o.Excluded = graphs[len(pool):]
	at := 0
	r, err := suggest.From(c.ctx, m, func() (suggest.Block, error) {
		b := suggest.Block{First: at, Graphs: pool[at:min(at+suggestBlock, len(pool))]}
		b.IDs = make([]string, len(b.Graphs))
		for i, g := range b.Graphs {
			b.IDs[i] = cmp.Or(g.ID(), strconv.Itoa(at+i))
		}
		if args.Cost != nil {
			b.Cost = args.Cost[at : at+len(b.Graphs)]
		}
		at += len(b.Graphs)
		return b, nil
	}, nil, o)
	if err != nil {
		return nil, err
	}
	type suggested struct {
		suggest.Suggestion
		Place int `json:"place"` // of the class
	}
	out := []suggested{}
	for _, x := range r.Batch {
		out = append(out, suggested{x, slices.Index(m.Classes, x.Class)})
	}
	return map[string]any{"batch": out, "best": r.Best, "measured": r.Measured, "acquisition": r.Acquisition}, nil
}
