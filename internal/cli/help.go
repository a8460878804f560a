package cli

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

//go:embed topics/*.txt
var topicFiles embed.FS

// topics are what "mlg help" explains besides commands, in the order of the list.
var topics = []string{"formats", "kernels", "parameters", "models", "output"}

// topicAliases are other names of topics.
var topicAliases = map[string]string{"exit-codes": "output", "environment": "output", "format": "formats", "kernel": "kernels", "model": "models"}

// topic returns the text of a topic.
func topic(name string) (string, bool) {
	if a, ok := topicAliases[name]; ok {
		name = a
	}
	b, err := topicFiles.ReadFile("topics/" + name + ".txt")
	return string(b), err == nil
}

type helpCmd struct {
	Topic string `arg:"" optional:"" help:"A command, or formats, kernels, parameters, models, output."`
}

// Run explains a topic or a command.
func (c *helpCmd) Run(g *globals, k *kong.Context) error {
	if c.Topic == "" || c.Topic == "topics" {
		if c.Topic == "" {
			printHelp(k, "--help")
			fmt.Fprintln(g.stdout)
		}
		fmt.Fprintln(g.stdout, "Topics:")
		for _, t := range topics {
			text, _ := topic(t)
			title, _, _ := strings.Cut(text, "\n")
			fmt.Fprintf(g.stdout, "  mlg help %-12s%s\n", t, title)
		}
		return nil
	}
	if text, ok := topic(c.Topic); ok {
		fmt.Fprint(g.stdout, g.headings(text))
		return nil
	}
	words := slices.Clone(topics)
	for _, n := range commands(k.Model) {
		if n.Name == c.Topic {
			printHelp(k, c.Topic, "--help")
			return nil
		}
		words = append(words, n.Name)
	}
	return usageError(fmt.Sprintf("help: no command or topic %s%s", c.Topic, didYouMean(c.Topic, words)))
}

// commands returns the commands that people use.
func commands(app *kong.Application) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(app.Children), func(n *kong.Node) bool { return n.Hidden })
}

// printHelp prints the help that --help gives. The parser goes on after that, and its
// complaints about missing arguments mean nothing.
func printHelp(k *kong.Context, args ...string) { _, _ = k.Kong.Parse(args) }

// headings makes the lines bold that begin at the margin and stand alone, where that shows.
func (g *globals) headings(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		alone := (i == 0 || lines[i-1] == "") && i+1 < len(lines) && lines[i+1] == ""
		if l != "" && l[0] != ' ' && alone && len(l) < 50 && !strings.HasSuffix(l, ".") {
			lines[i] = g.bold(l)
		}
	}
	return strings.Join(lines, "\n")
}
