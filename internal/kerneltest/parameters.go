package kerneltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// Another returns a text for a parameter that is not its default.
func Another(t *testing.T, p param.Parameter) string {
	t.Helper()
	choices := p.Choices
	switch p.Type {
	case "boolean":
		return fmt.Sprint(p.Default != true)
	case "text":
		switch {
		case p.Want == "a kernel":
			choices = []string{"labels", "sp ordered"}
		case choices == nil:
			choices = []string{"degree*wl h=2"} // a base kernel
		}
	case "integer":
		choices = []string{"3", "4"}
	case "number":
		choices = []string{"0.375"}
	case "integers":
		choices = []string{"1,3"}
	case "numbers":
		choices = []string{"0.5,3"}
		if strings.HasSuffix(p.Name, "_values") {
			choices = []string{"1,0.5,0.5,2"}
		}
	case "texts":
		choices = []string{map[string]string{"vertices": "C,N", "edges": "-,="}[p.Name]}
	}
	for _, c := range choices {
		if c != fmt.Sprint(p.Default) {
			return c
		}
	}
	t.Fatalf("parameter %s has the type %q, which no test knows", p.Name, p.Type)
	return ""
}

// Beside returns the parameter that another one needs to be set, with its text, "" for none.
func Beside(name string) (other, text string) {
	switch name {
	case "pair_rank": // for exact kernels alone
		return "exact", "true"
	case "vertices":
		return "vertex_values", "1,0.5,0.5,2"
	case "vertex_values":
		return "vertices", "C,N"
	case "edges":
		return "edge_values", "1,0.5,0.5,2"
	case "edge_values":
		return "edges", "-,="
	}
	return "", ""
}

// Changed returns a kernel with its parameter p set to Another, and what it needs beside it.
func Changed(t *testing.T, k kernel.Kernel, p param.Parameter) kernel.Kernel {
	t.Helper()
	changed, err := kernel.With(k, p.Name, Another(t, p))
	if other, text := Beside(p.Name); err == nil && other != "" {
		changed, err = kernel.With(changed, other, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return changed
}
