package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

// Help says how to read and install the page.
func (*manCmd) Help() string {
	return `mlg man | man -l -

mlg man > ~/.local/share/man/man1/mlg.1`
}

// Run prints the manual page, made from the same description as the parser.
func (*manCmd) Run(g *globals, k *kong.Context) error {
	_, err := fmt.Fprint(g.stdout, manPage(k.Model, thisBuild()))
	return err
}

// roff quotes text for the formatter.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// sharedGroups are those of flags that several commands have. They stand in sections of their own.
var sharedGroups = []string{dataGroup}

// manual writes a manual page.
type manual struct{ strings.Builder }

func (m *manual) print(format string, args ...any) { fmt.Fprintf(m, format, args...) }

// manPage returns the page with all commands, flags and topics.
func manPage(app *kong.Application, this build) string {
	m := &manual{}
	m.print(".TH MLG 1 %s %s \"User commands\"\n", quoteArg(this.date), quoteArg("mlg "+this.Version))
	m.print(".SH NAME\nmlg \\- measure how alike graphs are, at every scale\n")
	m.print(".SH SYNOPSIS\n.B mlg\n.I command\n.RI [ flags ]\n.I arguments\n.br\n.B mlg help\n.RI [ command | topic ]\n")
	m.print(".SH DESCRIPTION\n%s\n", roff("mlg computes the Multiscale Laplacian Graph kernel of Kondor and Pan (2016) and its relatives. It turns them into Gram matrices, classifiers, similarity search and explanations. It reads common molecule and graph formats."))
	m.print(".PP\n%s\n.RS\n.B mlg demo\n.RE\n", roff("The first thing to try, on built-in molecules:"))
	m.print(".SH COMMANDS\n")
	for _, n := range commands(app) {
		m.command(n)
	}
	m.print(".SH FLAGS OF EVERY COMMAND\n")
	for _, f := range app.Flags {
		m.flag(f)
	}
	for _, group := range sharedGroups {
		m.print(".SH %s\n", quoteArg("FLAGS: "+strings.ToUpper(group)))
		for _, f := range flagsOf(app, group) {
			m.flag(f)
		}
	}
	m.topics(app)
	m.print(".SH EXIT STATUS\n")
	for _, e := range []struct {
		code int
		what string
	}{{exitOK, "Done."}, {exitFailed, "The work could not be done: no such file, bad data, a full disk."},
		{exitUsage, "The command line is wrong."}, {exitInterrupt, "Interrupted by SIGINT or SIGTERM."}} {
		m.print(".TP\n.B %d\n%s\n", e.code, roff(e.what))
	}
	m.print(".SH EXAMPLES\n.nf\n")
	for _, e := range []string{"mlg compare 'CC(=O)Oc1ccccc1C(=O)O' 'OC(=O)c1ccccc1O'", "mlg gram builtin:drugs -o gram.npy --picture gram.svg",
		"mlg evaluate molecules.csv --target active --kernel mlg --kernel wl --report report.html"} {
		m.print("%s\n", roff(e))
	}
	m.print(".fi\n.SH SEE ALSO\n%s\n", roff(`R. Kondor and H. Pan, "The Multiscale Laplacian Graph Kernel", NeurIPS 2016.`))
	return m.String()
}

func (m *manual) flag(f *kong.Flag) {
	m.print(".TP\n")
	if f.Short != 0 {
		m.print(`\fB\-%c\fR, `, f.Short)
	}
	name := `\fB\-\-` + roff(f.Name) + `\fR`
	if f.Tag.Negatable != "" {
		name = `\fB\-\-\fR[\fBno\-\fR]\fB` + roff(f.Name) + `\fR`
	}
	if !f.IsBool() {
		name += `=\fI` + roff(f.FormatPlaceHolder()) + `\fR`
	}
	m.print("%s\n%s\n", name, roff(f.Help))
}

// command writes a command with its own flags.
func (m *manual) command(n *kong.Node) {
	m.print(".SS %s\n.B mlg %s", quoteArg("mlg "+n.Name), roff(n.Name))
	for _, a := range n.Positional {
		m.print(" \\fI%s\\fR", roff(a.Summary()))
	}
	m.print("\n.PP\n%s\n", roff(n.Help))
	for para := range strings.SplitSeq(n.Detail, "\n\n") {
		if para != "" {
			m.print(".PP\n%s\n", roff(strings.ReplaceAll(para, "\n", " ")))
		}
	}
	for _, a := range n.Positional {
		m.print(".TP\n\\fI%s\\fR\n%s\n", roff(a.Summary()), roff(a.Help))
	}
	var groups []string
	for _, f := range n.Flags {
		switch {
		case f.Group == nil || !slices.Contains(sharedGroups, f.Group.Key):
			m.flag(f)
		case !slices.Contains(groups, f.Group.Key):
			groups = append(groups, f.Group.Key)
		}
	}
	if len(groups) > 0 {
		m.print(".PP\nAlso the flags of: %s.\n", roff(strings.Join(groups, "; ")))
	}
}

// topics writes those of mlg help, but for the flags, which have sections.
func (m *manual) topics(app *kong.Application) {
	for _, t := range topics {
		if t == "data" {
			continue
		}
		text, _ := topic(app, t)
		title, body, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n\n")
		m.print(".SH %s\n.nf\n", quoteArg(strings.ToUpper(title)))
		for line := range strings.SplitSeq(body, "\n") {
			m.print("%s\n", roff(line))
		}
		m.print(".fi\n")
	}
}

// quoteArg makes one argument of a macro.
func quoteArg(s string) string { return `"` + strings.ReplaceAll(roff(s), `"`, `\(dq`) + `"` }
