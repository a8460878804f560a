package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/mlgkernel/mlg/spd"
)

// release is the version that a release build states (make release); empty in other builds,
// which take it from the module or the repository.
var release string

// build describes this binary.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"` // the checkout had changes
	Go       string `json:"go"`
	System   string `json:"system"`
	// Instructions are the vector instructions that kernels are computed by.
	Instructions string `json:"instructions"`
	date         string // of the commit
}

func thisBuild() build {
	b := build{
		Version: "development", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Instructions: spd.Instructions(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			b.Version = v
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value[:min(12, len(s.Value))]
			case "vcs.time":
				b.date, _, _ = strings.Cut(s.Value, "T")
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if release != "" {
		b.Version = release
	}
	return b
}

func (b build) String() string {
	s := "mlg " + b.Version
	if b.Revision != "" {
		s += " " + b.Revision
	}
	return fmt.Sprintf("%s (%s, %s, %s)", s, b.Go, b.System, b.Instructions)
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(g *globals) error {
	if g.JSON {
		return printJSON(g.stdout, thisBuild())
	}
	_, err := fmt.Fprintln(g.stdout, thisBuild())
	return err
}
