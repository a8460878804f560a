package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// another returns a text for a parameter that is not its default.
func another(t *testing.T, p kernel.Parameter) string {
	t.Helper()
	switch p.Type {
	case "boolean":
		return fmt.Sprint(p.Default != true)
	case "text":
		for _, c := range p.Choices {
			if c != fmt.Sprint(p.Default) {
				return c
			}
		}
		return "degree*wl(2)" // a base kernel
	case "integer":
		for _, x := range []string{"3", "4"} {
			if x != fmt.Sprint(p.Default) {
				return x
			}
		}
	case "number":
		return "0.375"
	case "integers":
		return "1,3"
	case "numbers":
		return "0.5,3"
	}
	t.Fatalf("parameter %s has the type %q, which no test knows", p.Name, p.Type)
	return ""
}

// fromFlags returns the kernel that a command line describes.
func fromFlags(t *testing.T, args ...string) kernel.Kernel {
	t.Helper()
	var r root
	withParameters(&r)
	p, err := kong.New(&r, kernelVars(), kong.Bind(&r.globals), kong.Exit(func(int) { t.Fatal("it exits") }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(append([]string{"gram", "x.smi", "-o", "x.npy"}, args...)); err != nil {
		t.Fatal(err)
	}
	g := &globals{Quiet: true, ctx: t.Context(), stderr: io.Discard}
	k, err := r.Gram.kernel(g, r.Gram.Kernel, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Every parameter of every kernel changes the text that identifies it, and its value survives
// flags, JSON and a saved model.
func TestEveryParameter(t *testing.T) {
	var graphs []*graph.Graph
	r := graphtest.Rand(1)
	for range 4 {
		graphs = append(graphs, graphtest.Random(r, graphtest.Options{N: 5, Edge: 0.5, Labels: 2, Dim: 2, Weighted: true}))
	}
	for _, name := range kernelNames() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range kernel.Parameters(k) {
			if name == "flg" && p.Name == "radii" {
				continue // with radii it is mlg
			}
			t.Run(name+"/"+p.Name, func(t *testing.T) {
				text := another(t, p)
				changed, err := kernel.With(k, p.Name, text)
				if err != nil {
					t.Fatal(err)
				}
				if err := changed.Validate(); err != nil {
					t.Fatal(err)
				}
				if changed.String() == k.String() {
					t.Errorf("%s = %s does not change the text %s", p.Name, text, k)
				}
				b, err := kernel.Marshal(changed)
				if err != nil {
					t.Fatal(err)
				}
				if back, err := kernel.Unmarshal(b); err != nil || back.String() != changed.String() {
					t.Errorf("from JSON: %v, %v, want %v", back, err, changed)
				}
				flag := flagName(p.Name) + "=" + text
				if p.Type == "boolean" {
					flag = map[string]string{"true": flagName(p.Name), "false": "--no-" + flagName(p.Name)[2:]}[text]
				}
				args := []string{"--kernel", name, flag}
				if p.Name == "pair_rank" { // for the exact kernel alone
					if changed, err = kernel.With(changed, "exact", "true"); err != nil {
						t.Fatal(err)
					}
					args = append(args, "--exact")
				}
				if name == "mlg" || name == "flg" { // no graphs decide on the base kernel
					if changed, err = kernel.With(changed, "base", "degree*wl(2)"); err != nil {
						t.Fatal(err)
					}
					args = append(args, "--base=degree*wl(2)")
				}
				if got := fromFlags(t, args...); got.String() != changed.String() {
					t.Errorf("from flags: %v, want %v", got, changed)
				}
				saved(t, changed, graphs)
			})
		}
	}
}

// saved checks that a model file gives the kernel back, with its values.
func saved(t *testing.T, k kernel.Kernel, graphs []*graph.Graph) {
	t.Helper()
	ctx := context.Background()
	m := &model.Model{Graphs: graphs}
	for i := range graphs {
		m.IDs = append(m.IDs, fmt.Sprint(i))
	}
	var err error
	if m.Kernel, err = kernel.NewCollection(graphs).Fit(ctx, k); err != nil {
		t.Logf("not saved: %v", err) // a kernel for other graphs
		return
	}
	var b bytes.Buffer
	if err := model.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	back, err := model.Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Kernel.Sum.String(); got != k.String() {
		t.Errorf("from a model: %s, want %s", got, k)
	}
	want, err := m.Kernel.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Kernel.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want.Data {
		if got.Data[i] != v {
			t.Fatalf("value %d from a model is %v, want %v", i, got.Data[i], v)
		}
	}
}
