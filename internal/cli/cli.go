// Package cli is the command mlg: it turns flags into calls of the library and results into
// text. Each command is a file.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes, as the manual states them.
const (
	exitOK        = 0
	exitFailed    = 1   // the work could not be done: bad input, no such file, a full disk
	exitUsage     = 2   // the command line makes no sense
	exitInterrupt = 130 // interrupted
)

// globals are the flags of every command.
type globals struct {
	Threads int  `help:"Number of threads; 0 means all cores." default:"0" placeholder:"N"`
	Quiet   bool `help:"Print results only, no progress and no notes."`
	JSON    bool `help:"Print the result as JSON." name:"json"`

	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
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
		fmt.Fprintf(g.stderr, format+"\n", args...)
	}
}

type root struct {
	globals

	Demo     demoCmd     `cmd:"" help:"The whole job on built-in molecules, nothing to download."`
	Info     infoCmd     `cmd:"" help:"What is in a dataset, and what is wrong with it."`
	Convert  convertCmd  `cmd:"" help:"Convert between formats."`
	Gram     gramCmd     `cmd:"" help:"Compute the Gram matrix of a dataset, or the matrix between two."`
	Evaluate evaluateCmd `cmd:"" help:"Nested cross-validation of kernels."`
	Train    trainCmd    `cmd:"" help:"Choose a kernel, fit and save a model."`
	Predict  predictCmd  `cmd:"" help:"Class or value of graphs, with the nearest training graphs."`
	Search   searchCmd   `cmd:"" help:"Most similar graphs of a model or dataset."`
	Explain  explainCmd  `cmd:"" help:"Which vertices made the prediction or the similarity, drawn."`
	Compare  compareCmd  `cmd:"" help:"Similarity of two graphs, level by level."`
	Cluster  clusterCmd  `cmd:"" help:"Group a dataset by similarity, with a typical graph of each group."`
	Fetch    fetchCmd    `cmd:"" help:"Download TUDataset collections into the cache."`
	Bench    benchCmd    `cmd:"" help:"Measure this machine on datasets."`
	Serve    serveCmd    `cmd:"" help:"Explore a dataset or a model in the browser; a JSON API."`
	Version  versionCmd  `cmd:"" help:"Print the version."`
}

// Main runs the command with the given arguments and returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var r root
	r.ctx, r.stdout, r.stderr = ctx, stdout, stderr
	code := -1
	parser, err := kong.New(&r,
		kong.Name("mlg"),
		kong.Description("Compares graphs at every scale at once: the Multiscale Laplacian Graph kernel and its relatives."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
		kong.Bind(&r.globals),
	)
	if err != nil {
		panic(err) // a mistake in the structs above
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	c, err := parser.Parse(args)
	if code >= 0 { // --help has been printed
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "mlg: %v\n", err)
		fmt.Fprintln(stderr, `Try "mlg --help" or "mlg COMMAND --help".`)
		return exitUsage
	}
	err = c.Run(&r.globals)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "mlg: interrupted; nothing was written")
		return exitInterrupt
	default:
		var usage usageError
		fmt.Fprintf(stderr, "mlg: %v\n", err)
		if errors.As(err, &usage) {
			return exitUsage
		}
		return exitFailed
	}
}

// usageError is a mistake on the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(g *globals) error {
	version := "development"
	var revision, system string
	if b, ok := debug.ReadBuildInfo(); ok {
		if v := b.Main.Version; v != "" && v != "(devel)" {
			version = v
		}
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	system = runtime.GOOS + "/" + runtime.GOARCH
	if g.JSON {
		return printJSON(g.stdout, map[string]string{"version": version, "revision": strings.TrimSpace(revision), "go": runtime.Version(), "system": system})
	}
	_, err := fmt.Fprintf(g.stdout, "mlg %s%s (%s, %s)\n", version, revision, runtime.Version(), system)
	return err
}
