package cli

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/vertex"
)

//go:embed topics/*.txt
var topicFiles embed.FS

// topics are what "mlg help" explains besides commands, in the order of the list.
var topics = []string{"data", "formats", "kernels", "models", "output"}

// helpOfHelp is what help says about the flag --help.
const helpOfHelp = "Show this help."

// topicAliases are other names of topics.
var topicAliases = map[string]string{"exit-codes": "output", "environment": "output", "format": "formats", "kernel": "kernels", "model": "models"}

// topic returns the text of a topic, or what is known of the kernels and forms in a text.
func topic(app *kong.Application, name string) (string, bool) {
	if a, ok := topicAliases[name]; ok {
		name = a
	}
	b, err := topicFiles.ReadFile("topics/" + name + ".txt")
	if err != nil {
		return textTopic(name)
	}
	return strings.NewReplacer(
		"KERNELS\n", helpTable(kernel.Names(), kernel.About), "VERTICES\n", helpTable(vertex.Names(), vertex.About),
		"FORMS\n", helpTable(formNames(), formHelp), "FLAGS\n", flagTexts(app, dataGroup),
	).Replace(string(b)), true
}

// helpTable has a line for each name.
func helpTable(names []string, about func(string) string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "  %-17s  %s\n", name, table.Wrap(about(name), 21, 21))
	}
	return b.String()
}

// formNames returns the words of the forms of graphs.
func formNames() (out []string) {
	for _, w := range kernel.Forms() {
		out = append(out, w.Word)
	}
	return out
}

// formHelp says what a form does, "" if the word is of none.
func formHelp(word string) string {
	for _, w := range kernel.Forms() {
		if w.Word == word {
			return w.Help
		}
	}
	return ""
}

// textTopic explains the kernels and forms that stand in a text, each once.
func textTopic(text string) (string, bool) {
	read, err := param.Read(text)
	if err != nil {
		return "", false
	}
	var out []string
	explain := func(word string) {
		if s, ok := wordTopic(word); ok && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	var walk func(s *param.Sum)
	walk = func(s *param.Sum) {
		for _, t := range s.Terms {
			for _, f := range t.Factors {
				if f.Sum != nil {
					walk(f.Sum)
				}
				explain(f.Name)
				for _, g := range f.Given {
					explain(g.Name)
				}
			}
		}
	}
	walk(read)
	return strings.Join(out, "\n"), len(out) > 0
}

// wordTopic explains a kernel or a form.
func wordTopic(word string) (string, bool) {
	if help := formHelp(word); help != "" {
		return fmt.Sprintf("%s is a form of graphs: %s.\n\nIt stands behind a kernel or behind brackets: --kernel %q.\nSee also: mlg help kernels.\n",
			word, table.Wrap(help, len(word)+23, 0), "wl "+word), true
	}
	return kernelTopic(word)
}

// kernelTopic explains a kernel: its parameters with range, default and an example.
func kernelTopic(name string) (string, bool) {
	var b strings.Builder
	if k, err := kernel.Named(name); err == nil {
		fmt.Fprintf(&b, "%s compares %s.\n", name, table.Wrap(kernel.About(name), len(name)+10, 0))
		writeParameters(&b, param.Of(k))
		fmt.Fprintf(&b, "\nBehind it may stand forms of graphs: %s.\n", table.Wrap(strings.Join(formNames(), ", "), 37, 0))
		fmt.Fprintf(&b, "For example: --kernel %q. See also: mlg help kernels.\n", example(k))
	}
	if slices.Contains(vertex.Names(), name) {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s for two vertices: %s.\n", name, table.Wrap(vertex.About(name), len(name)+19, 0))
		writeParameters(&b, vertex.Parameters(name))
	}
	return b.String(), b.Len() > 0
}

// example returns a text of a kernel with a parameter that does not have its default.
func example(k kernel.Kernel) string {
	for _, p := range param.Of(k) {
		if p.Name == "scale" {
			continue // without effect on normalised values
		}
		value := ""
		switch x := p.Default.(type) {
		case int:
			value = strconv.Itoa(x + 1)
		case float64:
			value = param.Number(2 * x)
		case []int:
			value = param.Value(append(x, 2*x[len(x)-1]))
		case string:
			if p.Want == kernel.Language {
				value = "(nspd r=1)"
			}
		}
		if value == "" {
			continue
		}
		text := k.Name() + " " + p.Name + "=" + value
		if _, err := kernel.Parse(text); err == nil {
			return text
		}
	}
	return k.Name()
}

// writeParameters lists the parameters of a kernel.
func writeParameters(b *strings.Builder, parameters []param.Parameter) {
	if len(parameters) == 0 {
		b.WriteString("It has no parameters.\n")
		return
	}
	b.WriteString("\n")
	for _, p := range parameters {
		text := fmt.Sprintf("  %s=%s", p.Name, param.Value(p.Default))
		want := p.Want
		switch {
		case p.Type == "boolean":
			want = "true or false"
		case p.Choices != nil:
			want = "" // the help names them
		case want == "":
			want = map[string]string{"integer": "a whole number", "number": "a number"}[p.Type]
		}
		help := p.Help
		if want != "" {
			help += " (" + want + ")"
		}
		fmt.Fprintf(b, "%s\n      %s\n", text, table.Wrap(help, 6, 6))
	}
}

type helpCmd struct {
	Topic string `arg:"" optional:"" help:"A command, a kernel such as wl or \"wl h=3\", a form such as incident, or data, formats, kernels, models, output."`
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
			text, _ := topic(k.Model, t)
			title, _, _ := strings.Cut(text, "\n")
			fmt.Fprintf(g.stdout, "  mlg help %-12s%s\n", t, title)
		}
		return nil
	}
	words := slices.Concat(topics, kernel.Names(), formNames())
	for _, n := range commands(k.Model) {
		if n.Name == c.Topic {
			printHelp(k, c.Topic, "--help")
			return nil
		}
		words = append(words, n.Name)
	}
	if text, ok := topic(k.Model, c.Topic); ok {
		fmt.Fprint(g.stdout, g.headings(text))
		return nil
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

// unknownEnum is the message of the parser about a value that is none of those it may be.
var unknownEnum = regexp.MustCompile(`^(.*) must be one of (.*) but got "(.*)"$`)

// explainUsage returns the message of a parser error, with what would have been right.
func explainUsage(err error) string {
	msg := err.Error()
	if m := unknownEnum.FindStringSubmatch(msg); m != nil {
		flag, _, _ := strings.Cut(m[1], "=")
		words := named(strings.Split(strings.ReplaceAll(m[2], `"`, ""), ","))
		return fmt.Sprintf("%s must be one of %s, not %q%s", flag, strings.Join(words, ", "), m[3], didYouMean(m[3], words))
	}
	if _, word, ok := strings.Cut(msg, "unexpected argument "); ok && strings.Contains(word, "=") {
		return msg + `; the text of a kernel with parameters needs quotation marks, as in --kernel "wl h=3"`
	}
	if _, flag, ok := strings.Cut(msg, "unknown flag --"); ok {
		name, _, _ := strings.Cut(strings.ReplaceAll(flag, "-", "_"), ",")
		for _, k := range append([]string{"wl", "mlg"}, kernel.Names()...) { // of several the best known
			if r, _ := kernel.Named(k); param.Get(r, name) != nil {
				return fmt.Sprintf("%s; %s is a parameter of kernels, as in --kernel \"%s %s=…\"", msg, name, k, name)
			}
		}
	}
	if p, ok := err.(*kong.ParseError); ok && p.Context.Selected() == nil {
		return strings.Replace(msg, "unexpected argument", "unknown command", 1)
	}
	return msg
}

// joinNegatives makes --flag=-1 of --flag -1, which the parser takes for two flags.
func joinNegatives(args []string) []string {
	var out []string
	for _, arg := range args {
		last := len(out) - 1
		number, _, _ := strings.Cut(arg, ":") // or a range
		_, err := strconv.ParseFloat(number, 64)
		negative := err == nil && arg[0] == '-'
		if negative && last >= 0 && strings.HasPrefix(out[last], "--") && !strings.Contains(out[last], "=") {
			out[last] += "=" + arg
		} else {
			out = append(out, arg)
		}
	}
	return out
}

// named returns the words that are not empty; an empty one stands for a flag that is not given.
func named(words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// didYouMean returns a question with the words nearest to a mistyped one, or nothing when none
// is near.
func didYouMean(word string, words []string) string {
	best := nearestWords(word, words)
	if len(best) == 0 {
		return ""
	}
	for i, w := range best {
		best[i] = `"` + w + `"`
	}
	return "; did you mean " + strings.Join(best, " or ") + "?"
}

// nearestWords returns the words with the fewest single letters typed wrong, left out, added
// or swapped, at most one for each three letters and one more; and those that go on where
// the word ends.
func nearestWords(word string, words []string) []string {
	bare := strings.ToLower(strings.TrimLeft(word, "-"))
	least := len([]rune(bare))/3 + 1
	var best []string
	for _, w := range words {
		d := typos(bare, strings.ToLower(strings.TrimLeft(w, "-")))
		switch {
		case d < least:
			best, least = []string{w}, d
		case d == least:
			best = append(best, w)
		}
	}
	if len(best) == 0 && len(bare) >= 2 {
		for _, w := range words {
			if strings.HasPrefix(strings.TrimLeft(w, "-"), bare) {
				best = append(best, w)
			}
		}
	}
	slices.Sort(best)
	best = slices.Compact(best)
	return best[:min(3, len(best))]
}

// typos is the number of letters typed wrong, left out, added, or swapped with the next one,
// that make b of a (the distance of optimal string alignment).
func typos(a, b string) int {
	s, t := []rune(a), []rune(b)
	d := make([][]int, len(s)+1)
	for i := range d {
		d[i] = make([]int, len(t)+1)
		d[i][0] = i
	}
	for j := range t {
		d[0][j+1] = j + 1
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(s)][len(t)]
}
