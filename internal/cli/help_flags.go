package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg/internal/table"
)

// Groups of flags that several commands have.
const (
	dataGroup     = "Reading data"
	trainingGroup = "Training"
)

// flagHelp prints the help of a command. Of flags that many commands have it has the names alone, and where they are
// explained.
func flagHelp(o kong.HelpOptions, c *kong.Context) error {
	n := c.Selected()
	if n == nil {
		return kong.DefaultHelpPrinter(o, c)
	}
	shared := []struct {
		title, where string
		flags        []*kong.Flag
	}{
		{trainingGroup, "mlg help train", nil},
		{dataGroup, "mlg help data", nil},
		{"Flags of every command", "mlg --help", nil},
	}
	for _, f := range n.Flags {
		switch {
		case f.Group == nil:
		case f.Group.Key == trainingGroup && n.Name != "train":
			shared[0].flags = append(shared[0].flags, f)
		case f.Group.Key == dataGroup:
			shared[1].flags = append(shared[1].flags, f)
		}
	}
	shared[2].flags = c.Model.Flags
	var b strings.Builder
	for _, s := range shared {
		var names []string
		for _, f := range s.flags {
			if f.Hidden { // another command has hidden it, or it is for tests
				continue
			}
			f.Hidden = true
			defer func() { f.Hidden = false }()
			names = append(names, "--"+f.Name)
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "\n%s (see %s)\n  %s\n", s.title, s.where, table.Wrap(strings.Join(names, ", "), 2, 2))
		}
	}
	if err := kong.DefaultHelpPrinter(o, c); err != nil {
		return err
	}
	_, err := fmt.Fprint(c.Stdout, b.String())
	return err
}

// flagsOf returns the flags of a group that any command has, each once.
func flagsOf(app *kong.Application, group string) (out []*kong.Flag) {
	for _, n := range commands(app) {
		for _, f := range n.Flags {
			known := slices.ContainsFunc(out, func(other *kong.Flag) bool { return other.Name == f.Name })
			if f.Group != nil && f.Group.Key == group && !known {
				out = append(out, f)
			}
		}
	}
	return out
}

// flagTexts explains the flags of a group.
func flagTexts(app *kong.Application, group string) string {
	var b strings.Builder
	for _, f := range flagsOf(app, group) {
		name := "--" + f.Name
		if !f.IsBool() {
			name += "=" + strings.Trim(f.FormatPlaceHolder(), `"`)
		}
		fmt.Fprintf(&b, "  %s\n      %s\n", name, table.Wrap(f.Help, 6, 6))
	}
	return b.String()
}
