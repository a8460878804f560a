package cli

import (
	"io"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// fromFlags returns the kernel that a command line describes.
func fromFlags(t *testing.T, args ...string) kernel.Kernel {
	t.Helper()
	var r root
	withParameters(&r, "gram")
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
// flags and JSON; model.TestSavedPredictions saves it.
func TestEveryParameter(t *testing.T) {
	for _, name := range kernelNames() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range param.Of(k) {
			if name == "flg" && p.Name == "radii" {
				continue // with radii it is mlg
			}
			t.Run(name+"/"+p.Name, func(t *testing.T) {
				changed, text := kerneltest.Changed(t, k, p), kerneltest.Another(t, p)
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
				if other, text := kerneltest.Beside(p.Name); other != "" {
					args = append(args, flagName(other)+"="+text)
				}
				if name == "mlg" || name == "flg" { // no graphs decide on the base kernel
					if changed, err = kernel.With(changed, "base", "degree*wl h=2"); err != nil {
						t.Fatal(err)
					}
					args = append(args, "--base=degree*wl h=2")
				}
				if got := fromFlags(t, args...); got.String() != changed.String() {
					t.Errorf("from flags: %v, want %v", got, changed)
				}
			})
		}
	}
}
