package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mlgkernel/mlg"
	_ "github.com/mlgkernel/mlg/classic" // registers its kernels
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/vertex"
	"github.com/mlgkernel/mlg/work"
)

// kernelFlag chooses a kernel.
type kernelFlag struct {
	Kernel *kernelArg `help:"Kernel with its parameters, as in \"wl h=3\" or \"0.5 mlg + 0.5 wl * sp\". By default ${kernel}. See mlg help kernels." placeholder:"TEXT" sep:"none"`
}

// helpWords are what texts of help name: the kernel that is taken where none is given.
var helpWords = kong.Vars{"kernel": string(defaultKernel())}

func defaultKernel() kernelArg { return kernelArg(mlg.Default().String()) }

// text returns the text of the kernel, which may be the default.
func (f *kernelFlag) text() kernelArg {
	if f.Kernel == nil {
		return defaultKernel()
	}
	return *f.Kernel
}

// refuse refuses a kernel where a file has its own.
func (f *kernelFlag) refuse(kind string) error {
	if f.Kernel == nil {
		return nil
	}
	return usageError(fmt.Sprintf("--kernel cannot be used with a %s, which has its own kernel", kind))
}

// kernelsFlag chooses several kernels.
type kernelsFlag struct {
	Kernel []kernelArg `help:"Kernel, as in \"wl h=3\" or \"0.5 mlg + 0.5 sp\". Repeat it for several. See mlg help kernels." placeholder:"TEXT" sep:"none"`
}

// kernelArg is the text of a kernel on the command line.
type kernelArg string

// kernel reads the text.
func (t kernelArg) kernel() (kernel.Kernel, error) {
	k, err := kernel.Parse(string(t))
	if err != nil {
		return nil, kernelError(err)
	}
	return k, nil
}

// once refuses a flag that stands twice and takes one value.
func once(c *kong.Context, name string) error {
	n := 0
	for _, p := range c.Path {
		if p.Flag != nil && p.Flag.Name == name && !p.Flag.IsSlice() {
			n++
		}
	}
	if n > 1 {
		return usageError(fmt.Sprintf("--%s is given twice; %s takes one", name, c.Command()))
	}
	return nil
}

// kernels reads texts, which must be of different kernels.
func kernels(texts []kernelArg) ([]kernel.Kernel, error) {
	var out []kernel.Kernel
	for _, t := range texts {
		k, err := t.kernel()
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(other kernel.Kernel) bool { return other.String() == k.String() }) {
			return nil, usageError(fmt.Sprintf("--kernel: %s is given twice", k))
		}
		out = append(out, k)
	}
	return out, nil
}

// exact reports whether some kernel in a sum is the exact multiscale one.
func exact(k kernel.Kernel) bool {
	return slices.ContainsFunc(multiscale(k), func(m mlg.Kernel) bool { return m.Exact })
}

// multiscale returns the multiscale kernels in a sum.
func multiscale(k kernel.Kernel) (out []mlg.Kernel) {
	for _, t := range kernel.SumOf(k).Terms {
		for _, f := range t.Factors {
			switch x := f.Kernel.(type) {
			case mlg.Kernel:
				out = append(out, x)
			case kernel.Sum:
				out = append(out, multiscale(x)...)
			}
		}
	}
	return out
}

// kernelError says what is wrong with the text of a kernel, and shows where.
func kernelError(err error) error {
	out := "--kernel: " + err.Error()
	var at *param.TextError
	if errors.As(err, &at) {
		out = "--kernel: " + at.Err.Error()
		var unknown *param.Unknown
		if errors.As(err, &unknown) {
			out += didYouMean(unknown.Name, unknown.Want)
		}
		if strings.HasPrefix(at.Text[max(0, at.At):], ",") {
			out += "; repeat the flag for several kernels"
		}
		if at.At != param.NoPlace && at.Text != "" {
			text, column := at.Window(table.Width - 4)
			out += "\n  " + strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(text) + "\n  " + strings.Repeat(" ", column-1) + "^"
		}
	}
	return usageError(out)
}

// resolved notes what graphs decide about the multiscale kernels in a sum.
func (g *globals) resolved(k kernel.Kernel, graphs []*graph.Graph) {
	for _, m := range multiscale(k) {
		if of := vertex.Choose(graphs); m.Base == "" && of != "labels" {
			g.note("no vertex labels: the kernel on vertices is %s (%s base=… chooses another)", of, m.Name())
			return
		}
	}
}

// optionError turns an error about an option, as in "choose: Folds = 1, want …", into one about its
// flag.
func optionError(err error) error {
	var wrong *param.Error
	if err == nil || !errors.As(err, &wrong) {
		return err
	}
	flag := "--" + strings.ReplaceAll(strings.ToLower(wrong.Name), "_", "-")
	return usageError((&param.Error{Name: flag, Value: wrong.Value, Want: wrong.Want}).Error())
}

// work returns the context of a command that shows its progress.
func (g *globals) work() context.Context {
	w := work.Of(g.ctx)
	w.Progress = g.bar.progress
	w.Memory = int64(g.MaxMemory * 1e9)
	return work.With(g.ctx, w)
}
