package cli

import (
	"os"
	"os/signal"

	"github.com/mlgkernel/mlg/internal/worker"
)

// workerCmd answers the requests of a parent process, such as the Python package.
type workerCmd struct {
	Dir string `help:"Folder shared with the parent; it is removed at the end." required:"" placeholder:"DIR"`
}

// Run answers requests until the input ends. An interrupt is meant for the parent.
func (c *workerCmd) Run(g *globals) error {
	signal.Ignore(os.Interrupt)
	g.forPrograms()
	return worker.Serve(g.ctx, os.Stdin, g.stdout, c.Dir)
}
