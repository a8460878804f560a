// Command figures measures how the kernels behave and draws it: the curves in bench/runs.
//
//	figures [-data FOLDER] [-out FOLDER] perturb|error|seeds|graphs|size|landmarks
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"image/color"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

var (
	data = flag.String("data", "../../shared/datasets", "folder of the datasets")
	out  = flag.String("out", ".", "folder for tables and pictures")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	jobs := map[string]func() error{
		"perturb": perturb, "error": lowRankError, "seeds": seeds,
		"graphs": scaleGraphs, "size": scaleSize, "landmarks": scaleLandmarks,
	}
	for _, name := range flag.Args() {
		job, ok := jobs[name]
		if !ok {
			log.Fatalf("figures: no figure %q", name)
		}
		if err := job(); err != nil {
			log.Fatalf("figures: %s: %v", name, err)
		}
	}
}

func read(name string) ([]*graph.Graph, error) {
	ds, err := dataset.Read(context.Background(), filepath.Join(*data, name), dataset.DefaultOptions())
	if err != nil {
		return nil, err
	}
	return ds.Graphs, nil
}

func gram(k kernel.Kernel, graphs []*graph.Graph) (*kernel.Matrix, error) {
	f, err := k.Fit(context.Background(), graphs)
	if err != nil {
		return nil, err
	}
	return f.Gram(context.Background())
}

// curve is a line of a figure.
type curve struct {
	name string
	x, y []float64
}

func (c *curve) add(x, y float64) {
	c.x = append(c.x, x)
	c.y = append(c.y, y)
}

// figure is written as a table and drawn.
type figure struct {
	name, title, xlabel, ylabel string
	logX, logY                  bool
	curves                      []*curve
}

func (f *figure) curve(name string) *curve {
	c := &curve{name: name}
	f.curves = append(f.curves, c)
	return c
}

func (f *figure) write() error {
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(*out, f.name+".csv"))
	if err != nil {
		return err
	}
	defer file.Close()
	w := csv.NewWriter(file)
	if err := w.Write([]string{"curve", f.xlabel, f.ylabel}); err != nil {
		return err
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.title, f.xlabel, f.ylabel
	p.Legend.Top, p.Legend.Left = true, f.logY && len(f.curves) == 1 || !f.logY
	p.BackgroundColor = color.White
	if f.logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if f.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Add(plotter.NewGrid())
	colours := []color.RGBA{{0, 90, 160, 255}, {200, 80, 0, 255}, {0, 130, 80, 255}, {150, 50, 140, 255}, {110, 110, 110, 255}, {190, 160, 0, 255}}
	for i, c := range f.curves {
		pts := make(plotter.XYs, len(c.x))
		for j := range pts {
			pts[j].X, pts[j].Y = c.x[j], c.y[j]
			if err := w.Write([]string{c.name, format(c.x[j]), format(c.y[j])}); err != nil {
				return err
			}
		}
		line, marks, err := plotter.NewLinePoints(pts)
		if err != nil {
			return err
		}
		line.Color, marks.Color = colours[i%len(colours)], colours[i%len(colours)]
		line.Width = vg.Points(1.5)
		if i >= len(colours) {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		marks.Shape = draw.CircleGlyph{}
		p.Add(line, marks)
		p.Legend.Add(c.name, line, marks)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	fmt.Println("wrote", filepath.Join(*out, f.name+".csv"), "and .png")
	return p.Save(16*vg.Centimeter, 11*vg.Centimeter, filepath.Join(*out, f.name+".png"))
}

func format(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
