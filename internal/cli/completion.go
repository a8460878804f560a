package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg/dataset"
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

// Run prints a completion script, made from the same description as the parser.
func (c *completionCmd) Run(g *globals, k *kong.Context) error {
	s := newShellModel(k.Model)
	var text string
	switch c.Shell {
	case "bash":
		text = s.bash()
	case "zsh":
		text = s.zsh()
	case "fish":
		text = s.fish()
	}
	_, err := fmt.Fprint(g.stdout, text)
	return err
}

// shellModel is what completion needs to know of the command line.
type shellModel struct {
	global   []shellFlag
	commands []shellCommand
}

type shellCommand struct {
	name, help string
	flags      []shellFlag // its own
	values     []string    // of the first argument
	data       bool        // whether arguments are files and built-in names
}

type shellFlag struct {
	name, help string
	short      rune
	takes      bool     // a value
	file       bool     // which is a path
	list       bool     // of several values, separated by commas
	values     []string // to choose from
}

// openValues are those of flags that take other values as well.
var openValues = map[string][]string{
	"base": {"labels", "attributes", "gaussian", "degree", "heat", "wl", "labels*gaussian"},
}

func newShellModel(app *kong.Application) *shellModel {
	s := &shellModel{}
	for _, f := range app.Flags {
		s.global = append(s.global, newShellFlags(f)...)
	}
	for _, n := range app.Children {
		if n.Hidden {
			continue
		}
		c := shellCommand{name: n.Name, help: n.Help}
		for _, f := range n.Flags {
			if !f.Hidden {
				c.flags = append(c.flags, newShellFlags(f)...)
			}
		}
		for i, p := range n.Positional {
			if p.Enum != "" && i == 0 {
				c.values = p.EnumSlice()
			} else {
				c.data = true
			}
		}
		if n.Name == "help" {
			c.data, c.values = false, slices.Clone(topics)
			for _, m := range app.Children {
				if !m.Hidden {
					c.values = append(c.values, m.Name)
				}
			}
		}
		s.commands = append(s.commands, c)
	}
	return s
}

func newShellFlags(f *kong.Flag) []shellFlag {
	help, _, _ := strings.Cut(f.Help, ". ")
	x := shellFlag{name: f.Name, short: f.Short, help: strings.TrimSuffix(help, "."), takes: !f.IsBool(), list: f.IsSlice(), values: openValues[f.Name]}
	if f.Enum != "" {
		x.values = named(f.EnumSlice())
	}
	switch f.PlaceHolder {
	case "FILE", "FOLDER", "DATA", "TEST", "MODEL":
		x.file = true
	default:
		x.file = f.Tag.Get("complete") == "file"
	}
	if f.Tag.Negatable != "" {
		no := x
		no.name, no.help = "no-"+x.name, "Do not: "+x.help
		return []shellFlag{x, no}
	}
	return []shellFlag{x}
}

// words returns a flag as it is typed.
func (f shellFlag) words() []string {
	w := []string{"--" + f.name}
	if f.short != 0 {
		w = append(w, "-"+string(f.short))
	}
	return w
}

// single quotes a text for a shell.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (s *shellModel) names() []string {
	var out []string
	for _, c := range s.commands {
		out = append(out, c.name)
	}
	return out
}

// bash needs no package beside the shell. Colons and equal signs split words in bash, so a
// value after --flag= and a built-in name are put together again.
func (s *shellModel) bash() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# Completion of mlg for bash; made by \"mlg completion bash\".\n_mlg() {\n")
	p("  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= i w\n")
	p("  COMPREPLY=()\n")
	p("  if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n")
	p("  for ((i = 1; i < COMP_CWORD; i++)); do\n    w=${COMP_WORDS[i]}\n    case $w in\n")
	p("      %s) cmd=$w; break;;\n    esac\n  done\n", strings.Join(s.names(), "|"))

	value := func(f shellFlag) {
		switch {
		case len(f.values) > 0 && f.list:
			p("_mlg_list '%s' \"$cur\"", strings.Join(f.values, " "))
		case len(f.values) > 0:
			p("COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", strings.Join(f.values, " "))
		case f.file:
			p("_mlg_files \"$cur\"")
		default:
			p(":")
		}
	}
	p("  case $cmd:$prev in\n")
	for _, f := range s.global {
		if f.takes {
			p("    *:%s) ", strings.Join(f.words(), "|*:"))
			value(f)
			p("; return;;\n")
		}
	}
	for _, c := range s.commands {
		for _, f := range c.flags {
			if f.takes {
				p("    %s:%s) ", c.name, strings.Join(f.words(), "|"+c.name+":"))
				value(f)
				p("; return;;\n")
			}
		}
	}
	p("  esac\n  local flags='%s'\n  case $cmd in\n", flagWords(s.global))
	for _, c := range s.commands {
		p("    %s) flags+=' %s';;\n", c.name, flagWords(c.flags))
	}
	p("  esac\n  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")); return; fi\n")
	p("  case $cmd in\n    '') COMPREPLY=($(compgen -W '%s' -- \"$cur\"));;\n", strings.Join(s.names(), " "))
	for _, c := range s.commands {
		if len(c.values) > 0 {
			p("    %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\"));;\n", c.name, strings.Join(c.values, " "))
		} else if c.data {
			p("    %s) _mlg_files \"$cur\"; _mlg_builtin \"$cur\";;\n", c.name)
		}
	}
	p("  esac\n}\n")
	p(`
_mlg_files() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen -f -- "$1"))
}

_mlg_list() {
  local head= v
  [[ $2 == *,* ]] && head=${2%%,*},
  for v in $1; do [[ $head$v == "$2"* ]] && COMPREPLY+=("$head$v"); done
  compopt -o nospace 2>/dev/null
}

_mlg_builtin() {
  local line=${COMP_LINE:0:COMP_POINT} v
  line=${line##* }
  for v in %s; do
    [[ $v == "$line"* && -n $line ]] || continue
    # What stands before a colon has been completed already, if colons split words.
    if [[ $COMP_WORDBREAKS == *:* ]]; then v=${v#"${line%%"${line##*:}"}"}; fi
    COMPREPLY+=("$v")
  done
}

complete -F _mlg mlg
`, strings.Join(dataset.Builtins(), " "))
	return b.String()
}

func flagWords(flags []shellFlag) string {
	var out []string
	for _, f := range flags {
		out = append(out, f.words()...)
	}
	return strings.Join(out, " ")
}

// zshSpecs returns a flag as _arguments wants it.
func zshSpecs(f shellFlag) []string {
	help := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(f.help)
	value := ""
	switch {
	case !f.takes:
	case len(f.values) > 0 && f.list:
		value = ":value:_values -s , value " + strings.Join(f.values, " ")
	case len(f.values) > 0:
		value = ":value:(" + strings.Join(f.values, " ") + ")"
	case f.file:
		value = ":file:_files"
	default:
		value = ":value: "
	}
	var out []string
	for _, w := range f.words() {
		// An equal sign may stand between a long flag and its value.
		if f.takes && strings.HasPrefix(w, "--") {
			w += "="
		}
		out = append(out, single(w+"["+help+"]"+value))
	}
	return out
}

// zsh uses _arguments.
func (s *shellModel) zsh() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("#compdef mlg\n# Completion of mlg for zsh; made by \"mlg completion zsh\".\n")
	p("_mlg_data() {\n  _alternative 'files:file:_files' 'builtin:built-in data:(%s)'\n}\n\n", strings.ReplaceAll(strings.Join(dataset.Builtins(), " "), ":", `\:`))
	p("_mlg() {\n  local curcontext=$curcontext state line\n  local -a global commands\n  global=(\n")
	for _, f := range s.global {
		p("    %s\n", strings.Join(zshSpecs(f), "\n    "))
	}
	p("  )\n  commands=(\n")
	for _, c := range s.commands {
		p("    %s\n", single(c.name+":"+strings.TrimSuffix(c.help, ".")))
	}
	p("  )\n  _arguments -C $global '1:command:->command' '*::argument:->argument' && return\n")
	p("  if [[ $state == command ]]; then _describe command commands; return; fi\n  case $words[1] in\n")
	for _, c := range s.commands {
		specs := []string{"$global"}
		for _, f := range c.flags {
			specs = append(specs, zshSpecs(f)...)
		}
		switch {
		case len(c.values) > 0:
			specs = append(specs, "'1:argument:("+strings.Join(c.values, " ")+")'")
		case c.data:
			specs = append(specs, "'*:data:_mlg_data'")
		}
		p("  %s) _arguments %s;;\n", c.name, strings.Join(specs, " \\\n    "))
	}
	p("  esac\n}\n\nif [[ $funcstack[1] == _mlg ]]; then _mlg \"$@\"; else compdef _mlg mlg; fi\n")
	return b.String()
}

// fish has one line for each flag of each command.
func (s *shellModel) fish() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
	}
	flag := func(condition string, f shellFlag) {
		p("complete -c mlg%s -l %s", condition, f.name)
		if f.short != 0 {
			p(" -s %c", f.short)
		}
		switch {
		case !f.takes:
		case len(f.values) > 0:
			p(" -xa %s", quote(strings.Join(f.values, " ")))
		case f.file:
			p(" -rF")
		default:
			p(" -x")
		}
		p(" -d %s\n", quote(f.help))
	}
	p("# Completion of mlg for fish; made by \"mlg completion fish\".\ncomplete -c mlg -f\n")
	for _, f := range s.global {
		flag("", f)
	}
	none := "__fish_use_subcommand"
	for _, c := range s.commands {
		p("complete -c mlg -n %s -a %s -d %s\n", none, c.name, quote(strings.TrimSuffix(c.help, ".")))
	}
	for _, c := range s.commands {
		seen := " -n " + quote("__fish_seen_subcommand_from "+c.name)
		for _, f := range c.flags {
			flag(seen, f)
		}
		if len(c.values) > 0 {
			p("complete -c mlg%s -a %s\n", seen, quote(strings.Join(c.values, " ")))
		}
		if c.data {
			p("complete -c mlg%s -F -a %s\n", seen, quote(strings.Join(dataset.Builtins(), " ")))
		}
	}
	return b.String()
}
