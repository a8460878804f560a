package kerneltest

import (
	"fmt"
	"testing"

	"github.com/mlgkernel/mlg/kernel"
)

// Another returns a text for a parameter that is not its default.
func Another(t *testing.T, p kernel.Parameter) string {
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
			choices = []string{"degree*wl(2)"} // a base kernel
		}
	case "integer":
		choices = []string{"3", "4"}
	case "number":
		choices = []string{"0.375"}
	case "integers":
		choices = []string{"1,3"}
	case "numbers":
		choices = []string{"0.5,3"}
	}
	for _, c := range choices {
		if c != fmt.Sprint(p.Default) {
			return c
		}
	}
	t.Fatalf("parameter %s has the type %q, which no test knows", p.Name, p.Type)
	return ""
}

// Changed returns a kernel with its parameter p set to Another, and, where that is for exact kernels alone, exact.
func Changed(t *testing.T, k kernel.Kernel, p kernel.Parameter) kernel.Kernel {
	t.Helper()
	changed, err := kernel.With(k, p.Name, Another(t, p))
	if err == nil && p.Name == "pair_rank" {
		changed, err = kernel.With(changed, "exact", "true")
	}
	if err != nil {
		t.Fatal(err)
	}
	return changed
}
