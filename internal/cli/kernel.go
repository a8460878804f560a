package cli

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/base"
	_ "github.com/mlgkernel/mlg/baseline" // registers its kernels
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// kernelFlag chooses a kernel.
type kernelFlag struct {
	Kernel string `help:"Kernel: ${kernel_list}." default:"mlg" enum:"${kernels}"`
}

// multiscaleFlag chooses a kernel where it must be a multiscale one.
type multiscaleFlag struct {
	Kernel string `help:"Kernel: mlg or flg." default:"mlg" enum:"mlg,flg"`
}

// kernelGroup is the group of the flags that are parameters of kernels.
const kernelGroup = "Parameters of kernels"

// kernelFlags are the parameters of all kernels.
type kernelFlags struct {
	// Parameters is a pointer to a struct with a field for each parameter of a kernel, nil
	// where the flag is not given.
	Parameters any     `embed:""`
	Levels     int     `help:"mlg: number of levels, instead of --radii." placeholder:"L" group:"Parameters of kernels"`
	Radius     float64 `help:"mlg: radius of the first level, with --levels." default:"1" group:"Parameters of kernels"`
	Growth     float64 `help:"mlg: growth of the radius, with --levels." default:"2" group:"Parameters of kernels"`
	MaxMemory  float64 `help:"With --exact: limit of memory for tables, in GB." default:"16" group:"Parameters of kernels"`
	exact      bool    // asked for by the command
}

// defaultMemory is that of --max-memory.
const defaultMemory = 16

// kernelNames returns the names of the kernels that flags can describe: all but those made of
// other kernels.
var kernelNames = sync.OnceValue(func() []string {
	var out []string
	for _, name := range kernel.Names() {
		k, _ := kernel.Named(name)
		if !slices.ContainsFunc(kernel.Parameters(k), func(p kernel.Parameter) bool { return p.Type == "kernel" || p.Type == "" }) {
			out = append(out, name)
		}
	}
	return out
})

// kernelVars are the names of the kernels in the tags of flags.
func kernelVars() kong.Vars {
	names := kernelNames()
	return kong.Vars{"kernels": strings.Join(names, ","), "kernel_list": strings.Join(names, ", ")}
}

// flagName returns the flag of a parameter.
func flagName(parameter string) string { return "--" + strings.ReplaceAll(parameter, "_", "-") }

// parameterFields returns a field of a struct for each parameter of some kernels: *bool or *string,
// with the tags that make it a flag.
func parameterFields(kernels []string) []reflect.StructField {
	type flag struct {
		kernel.Parameter
		kernels []string
		uses    []kernel.Parameter // by these kernels
	}
	var flags []*flag
	for _, name := range kernels {
		k, _ := kernel.Named(name)
		for _, p := range kernel.Parameters(k) {
			if noFlag(name, p) {
				continue
			}
			i := slices.IndexFunc(flags, func(f *flag) bool { return f.Name == p.Name })
			if i < 0 {
				i = len(flags)
				flags = append(flags, &flag{Parameter: p})
			}
			flags[i].kernels, flags[i].uses = append(flags[i].kernels, name), append(flags[i].uses, p)
		}
	}
	var fields []reflect.StructField
	for _, f := range flags {
		hold := placeholder(f.Parameter)
		differ := slices.ContainsFunc(f.uses, func(p kernel.Parameter) bool { return placeholder(p) != hold })
		var help []string
		for _, p := range f.uses {
			var names []string // of the kernels for which it means the same
			for i, q := range f.uses {
				if name := f.kernels[i]; q.Help == p.Help && differ && placeholder(q) != strings.ToUpper(q.Name) {
					names = append(names, name+" ("+placeholder(q)+")")
				} else if q.Help == p.Help {
					names = append(names, name)
				}
			}
			if text := strings.Join(names, ", ") + ": " + p.Help; !slices.Contains(help, text) {
				help = append(help, text)
			}
		}
		if differ {
			hold = strings.ToUpper(f.Name)
		}
		typ, more := reflect.TypeFor[*string](), ` placeholder:"`+hold+`"`
		if f.Type == "boolean" {
			typ, more = reflect.TypeFor[*bool](), ` negatable:""`
		}
		if f.Choices != nil {
			more += ` choices:"` + strings.Join(f.Choices, ",") + `"`
		}
		tag := fmt.Sprintf(`name:%q help:%q group:%q%s`, flagName(f.Name)[2:], strings.Join(help, " "), kernelGroup, more)
		fields = append(fields, reflect.StructField{Name: "P_" + f.Name, Type: typ, Tag: reflect.StructTag(tag)})
	}
	return fields
}

// noFlag reports whether a parameter of a kernel is fixed by its name.
func noFlag(name string, p kernel.Parameter) bool { return name == "flg" && p.Name == "radii" }

// placeholder shows the default of a parameter.
func placeholder(p kernel.Parameter) string {
	v := reflect.ValueOf(p.Default)
	switch {
	case v.Kind() == reflect.String && v.Len() == 0:
		return strings.ToUpper(p.Name)
	case v.Kind() != reflect.Slice:
		return fmt.Sprint(p.Default)
	}
	var parts []string
	for i := range v.Len() {
		parts = append(parts, fmt.Sprint(v.Index(i).Interface()))
	}
	return strings.Join(parts, ",")
}

// about are the commands that show the flags of others.
var about = []string{"help", "man", "completion", "complete"}

// withParameters gives the commands of a root the parameters of the kernels that they take. Flags
// take time to make, so only commands that a command line names get theirs, and all if there is
// none or it names one that shows flags.
func withParameters(r *root, args ...string) {
	v := reflect.ValueOf(r).Elem()
	structs := map[string]reflect.Type{} // by kernels
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() != reflect.Struct || !f.FieldByName("Parameters").IsValid() {
			continue
		}
		names := kernelNames()
		k, _ := f.Type().FieldByName("Kernel")
		if enum := k.Tag.Get("enum"); !strings.Contains(enum, "$") { // not all
			names = strings.Split(enum, ",")
		}
		if command := strings.ToLower(v.Type().Field(i).Name); len(args) > 0 &&
			!slices.ContainsFunc(args, func(a string) bool { return a == command || slices.Contains(about, a) }) {
			names = nil
		}
		key := strings.Join(names, ",")
		if structs[key] == nil {
			structs[key] = reflect.StructOf(parameterFields(names))
		}
		f.FieldByName("Parameters").Set(reflect.New(structs[key]))
	}
}

// given returns the texts of the parameters that are on the command line, by name.
func (f *kernelFlags) given() map[string]string {
	out := map[string]string{}
	v := reflect.ValueOf(f.Parameters).Elem()
	for i := range v.NumField() {
		if x := v.Field(i); !x.IsNil() {
			out[strings.TrimPrefix(v.Type().Field(i).Name, "P_")] = fmt.Sprint(x.Elem().Interface())
		}
	}
	if f.exact {
		out["exact"] = "true"
	}
	return out
}

// flag returns a flag that is a parameter of kernels and on the command line, "" if there is none.
func (f *kernelFlags) flag() string {
	names := slices.Sorted(maps.Keys(f.given()))
	switch {
	case len(names) > 0:
		return flagName(names[0])
	case f.Levels > 0:
		return "--levels"
	}
	return ""
}

// kernel returns the kernel of a name that the flags describe; graphs decide on the base kernel
// where no flag does. A flag that the kernel has no parameter for is an error.
func (f *kernelFlags) kernel(g *globals, name string, graphs []*graph.Graph) (kernel.Kernel, error) {
	list, err := f.kernels(g, []string{name}, graphs)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// kernels returns the kernels of some names. Every flag must be a parameter of one of them.
func (f *kernelFlags) kernels(g *globals, names []string, graphs []*graph.Graph) ([]kernel.Kernel, error) {
	given := f.given()
	switch {
	case f.Levels > 0 && given["radii"] != "":
		return nil, usageError("--radii and --levels cannot be used together")
	case f.Levels == 0 && f.Radius != 1:
		return nil, usageError("--radius needs --levels")
	case f.Levels == 0 && f.Growth != 2:
		return nil, usageError("--growth needs --levels")
	}
	if f.Levels > 0 {
		if !(f.Radius > 0) || !(f.Growth >= 1) {
			return nil, usageError(fmt.Sprintf("--radius %v --growth %v: want a positive radius and a growth of at least 1", f.Radius, f.Growth))
		}
		given["radii"] = strings.Trim(strings.Join(strings.Fields(fmt.Sprint(mlg.Growth(f.Radius, f.Growth, f.Levels))), ","), "[]")
	}
	used := map[string]bool{}
	var out []kernel.Kernel
	for _, name := range names {
		k, err := kernel.Named(name)
		if err != nil {
			return nil, usageError("--kernel: " + err.Error())
		}
		for _, p := range kernel.Parameters(k) {
			if text, ok := given[p.Name]; ok && !noFlag(name, p) {
				used[p.Name] = true
				if k, err = kernel.With(k, p.Name, text); err != nil {
					return nil, flagError(err)
				}
			}
		}
		if err := flagError(k.Validate()); err != nil {
			return nil, err
		}
		if m, ok := k.(mlg.Kernel); ok {
			if err := f.idle(m.Exact, given); err != nil {
				return nil, err
			}
			if m.Base == "" {
				if m.Base = base.Choose(graphs); m.Base != "labels" {
					g.note("no vertex labels: the base kernel is %s (--base chooses another)", m.Base)
				}
			}
			if _, ok := given["bonds"]; !ok {
				m.Bonds = dataset.Molecules(graphs)
			}
			k = m
		}
		out = append(out, k)
	}
	for name := range given {
		if !used[name] {
			flag := flagName(name)
			if name == "radii" && f.Levels > 0 {
				flag = "--levels"
			}
			return nil, usageError(fmt.Sprintf("%s is not a parameter of %s", flag, strings.Join(names, ", ")))
		}
	}
	return out, nil
}

// idle refuses flags that have no effect on the exact or the low-rank multiscale kernel.
func (f *kernelFlags) idle(exact bool, given map[string]string) error {
	names, kind := []string{"pair_rank"}, "low-rank kernel; it needs --exact"
	if exact {
		names, kind = []string{"landmarks", "rank", "samples", "seed"}, "exact kernel"
	} else if f.MaxMemory != defaultMemory {
		return usageError("--max-memory needs --exact")
	}
	for _, name := range names {
		if _, ok := given[name]; ok {
			return usageError(fmt.Sprintf("%s has no effect on the %s", flagName(name), kind))
		}
	}
	return nil
}

// multiscale returns the kernel of a multiscaleFlag.
func (f *kernelFlags) multiscale(g *globals, name string, graphs []*graph.Graph) (mlg.Kernel, error) {
	k, err := f.kernel(g, name, graphs)
	if err != nil {
		return mlg.Kernel{}, err
	}
	return k.(mlg.Kernel), nil
}

// flagError turns an error about a parameter or an option, as in "mlg: eta = 0, want …", into one
// about the flag.
func flagError(err error) error {
	if err == nil {
		return nil
	}
	_, text, _ := strings.Cut(err.Error(), ": ")
	if name, rest, ok := strings.Cut(text, " = "); ok {
		text = flagName(strings.ToLower(name)) + " = " + rest
	}
	return usageError(text)
}

// work returns the context of a command that shows its progress.
func (g *globals) work() context.Context {
	w := kernel.WorkOf(g.ctx)
	w.Progress = g.bar.progress
	return kernel.WithWork(g.ctx, w)
}

// work is globals.work with the memory that the flags allow.
func (f *kernelFlags) work(g *globals) context.Context {
	ctx := g.work()
	w := kernel.WorkOf(ctx)
	w.Memory = int64(f.MaxMemory * 1e9)
	return kernel.WithWork(ctx, w)
}
