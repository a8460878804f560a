// Package cli is the command mlg: it turns flags into calls of the library and results into
// text. Each command is a file.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg/cuda"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/work"
)

// Exit codes, as the manual states them.
const (
	exitOK        = 0
	exitFailed    = 1   // the work could not be done: bad input, no such file, a full disk
	exitUsage     = 2   // the command line is wrong
	exitInterrupt = 130 // interrupted
)

// globals are the flags of every command.
type globals struct {
	Threads   int     `help:"Number of threads; 0 means all cores." default:"0" least:"0" placeholder:"N"`
	Device    string  `help:"What computes large matrices of mlg: cpu, cuda (an NVIDIA GPU) or auto (a GPU where there is one and enough work). The values are the same." default:"cpu" enum:"cpu,cuda,auto" placeholder:"NAME"`
	MaxMemory float64 `help:"Limit of memory for large matrices, in GB. 0 means what is free, and at most 16 for the tables of exact kernels." default:"0" placeholder:"GB"`
	Quiet     bool    `help:"Print results only, no progress and no notes."`
	JSON      bool    `help:"Print the result as JSON." name:"json"`

	start  time.Time
	ctx    context.Context
	stdout io.Writer // see writer: a failure is remembered
	stderr io.Writer
	colour struct{ stdout, stderr bool } // whether colours may be used
	bar    *bar                          // progress
	kept   *notice                       // what an interrupted command leaves
}

func (g *globals) workers() int {
	if g.Threads > 0 {
		return g.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// note prints a line for people on standard error.
func (g *globals) note(format string, args ...any) {
	if !g.Quiet {
		g.bar.done()
		fmt.Fprintln(g.stderr, table.Visible(fmt.Sprintf(format, args...)))
	}
}

// warn prints a line that --quiet does not hide.
func (g *globals) warn(format string, args ...any) {
	g.bar.done()
	fmt.Fprintln(g.stderr, "warning: "+table.Visible(fmt.Sprintf(format, args...)))
}

// quietly returns globals that print no notes and no progress.
func (g *globals) quietly() *globals {
	out := *g
	out.Quiet, out.bar = true, &bar{quiet: true}
	return &out
}

// result prints what a command has done and the time that it took: as JSON, or as a note.
func (g *globals) result(values map[string]any, format string, args ...any) error {
	took := time.Since(g.start)
	if g.JSON {
		values["seconds"] = took.Seconds()
		return printJSON(g.stdout, values)
	}
	g.note("%s in %s", fmt.Sprintf(format, args...), round(took))
	return nil
}

type root struct {
	globals

	Demo     demoCmd     `cmd:"" help:"Show the whole job on built-in molecules."`
	Info     infoCmd     `cmd:"" help:"Say what is in a dataset, and what is wrong with it."`
	Convert  convertCmd  `cmd:"" help:"Convert between formats."`
	Gram     gramCmd     `cmd:"" help:"Compute the Gram matrix of a dataset, or the matrix between two."`
	Evaluate evaluateCmd `cmd:"" help:"Measure kernels by nested cross-validation."`
	Train    trainCmd    `cmd:"" help:"Choose and weigh kernels, train, and save a model."`
	Predict  predictCmd  `cmd:"" help:"Predict the class or value of graphs, with the nearest training graphs."`
	Suggest  suggestCmd  `cmd:"" help:"Say what to measure next: the graphs of a pool that are worth it."`
	Search   searchCmd   `cmd:"" help:"Find the most similar graphs of a model, store or dataset."`
	Explain  explainCmd  `cmd:"" help:"Show which vertices made a prediction or a similarity."`
	Compare  compareCmd  `cmd:"" help:"Compare two graphs level by level, or two datasets."`
	Cluster  clusterCmd  `cmd:"" help:"Group similar graphs, with a typical graph of each group."`
	Fetch    fetchCmd    `cmd:"" help:"Download TUDataset collections into the cache."`
	Bench    benchCmd    `cmd:"" help:"Measure the speed of this machine."`
	Serve    serveCmd    `cmd:"" help:"Explore a dataset or a model in the browser, or by a JSON API."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	Fit       fitCmd       `cmd:"" help:"Fit a kernel to a sample of a dataset, without a learner."`
	Transform transformCmd `cmd:"" help:"Turn any number of graphs into a store, in constant memory."`
	Refine    refineCmd    `cmd:"" help:"Learn a model's coefficients from more graphs than fit into memory."`
	Embed     embedCmd     `cmd:"" help:"Turn graphs into vectors whose inner products approximate the kernel."`
	Merge     mergeCmd     `cmd:"" help:"Join the tiles of a Gram matrix that shards have computed."`

	Help       helpCmd       `cmd:"" help:"Explain a command, a kernel, or a topic: data, formats, kernels, models, output."`
	Completion completionCmd `cmd:"" help:"Print the completion script for a shell."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`

	Complete completeCmd `cmd:"" hidden:"" help:"Answer a completion script."`
	Worker   workerCmd   `cmd:"" hidden:"" help:"Answer the requests of a parent process."`
}

// errClosed is the error of a command whose standard output is closed.
var errClosed = errors.New("standard output is closed; send it to a file, or to /dev/null if nobody wants it")

// grace is how long an interrupted command may take to stop by itself. Work that looks at its
// context stops much sooner; the rest, as an eigenproblem of a large matrix, is left alone.
const grace = 700 * time.Millisecond

// Main runs the command with the given arguments and returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var r root
	r.colour.stdout, r.colour.stderr = coloured(stdout), coloured(stderr)
	r.start, r.ctx, r.stderr, r.kept = time.Now(), ctx, stderr, &notice{}
	r.bar = newBar(&r.globals)
	out := &writer{w: stdout, bar: r.bar, colour: r.colour.stdout}
	r.stdout = out
	if stdout == io.Writer(os.Stdout) && closedOutput() { // before work whose results would be lost
		return r.finish(errClosed, out)
	}
	code := -1
	parser, err := kong.New(&r,
		kong.Name("mlg"),
		kong.Description("mlg measures how alike two graphs are, at every scale. Use it to classify molecules, search a library of structures, or compare programs.\n\nStart with \"mlg demo\". \"mlg help\" lists topics, such as formats and kernels."),
		kong.Writers(out, stderr),
		kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 80}),
		kong.Help(flagHelp),
		helpWords,
		kong.Bind(&r.globals),
	)
	if err != nil {
		panic(err) // a mistake in the structs above
	}
	parser.Model.HelpFlag.Help = helpOfHelp
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	c, err := parser.Parse(joinNegatives(args))
	if code >= 0 { // --help has been printed
		return r.finish(nil, out)
	}
	if err != nil {
		if out.err != nil { // help could not be printed
			return r.finish(nil, out)
		}
		code := r.finish(usageError(explainUsage(err)), out)
		fmt.Fprintln(stderr, `Try "mlg --help" or "mlg COMMAND --help".`)
		return code
	}
	if err := cmp.Or(once(c, "kernel"), r.check(slices.Concat(c.Selected().AllFlags(true)...))); err != nil {
		return r.finish(err, out)
	}
	r.bar.quiet, out.raw = r.Quiet, r.JSON
	device, closer, err := cuda.Choose(r.Device, func(text string) { r.note("%s", text) })
	if err != nil {
		return r.finish(fmt.Errorf("--device %s: %w", r.Device, err), out)
	}
	defer closer.Close()
	r.ctx = work.With(r.ctx, work.Options{Workers: r.workers(), Device: device})
	done := make(chan error, 1)
	go func() { done <- c.Run(&r.globals) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(grace):
			stop() // now another interrupt ends the process at once
			r.kept.wait(func() { r.note("a file is still being written; another interrupt ends at once") })
			err = context.Canceled
		}
	}
	return r.finish(err, out)
}

// finish says what went wrong, if anything, and returns the exit code.
func (g *globals) finish(err error, out *writer) int {
	g.bar.done()
	if len(out.begun) > 0 && out.err == nil {
		out.print(out.begun)
	}
	prefix := "mlg:"
	if g.colour.stderr {
		prefix = "\x1b[1;31mmlg:\x1b[0m"
	}
	if err != nil && errors.Is(err, context.Canceled) && g.ctx.Err() != nil {
		fmt.Fprintf(g.stderr, "%s interrupted; %s\n", prefix, table.Visible(g.kept.get()))
		return exitInterrupt
	}
	if out.err != nil {
		err = fmt.Errorf("standard output: %w", out.err)
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(g.stderr, "%s %s\n", prefix, table.Visible(err.Error()))
	var missing *graph.Missing
	if errors.As(err, &missing) {
		fmt.Fprintln(g.stderr, "The text of a kernel says what is compared, such as \"wl labels=auto\" or \"mlg base=degree\".")
	}
	if usage := usageError(""); errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// notice is what is known of a command that may be interrupted.
type notice struct {
	mu      sync.Mutex
	text    string         // what it leaves on purpose, to go on
	files   []string       // complete
	writing sync.WaitGroup // files that are being written
}

// write calls a function that writes a file, so that an interrupt does not come between.
func (g *globals) write(path string, f func() error) error {
	n := g.kept
	n.writing.Add(1)
	defer n.writing.Done()
	if err := f(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.files = append(n.files, path)
	return nil
}

// wait returns when no file is being written, and calls slow if that takes a second.
func (n *notice) wait(slow func()) {
	t := time.AfterFunc(time.Second, slow)
	n.writing.Wait()
	t.Stop()
}

func (n *notice) set(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = fmt.Sprintf(format, args...)
}

func (n *notice) get() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.text != "":
		return n.text
	case len(n.files) > 0:
		return "written before: " + strings.Join(n.files, ", ")
	}
	return "nothing was written"
}

// writer removes the line of progress before it writes, and remembers the first failure, so that a
// full disk behind standard output is noticed without a check at every line. Control characters of
// data become visible, so that a name cannot command the terminal.
type writer struct {
	w      io.Writer
	bar    *bar
	err    error
	raw    bool   // what is written is for programs, and stays as it is
	colour bool   // bold, see globals.bold, stays too
	begun  []byte // of a character whose end comes with the next call
}

func (w *writer) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.bar.done()
	if w.raw {
		n, err := w.w.Write(b)
		w.err = cause(err)
		return n, w.err
	}
	text := append(w.begun, b...)
	end := len(text)
	for i := end - 1; i >= max(0, end-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				end = i
			}
			break
		}
	}
	w.begun = bytes.Clone(text[end:])
	w.print(text[:end])
	return len(b), w.err
}

// print writes text for people.
func (w *writer) print(text []byte) {
	s := table.Visible(string(text))
	if w.colour {
		s = strings.NewReplacer(`\x1b[1m`, "\x1b[1m", `\x1b[0m`, "\x1b[0m").Replace(s)
	}
	_, err := io.WriteString(w.w, s)
	w.err = cause(err)
}

// forPrograms says that what is printed from now on is data for programs.
func (g *globals) forPrograms() {
	if w, ok := g.stdout.(*writer); ok {
		w.raw = true
	}
}

// cause takes the path off an error of os, where the message names it otherwise.
func cause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}

// usageError is a mistake on the command line.
type usageError string

func (e usageError) Error() string { return string(e) }
