package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// smallGraphs draws graphs side by side, up to three in a row.
func smallGraphs(panels []draw.Panel) (*draw.Picture, error) {
	o := draw.DefaultOptions()
	o.Size = draw.Size{Width: 250, Height: 200}
	return draw.Gallery("", 3, panels, o)
}

// classesOf returns the targets that colours can stand for, or nil when the targets are
// values, are missing, or are too many to be told apart.
func classesOf(ds *dataset.Dataset) []string {
	s := dataset.Info(ds)
	if s.Classes < 2 || s.Classes > 56 || s.Targets < s.Graphs {
		return nil
	}
	return ds.Targets()
}

// spectrum draws the eigenvalues of the landmarks' Gram matrices of a low-rank kernel, a line for
// each level that has them. Other kernels have none.
func spectrum(title string, m *mlg.LowRank) (*draw.Picture, error) {
	if m == nil {
		return nil, usageError("--spectrum: only the low-rank kernels mlg and flg have landmarks")
	}
	c := draw.LineChart{Title: title, XAxis: "number", YAxis: "eigenvalue", Size: draw.Size{Width: 720, Height: 420}}
	for l := range len(m.Kernel().Radii) + 1 {
		s := draw.Series{Name: fmt.Sprintf("level %d", l)}
		for i, v := range m.Eigenvalues(l) {
			if v > 0 {
				s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, v)
			}
		}
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	if len(c.Series) == 0 {
		return nil, usageError("--spectrum: no level has sampled landmarks, because the features of the base kernel are explicit")
	}
	return c.Picture()
}

// largestPicture is the number of graphs up to which reports draw kernel matrices.
const largestPicture = 5000

// kernelFigures are the pictures of a kernel matrix for a report: heat map, map, and the
// spectrum where the kernel has one.
func kernelFigures(g *globals, name string, fitted *model.Model, k *kernel.Matrix, class []string) ([]draw.Block, error) {
	heat, err := draw.HeatMap(g.ctx, "", k, class, draw.Size{Width: 720, Height: 560})
	if err != nil {
		return nil, err
	}
	plane, err := draw.Map(g.ctx, "", k, class, draw.Size{Width: 720, Height: 480})
	if err != nil {
		return nil, err
	}
	order := "similar graphs side by side"
	if class != nil {
		order = "classes together, and similar graphs side by side within a class"
	}
	out := []draw.Block{
		draw.Figure{Picture: heat, Caption: fmt.Sprintf("Gram matrix of %s: every cell is the similarity of two graphs, %s. Dark squares on the diagonal are groups of similar graphs.", name, order)},
		draw.Figure{Picture: plane, Caption: "Map of the graphs by kernel principal component analysis: graphs that the kernel finds similar are near each other, as far as two dimensions can show."},
	}
	if p, err := spectrum("", model.LowRank(fitted.Kernel.Factors[0])); err == nil {
		out = append(out, draw.Figure{Picture: p, Caption: "Eigenvalues of the landmarks' Gram matrices that were kept. Where a line still falls steeply at its end, a larger rank would see more."})
	}
	return out, nil
}

// footer says how a report was made.
func footer(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if strings.ContainsAny(a, " \t'\"$&|;<>()*?[]#~=%!{}\\") || a == "" {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return fmt.Sprintf("%s. Made by: mlg %s", thisBuild(), strings.Join(words, " "))
}

// commandLine is the arguments of this process, for footers.
func commandLine() []string { return os.Args[1:] }
