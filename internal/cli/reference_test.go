package cli

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/vertex"
)

var update = flag.Bool("update", false, "write the generated parts of docs/reference/commands.md and kernels.md")

// TestReference compares the lists of flags and parameters in the reference with those of the
// command. They stand at the end of a page, after this line.
func TestReference(t *testing.T) {
	const mark = "<!-- Below: go test ./internal/cli -run TestReference -update -->\n"
	for name, want := range map[string]string{"commands": commandsReference(t), "kernels": kernelsReference(t)} {
		path := "../../docs/reference/" + name + ".md"
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, got, ok := strings.Cut(string(page), mark)
		if !ok {
			t.Fatalf("%s: no line %q", path, mark)
		}
		if *update {
			if err := os.WriteFile(path, []byte(text+mark+want), 0o666); err != nil {
				t.Fatal(err)
			}
		} else if got != want {
			t.Errorf("%s is not what the command says: run go test ./internal/cli -run TestReference -update", path)
		}
	}
}

// aFlag is a flag in a help text.
var aFlag = regexp.MustCompile(`(^|[ (])(--[a-z][a-z-]*)`)

// cell quotes text for a table.
func cell(s string) string {
	return aFlag.ReplaceAllString(strings.ReplaceAll(s, "|", `\|`), "$1`$2`")
}

// commandsReference lists the commands with their arguments and flags.
func commandsReference(t *testing.T) string {
	parser, _ := parserOf(t)
	parser.Model.HelpFlag.Help = helpOfHelp
	var b strings.Builder
	list := func(flags []*kong.Flag) {
		if len(flags) == 0 {
			return
		}
		b.WriteString("\n| flag | default | meaning |\n|---|---|---|\n")
		for _, f := range flags {
			name := "--" + f.Name
			if f.Short != 0 {
				name = fmt.Sprintf("-%c, %s", f.Short, name)
			}
			if f.Tag.Negatable != "" {
				name = "--[no-]" + f.Name
			}
			value := f.Default
			if f.PlaceHolder != "" {
				name += " " + f.PlaceHolder
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, code(value), cell(f.Help))
		}
	}
	command := func(n *kong.Node) {
		path := strings.TrimPrefix(n.FullPath(), "mlg ")
		fmt.Fprintf(&b, "\n### mlg %s\n\n    mlg %s", path, path)
		for _, a := range n.Positional {
			fmt.Fprintf(&b, " %s", a.Summary())
		}
		fmt.Fprintf(&b, " [flags]\n\n%s\n", n.Help)
		if n.Detail != "" {
			fmt.Fprintf(&b, "\n%s\n", regexp.MustCompile(`(?m)^(\w.*)$`).ReplaceAllString(n.Detail, "    $1"))
		}
		for i, a := range n.Positional {
			if i == 0 {
				b.WriteString("\n| argument | meaning |\n|---|---|\n")
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", a.Summary(), cell(a.Help))
		}
		var own []*kong.Flag
		var groups []string
		for _, f := range n.Flags {
			switch {
			case f.Group == nil || !slices.Contains(sharedGroups, f.Group.Key):
				own = append(own, f)
			case !slices.Contains(groups, f.Group.Key):
				groups = append(groups, f.Group.Key)
			}
		}
		list(own)
		for i, g := range groups {
			if i == 0 {
				b.WriteString("\nAlso:")
			} else {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " [%s](#%s)", strings.ToLower(g), strings.ToLower(strings.ReplaceAll(g, " ", "-")))
			if i == len(groups)-1 {
				b.WriteString(".\n")
			}
		}
	}
	for _, n := range commands(parser.Model) {
		if children := commands(&kong.Application{Node: n}); len(children) > 0 {
			for _, c := range children {
				command(c)
			}
			continue
		}
		command(n)
	}
	b.WriteString("\n## Flags of every command\n")
	list(parser.Model.Flags)
	for _, group := range sharedGroups {
		fmt.Fprintf(&b, "\n## %s\n", group)
		seen := map[string]bool{}
		var flags []*kong.Flag
		for _, n := range commands(parser.Model) {
			for _, f := range n.Flags {
				if f.Group != nil && f.Group.Key == group && !seen[f.Name] {
					seen[f.Name], flags = true, append(flags, f)
				}
			}
		}
		list(flags)
	}
	return b.String()
}

// The page about kernels names all that do not see directions.
func TestBlindKernels(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
	var blind []string
	for _, name := range kernel.Names() {
		if k, err := kernel.Named(name); err != nil || !kernel.SeesDirections(k) {
			blind = append(blind, "`"+name+"`")
		}
	}
	want := "These kernels do not see directions: " + strings.Join(blind, ", ") + ", and any kernel"
	if text := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(text, want) {
		t.Errorf("docs/reference/kernels.md: want %q", want)
	}
}

// code shows a value, or nothing.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// kernelsReference lists the kernels with their parameters.
func kernelsReference(*testing.T) string {
	var b strings.Builder
	list := func(name, about string, parameters []param.Parameter) {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", name, cell(about))
		for i, p := range parameters {
			if i == 0 {
				b.WriteString("\n| parameter | default | values | meaning |\n|---|---|---|---|\n")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, code(strings.Trim(param.Value(p.Default), `"`)), cell(p.Want), cell(p.Help))
		}
	}
	for _, name := range kernel.Names() {
		k, _ := kernel.Named(name)
		list(name, "Compares "+kernel.About(name)+".", param.Of(k))
	}
	b.WriteString("\n## Parameters of kernels on vertices\n")
	for _, name := range vertex.Names() {
		list(name+" on vertices", "For two vertices: "+vertex.About(name)+".", vertex.Parameters(name))
	}
	b.WriteString("\n## Limits\n\n`mlg train` and `mlg evaluate --default` take a kernel of their list up to these numbers, for all\n" +
		"graphs together. A kernel that you name has no such limit. `mlg compare` computes `mlg exact` up to\n" +
		"its number where it is not asked for. Rows that end in \"error\" hold for each graph, in every\n" +
		"command. Beyond these, memory is the limit.\n\n| kernel | what counts | at most | above |\n|---|---|---|---|\n")
	for _, l := range choose.Limits {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", l.Kernel, l.Counts, l.Text(), l.Instead)
	}
	fmt.Fprintf(&b, "| `mlg exact` | multiplications | %s | low rank |\n", choose.Limit{Most: mostExact}.Text())
	b.WriteString("| `mlg exact` | bytes of tables of kernel values | `--max-memory` | error |\n")
	for _, l := range classic.Bounds {
		fmt.Fprintf(&b, "| `%s` | %s | %s | error |\n", l.Kernel, l.Counts, choose.Limit{Most: l.Most}.Text())
	}
	fmt.Fprintf(&b, "| all | vertices | %s | error |\n", choose.Limit{Most: graph.MaxVertices}.Text())
	fmt.Fprintf(&b, "| all | edges | %s | error |\n", choose.Limit{Most: math.MaxInt32 / 2}.Text())
	return b.String()
}

// The page about kernels names every kernel in its table, every form, and every kernel that does not see directions.
func TestKernelsPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/reference/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
	section := func(from, to string) string {
		_, rest, ok := strings.Cut(string(b), from)
		text, _, end := strings.Cut(rest, to)
		if !ok || !end {
			t.Fatalf("no text from %q to %q", from, to)
		}
		return text
	}
	table := section("| name | compares |", "## The language")
	blind := section("These kernels do not see directions:", "and any kernel")
	for _, name := range kernel.Names() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("the table has no %s", name)
		}
		if strings.Contains(blind, "`"+name+"`") == kernel.SeesDirections(k) {
			t.Errorf("%s sees directions: %v", name, kernel.SeesDirections(k))
		}
	}
	forms := section("| form | graphs |", "### Directed graphs")
	for _, name := range formNames() {
		if !strings.Contains(forms, "\n| `"+name+"` |") || !strings.Contains(section("    form      = ", "\n"), `"`+name+`"`) {
			t.Errorf("the page does not explain %s", name)
		}
	}
}
