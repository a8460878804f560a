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

// manPage writes commands with their own flags, and the groups of flags that several commands
// have in common in sections of their own.
func manPage(app *kong.Application, this build) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p(".TH MLG 1 %s %s \"User commands\"\n", quoteArg(this.date), quoteArg("mlg "+this.Version))
	p(".SH NAME\nmlg \\- compare graphs at every scale at once\n")
	p(".SH SYNOPSIS\n.B mlg\n.I command\n.RI [ flags ]\n.I arguments\n.br\n.B mlg help\n.RI [ command | topic ]\n")
	p(".SH DESCRIPTION\n%s\n", roff("mlg computes the Multiscale Laplacian Graph kernel of Kondor and Pan (2016) and its relatives, and turns them into Gram matrices, classifiers, searches and explanations."))
	p("%s\n", roff("It reads molecules, proteins, programs and networks from the files that people have."))
	p(".PP\n%s\n.RS\n.B mlg demo\n.RE\n", roff("The first thing to try, on built-in molecules:"))

	// Groups in the order in which they come; a group that occurs more than once is shared.
	uses := map[string]int{}
	first := map[string]*kong.Node{}
	var order []string
	for _, n := range app.Children {
		var here []string
		for _, f := range n.Flags {
			if f.Group != nil && !slices.Contains(here, f.Group.Key) {
				here = append(here, f.Group.Key)
			}
		}
		for _, key := range here {
			if uses[key]++; uses[key] == 1 {
				first[key] = n
				order = append(order, key)
			}
		}
	}
	flag := func(f *kong.Flag) {
		p(".TP\n")
		var names []string
		if f.Short != 0 {
			names = append(names, `\fB\-`+string(f.Short)+`\fR`)
		}
		name := `\fB\-\-` + roff(f.Name) + `\fR`
		if f.Tag.Negatable != "" {
			name = `\fB\-\-\fR[\fBno\-\fR]\fB` + roff(f.Name) + `\fR`
		}
		if !f.IsBool() {
			name += `=\fI` + roff(f.FormatPlaceHolder()) + `\fR`
		}
		p("%s\n%s\n", strings.Join(append(names, name), ", "), roff(f.Help))
	}
	p(".SH COMMANDS\n")
	for _, n := range app.Children {
		if n.Hidden {
			continue
		}
		p(".SS %s\n", quoteArg("mlg "+n.Name))
		p(".B mlg %s", roff(n.Name))
		for _, a := range n.Positional {
			p(" \\fI%s\\fR", roff(a.Summary()))
		}
		p("\n.PP\n%s\n", roff(n.Help))
		for _, para := range strings.Split(n.Detail, "\n\n") {
			if para != "" {
				p(".PP\n%s\n", roff(strings.ReplaceAll(para, "\n", " ")))
			}
		}
		for _, a := range n.Positional {
			p(".TP\n\\fI%s\\fR\n%s\n", roff(a.Summary()), roff(a.Help))
		}
		var shared []string
		for _, f := range n.Flags {
			if f.Hidden {
				continue
			}
			if f.Group != nil && uses[f.Group.Key] > 1 {
				if !slices.Contains(shared, f.Group.Title) {
					shared = append(shared, f.Group.Title)
				}
				continue
			}
			flag(f)
		}
		if len(shared) > 0 {
			p(".PP\nAlso the flags of: %s.\n", roff(strings.Join(shared, "; ")))
		}
	}
	p(".SH FLAGS OF EVERY COMMAND\n")
	for _, f := range app.Flags {
		flag(f)
	}
	for _, key := range order {
		if uses[key] < 2 {
			continue
		}
		title := ""
		var flags []*kong.Flag
		for _, f := range first[key].Flags {
			if f.Group != nil && f.Group.Key == key {
				title, flags = f.Group.Title, append(flags, f)
			}
		}
		p(".SH %s\n", quoteArg("FLAGS: "+strings.ToUpper(title)))
		for _, f := range flags {
			flag(f)
		}
	}
	for _, t := range topics {
		text, _ := topic(t)
		title, body, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n\n")
		p(".SH %s\n.nf\n", quoteArg(strings.ToUpper(title)))
		for _, line := range strings.Split(body, "\n") {
			p("%s\n", roff(line))
		}
		p(".fi\n")
	}
	p(".SH EXIT STATUS\n")
	for _, e := range []struct {
		code int
		what string
	}{{exitOK, "Done."}, {exitFailed, "The work could not be done: no such file, bad data, a full disk."},
		{exitUsage, "The command line makes no sense."}, {exitInterrupt, "Interrupted by SIGINT or SIGTERM."}} {
		p(".TP\n.B %d\n%s\n", e.code, roff(e.what))
	}
	p(".SH EXAMPLES\n.nf\n")
	for _, e := range []string{"mlg compare 'CC(=O)Oc1ccccc1C(=O)O' 'OC(=O)c1ccccc1O'", "mlg gram builtin:drugs -o gram.npy --picture gram.svg",
		"mlg evaluate molecules.csv --target active --kernel mlg,wl --report report.html"} {
		p("%s\n", roff(e))
	}
	p(".fi\n.SH SEE ALSO\n%s\n", roff(`R. Kondor and H. Pan, "The Multiscale Laplacian Graph Kernel", NeurIPS 2016.`))
	return b.String()
}

// quoteArg makes one argument of a macro.
func quoteArg(s string) string { return `"` + strings.ReplaceAll(roff(s), `"`, `\(dq`) + `"` }
