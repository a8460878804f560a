// Command mlg compares graphs at every scale at once.
package main

import (
	"os"

	"github.com/mlgkernel/mlg/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
