package cli

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Transcripts of the commands that make and use models.
func TestModelScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/models", Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"damage": damage,
	}})
}

// damage FROM TO HOW copies a model file with something wrong.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: damage FROM TO truncate|flip|version|text|empty")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	switch args[2] {
	case "truncate":
		b = b[:len(b)/2]
	case "flip":
		b[len(b)/2] ^= 4
	case "version":
		binary.LittleEndian.PutUint32(b[8:], 99)
	case "text":
		b = []byte(fmt.Sprintf("%q\n", b))
	case "empty":
		b = nil
	default:
		ts.Fatalf("damage: unknown way %q", args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}
