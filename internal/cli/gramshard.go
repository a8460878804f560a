package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/tiles"
)

// shardFlags make gram compute the matrix in tiles.
type shardFlags struct {
	Shard    string `help:"Compute only the tiles of shard i of n, 1 ≤ i ≤ n. mlg merge joins them." placeholder:"I/N" group:"Shards"`
	Tiles    string `help:"Folder of the tiles, the same for all shards. Finished tiles stay there after an interruption. Without --shard all are computed, and joined to --out." type:"path" placeholder:"DIR" group:"Shards"`
	TileSide int    `help:"Rows and columns of a tile, the same for all shards." default:"1024" group:"Shards"`
}

// parse returns i and n of --shard i/n, 1/1 without it.
func (f *shardFlags) parse() (i, n int, err error) {
	if f.Tiles == "" {
		return 0, 0, usageError("--shard needs --tiles, the folder for the tiles")
	}
	if f.Shard == "" {
		return 1, 1, nil
	}
	return parseShard(f.Shard)
}

// parseShard returns i and n of i/n.
func parseShard(text string) (i, n int, err error) {
	rest := ""
	if got, _ := fmt.Sscanf(text, "%d/%d%s", &i, &n, &rest); got != 2 || n < 1 || i < 1 || i > n {
		return 0, 0, usageError(fmt.Sprintf("--shard %s: want I/N with 1 ≤ I ≤ N, as in 1/16", text))
	}
	return i, n, nil
}

// tiles computes the tiles of a shard, or of all and joins them.
func (c *gramCmd) tiles(g *globals) error {
	i, n, err := c.parse()
	if err != nil {
		return err
	}
	switch {
	case cmp.Or(c.Against, c.Picture, c.Map, c.Spectrum) != "":
		return usageError("--tiles cannot be used with --against or pictures: its tiles are of the matrix of DATA")
	case c.Shard != "" && c.Out != "":
		return usageError("--shard cannot be used with --out: it writes tiles to --tiles, and mlg merge joins those of all shards")
	case c.Shard == "" && filepath.Ext(c.Out) != ".npy":
		return usageError("--tiles needs --shard, or --out with a name that ends with .npy")
	}
	s, err := c.open(g, c.Data, anyNumber)
	if err != nil {
		return err
	}
	defer s.close()
	d, err := s.collect(g)
	if err != nil {
		return err
	}
	plan := tiles.Layout{Graphs: d.Graphs, Side: c.TileSide}
	if err := plan.Validate(); err != nil {
		return usageError("--tile-side: " + err.Error())
	}
	sum, err := tiles.Work(g.work(), c.Tiles, d, c.TileSide, i, n)
	if err != nil {
		g.kept.set("%d finished tiles of the shard are kept; the same command goes on from there", sum.Computed+sum.Kept)
		return err
	}
	if c.Shard == "" {
		return (&mergeCmd{[]string{c.Tiles}, c.Out}).Run(g)
	}
	text := ""
	if sum.Damaged > 0 {
		text = fmt.Sprintf(" (%d of them in place of damaged ones)", sum.Damaged)
	}
	return g.result(map[string]any{
		"kernel": d.Kernel.String(), "folder": c.Tiles, "shard": i, "shards": n, "tiles": sum.Tiles, "all_tiles": plan.Tiles(),
		"computed": sum.Computed, "kept": sum.Kept, "damaged": sum.Damaged,
	}, "%s: shard %d/%d has %d of %d tiles, %d computed%s and %d kept,", c.Tiles, i, n, sum.Tiles, plan.Tiles(),
		sum.Computed, text, sum.Kept)
}

// collect returns the features of a source.
func (s *source) collect(g *globals) (*tiles.Gram, error) {
	if s.store != nil {
		ids, targets, err := s.store.Texts(0, s.store.Len())
		if err != nil {
			return nil, err
		}
		return tiles.NewGram(s.Model, s.store.Len(), s.store.Features, matrixfile.Axis{IDs: ids, Targets: targets})
	}
	train, err := s.Kernel.Train(g.work())
	if err != nil {
		return nil, err
	}
	features := func(lo, hi int) (kernel.Features, error) { return kernel.Range(train, lo, hi), nil }
	return tiles.NewGram(s.Model, train.Len(), features, matrixfile.Axis{IDs: s.IDs, Targets: s.Targets})
}

type mergeCmd struct {
	Tiles []string `arg:"" name:"dir" help:"Folders or files of tiles that mlg gram --tiles has written." type:"path"`
	Out   string   `help:"File to write: .npy." short:"o" required:"" placeholder:"FILE"`
}

// Run merges tiles.
func (c *mergeCmd) Run(g *globals) error {
	m, err := tiles.Merge(g.work(), c.Out, c.Tiles)
	var p *tiles.Problems
	if errors.As(err, &p) {
		return fmt.Errorf("%w\n%s", err, mergeHint(p))
	}
	if err != nil {
		return err
	}
	for _, path := range m.Copies {
		g.note("%s: left out, because another file has the same tiles", path)
	}
	return g.result(map[string]any{
		"kernel": m.Kernel, "rows": m.Graphs, "columns": m.Graphs, "tiles": m.Layout.Tiles(), "copies": len(m.Copies), "file": c.Out,
	}, "%s: %d×%d values of %s from %d tiles", c.Out, m.Graphs, m.Graphs, m.Kernel, m.Layout.Tiles())
}

// mergeHint says what to do about problems.
func mergeHint(p *tiles.Problems) string {
	var hint []string
	if len(p.Foreign)+len(p.Duplicates) > 0 {
		hint = append(hint, "Delete the foreign files, and one file of each pair that differs.")
	}
	if len(p.Missing)+len(p.Damaged) > 0 {
		hint = append(hint, "Run mlg gram --tiles again: it computes what is missing or damaged and keeps the rest.")
	}
	return strings.Join(hint, "\n")
}
