// Command mlg measures how alike graphs are, at every scale.
package main

import (
	"os"

	"github.com/mlgkernel/mlg/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
