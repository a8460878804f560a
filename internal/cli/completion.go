package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says how to install the script.
func (*completionCmd) Help() string {
	return `bash: mlg completion bash > ~/.local/share/bash-completion/completions/mlg

zsh: mlg completion zsh > FOLDER/_mlg, for a FOLDER of $fpath

fish: mlg completion fish > ~/.config/fish/completions/mlg.fish`
}

// The scripts ask "mlg complete LINE", which answers with a line for each word that may stand at
// the end of the line, a tab, and what it means; or :files, for names of files.
var completionScripts = map[string]string{
	// Colons and equal signs split words in bash: what stands before them is there already. They do not
	// behind a quotation mark that is open.
	"bash": `_mlg() {
  local line=${COMP_LINE:0:COMP_POINT} v IFS=$'\n'
  local word=${line##* } marks=${COMP_LINE:0:COMP_POINT}
  marks=${marks//[^\"\']/}
  COMPREPLY=()
  for v in $(mlg complete "$line" 2>/dev/null); do
    if [[ $v == :files ]]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -f -- "${word##*=}"))
      continue
    fi
    v=${v%%$'\t'*}
    [[ $v == *= ]] && compopt -o nospace 2>/dev/null
    if (( ${#marks} % 2 )); then
      COMPREPLY+=("$v")
    else
      COMPREPLY+=("${v#"${word%"${word##*[:=]}"}"}")
    fi
  done
}
complete -F _mlg mlg
`,
	"zsh": `#compdef mlg
_mlg() {
  local -a words_ lines
  local v
  lines=("${(@f)$(mlg complete "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
  for v in $lines; do
    if [[ $v == :files ]]; then _files; continue; fi
    words_+=("${${v%%$'\t'*}//:/\\:}:${v#*$'\t'}")
  done
  _describe mlg words_
}
if [[ $funcstack[1] == _mlg ]]; then _mlg "$@"; else compdef _mlg mlg; fi
`,
	"fish": `function __mlg_complete
  for line in (mlg complete (commandline -cp) 2>/dev/null)
    if test "$line" = :files
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c mlg -f -a '(__mlg_complete)'
`,
}

// Run prints a completion script.
func (c *completionCmd) Run(g *globals) error {
	_, err := fmt.Fprint(g.stdout, completionScripts[c.Shell])
	return err
}

type completeCmd struct {
	Line string `arg:"" help:"The command line up to the cursor."`
}

// Run answers a completion script.
func (c *completeCmd) Run(g *globals, k *kong.Context) error {
	for _, w := range completions(k.Model, c.Line) {
		if _, err := fmt.Fprintln(g.stdout, w); err != nil {
			return err
		}
	}
	return nil
}

// files stands for the names of files in a list of completions.
const files = ":files"

// completions returns the words that may replace the last word of a line. A tab and a description
// follow where there is one.
func completions(app *kong.Application, line string) []string {
	words := shellWords(line)[1:] // without mlg
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	node := app.Node // the command, or the application where there is none yet
	for _, w := range words[:len(words)-1] {
		for _, n := range commands(app) {
			if n.Name == w && node == app.Node {
				node = n
			}
		}
	}
	flags := slices.Concat(node.AllFlags(true)...)
	before, value, assigned := strings.Cut(last, "=")
	if assigned = assigned && strings.HasPrefix(last, "-"); !assigned && len(words) > 1 {
		before, value = words[len(words)-2], last
	}
	for _, f := range flags {
		if (before == "--"+f.Name || f.Short != 0 && before == "-"+string(f.Short)) && !f.IsBool() {
			head := ""
			if assigned {
				head = before + "="
			}
			return flagValues(f, head, value)
		}
	}
	switch {
	case strings.HasPrefix(last, "-"):
		var out []string
		for _, f := range flags {
			help, _, _ := strings.Cut(f.Help, ". ")
			out = append(out, "--"+f.Name+"\t"+help)
			if f.Tag.Negatable != "" {
				out = append(out, "--no-"+f.Name+"\tDo not: "+help)
			}
		}
		return beginning(last, out)
	case node == app.Node:
		return beginning(last, commandWords(app))
	case node.Name == "help":
		return beginning(last, slices.Concat(topics, commandWords(app), kernelTexts(""), formNames()))
	case len(node.Positional) > 0 && node.Positional[0].Enum != "":
		return beginning(last, node.Positional[0].EnumSlice())
	case len(node.Positional) > 0:
		out := []string{files}
		if last != "" {
			out = append(out, beginning(last, dataset.Builtins())...)
		}
		return out
	}
	return nil
}

// shellWords splits a command line at spaces that are not quoted. The last word is what is begun.
func shellWords(line string) []string {
	words, mark := []string{""}, rune(0)
	for _, r := range line {
		last := len(words) - 1
		switch {
		case r == mark:
			mark = 0
		case mark == 0 && (r == '"' || r == '\''):
			mark = r
		case mark == 0 && r == ' ':
			if words[last] != "" {
				words = append(words, "")
			}
		default:
			words[last] += string(r)
		}
	}
	return words
}

// kernelTexts returns the texts of kernels that go on where one ends.
func kernelTexts(text string) (out []string) {
	begun, words := param.Complete(kernel.Language, text)
	for _, w := range words {
		out = append(out, strings.TrimSuffix(text, begun)+w.Word+"\t"+w.Help)
	}
	return out
}

// flagValues returns the values of a flag that begin as the given one, behind what stands before it.
func flagValues(f *kong.Flag, head, value string) []string {
	var values []string
	if f.Name == "kernel" {
		values = kernelTexts(value)
	} else if f.Enum != "" {
		values = named(f.EnumSlice())
	} else if choices := f.Tag.Get("choices"); choices != "" {
		values = strings.Split(choices, ",")
	}
	if at := strings.LastIndex(value, ","); f.IsSlice() && at >= 0 && f.Name != "kernel" {
		head += value[:at+1]
		value = value[at+1:]
	}
	if len(values) == 0 && (slices.Contains([]string{"FILE", "FOLDER", "DATA", "TEST", "MODEL"}, f.PlaceHolder) || f.Tag.Get("complete") == "file") {
		return []string{files}
	}
	out := beginning(value, values)
	for i, v := range out {
		out[i] = head + v
	}
	return out
}

// beginning returns the words that begin with a text.
func beginning(text string, words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, text) })
}

// commandWords returns the commands with their help.
func commandWords(app *kong.Application) []string {
	var out []string
	for _, n := range commands(app) {
		out = append(out, n.Name+"\t"+n.Help)
	}
	return out
}
