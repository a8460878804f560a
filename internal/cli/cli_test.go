package cli

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/vertex"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mlg": func() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// Transcripts of real runs, one for each command and each kind of mistake.
func TestScripts(t *testing.T) {
	graphtest.Slow(t)
	p := testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("MLG_CACHE", filepath.Join(env.WorkDir, "cache"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("NO_COLOR", "")
			// What a script puts into www can be fetched from $SERVER.
			server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(env.WorkDir, "www"))))
			env.Defer(server.Close)
			env.Setenv("SERVER", server.URL)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "full": // a device that is always full
				st, err := os.Stat("/dev/full")
				return err == nil && st.Mode()&os.ModeDevice != 0, nil
			case "root":
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"randomgraphs": randomGraphs,
			"path":         pathGraph,
			"columns":      columns,
			"interrupt":    interrupt,
			"zipfolder":    zipFolder,
		},
	}
	if graphtest.Race { // those in which goroutines compute a matrix
		p.Dir, p.Files = "", []string{"testdata/script/bench.txtar", "testdata/script/compare.txtar", "testdata/script/gram.txtar"}
	}
	testscript.Run(t, p)
}

// path FILE N writes a path of N vertices.
func pathGraph(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: path FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := dataset.AppendJSON(nil, graphtest.Path(n))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o666))
}

// randomgraphs FILE N VERTICES writes N random trees with a few more edges, always the same.
func randomGraphs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: randomgraphs FILE N VERTICES")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	vertices, err := strconv.Atoi(args[2])
	ts.Check(err)
	r := rand.New(rand.NewPCG(7, 7))
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"id":"r%d","nodes":%d,"edges":[`, i, vertices)
		for v := 1; v < vertices; v++ {
			if v > 1 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "[%d,%d]", r.IntN(v), v)
		}
		b.WriteString(`],"node_labels":[`)
		for v := range vertices {
			if v > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"%c"`, 'A'+rune(r.IntN(3)))
		}
		fmt.Fprintf(&b, `],"target":"%c"}`+"\n", 'x'+rune(i%2))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// zipfolder FILE FOLDER packs the files of a folder.
func zipFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: zipfolder FILE FOLDER")
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	ts.Check(z.AddFS(os.DirFS(ts.MkAbs(args[1]))))
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// columns FILE... demands that no line has more than 80 characters.
func columns(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: columns FILE...")
	}
	for _, name := range args {
		for i, line := range strings.Split(ts.ReadFile(name), "\n") {
			if n := utf8.RuneCountInString(line); n > 80 {
				ts.Fatalf("%s:%d: %d columns: %s", name, i+1, n, line)
			}
		}
	}
}

// The longest time from an interrupt to the end of the process: a second, as promised, and as
// much again for a machine that is busy with other tests.
const interruptLimit = 2 * time.Second

// interrupt SIGNAL FILE BYTES mlg ARGS... runs the command, waits until FILE has that many bytes,
// or, where FILE is -, for that many milliseconds, sends the signal, and demands the exit code
// 130 for INT and TERM.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: interrupt SIGNAL FILE BYTES mlg ARGS...")
	}
	signal := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}[args[0]]
	amount, err := strconv.Atoi(args[2])
	ts.Check(err)
	var path string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p := filepath.Join(dir, args[3]); path == "" {
			if _, err := os.Stat(p); err == nil {
				path = p
			}
		}
	}
	cmd := exec.Command(path, args[4:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(60 * time.Second); ; {
		if args[1] == "-" {
			time.Sleep(time.Duration(amount) * time.Millisecond)
			break
		}
		if st, err := os.Stat(ts.MkAbs(args[1])); err == nil && st.Size() >= int64(amount) {
			break
		}
		select {
		case err := <-ended:
			ts.Fatalf("ended before it could be interrupted: %v\n%s", err, out.String())
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			<-ended
			ts.Fatalf("%s never had %d bytes\n%s", args[1], amount, out.String())
		}
	}
	sent := time.Now()
	ts.Check(cmd.Process.Signal(signal))
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		cmd.Process.Kill()
		<-ended
		ts.Fatalf("still running 20 s after %s\n%s", args[0], out.String())
	}
	took := time.Since(sent)
	ts.Logf("%s: ended after %v\n%s", args[0], took.Round(time.Millisecond), out.String())
	if signal == syscall.SIGKILL {
		return
	}
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupt {
		ts.Fatalf("exit code %d after %s, want %d\n%s", code, args[0], exitInterrupt, out.String())
	}
	if took > interruptLimit {
		ts.Fatalf("ended %v after %s, want at most %v", took, args[0], interruptLimit)
	}
	if !regexp.MustCompile(`(?m)^mlg: interrupted; `).Match(out.Bytes()) {
		ts.Fatalf("no word about the interrupt in\n%s", out.String())
	}
}

// Programs that want no output, such as Python's subprocess.DEVNULL, open /dev/null to be read and written. That is not
// closed.
func TestDiscarded(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, args := range [][]string{{program(t), "version"}, {"sh", "-c", program(t) + " version; exit $?"}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout = null
		if err := cmd.Run(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// Topics fit a terminal and name what they are about.
func TestTopics(t *testing.T) {
	p, _ := parserOf(t)
	for _, name := range topics {
		text, ok := topic(p.Model, name)
		if !ok {
			t.Fatalf("no text for %s", name)
		}
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("topics/%s.txt:%d: %d columns, want at most 80", name, i+1, n)
			}
		}
	}
	formats, _ := topic(p.Model, "formats")
	for _, f := range dataset.Formats() {
		if !regexp.MustCompile(`\b` + string(f) + `\b`).MatchString(formats) {
			t.Errorf("help formats does not name %s", f)
		}
	}
	kernels, _ := topic(p.Model, "kernels")
	for _, k := range kernel.Names() {
		if !regexp.MustCompile(`(?m)(^  | )` + k + ` `).MatchString(kernels) {
			t.Errorf("help kernels does not name %s", k)
		}
	}
	for _, name := range append(kernel.Names(), vertex.Names()...) {
		text, ok := topic(p.Model, name)
		if !ok {
			t.Errorf("no help about the kernel %s", name)
		}
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("help %s:%d: %d columns, want at most 80", name, i+1, n)
			}
		}
	}
	output, _ := topic(p.Model, "output")
	for _, code := range []int{exitOK, exitFailed, exitUsage, exitInterrupt} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^  %d +\S`, code)).MatchString(output) {
			t.Errorf("help output does not name exit code %d", code)
		}
	}
}

// The help of a command has at most two screens of 24 lines. Each of its flags stands there or where it
// points to.
func TestHelpLength(t *testing.T) {
	p, _ := parserOf(t)
	shared, _ := topic(p.Model, "data")
	for _, n := range commands(p.Model) {
		var out bytes.Buffer
		if code := Main([]string{n.Name, "--help"}, &out, io.Discard); code != exitOK {
			t.Fatalf("%s --help: exit code %d", n.Name, code)
		}
		if lines := strings.Count(out.String(), "\n"); lines > 48 {
			t.Errorf("%s --help has %d lines", n.Name, lines)
		}
		for _, f := range slices.Concat(n.AllFlags(true)...) {
			if !regexp.MustCompile(`--` + f.Name + `\b`).MatchString(out.String()) {
				t.Errorf("%s --help does not name --%s", n.Name, f.Name)
			}
			if f.Group != nil && f.Group.Key == dataGroup && !strings.Contains(shared, "  --"+f.Name) {
				t.Errorf("help data does not explain --%s", f.Name)
			}
		}
	}
}

// A kernel or vertex kernel has a line of the table, and what stands in a text is found.
func TestHelpOfTexts(t *testing.T) {
	p, _ := parserOf(t)
	text, _ := topic(p.Model, "kernels")
	for _, name := range slices.Concat(kernel.Names(), vertex.Names(), formNames()) {
		if !regexp.MustCompile(`(?m)^  ` + name + ` +\S.*\n(  [^ ]|\n)`).MatchString(text) {
			t.Errorf("%s has no line of its own in help kernels", name)
		}
	}
	for text, want := range map[string][]string{
		"wl h=3":                          {"wl compares"},
		"stereo":                          {"stereo is a form"},
		"0.5 (wl + sp) incident + 0.5 sp": {"wl compares", "sp compares", "incident is a form"},
		"mlg base=(gaussian sigma=2)":     {"mlg compares"},
		"gaussian":                        {"gaussian for two vertices"},
		"":                                nil,
		"wl +":                            nil,
		"nothing":                         nil,
	} {
		got, ok := topic(p.Model, text)
		if ok != (want != nil) || strings.Count(got, " compares ") > 2 {
			t.Errorf("help %q: %s", text, got)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("help %q lacks %q", text, w)
			}
		}
	}
}

// Hand-counted typing errors.
func TestTypos(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"gram", "gram", 0}, {"grm", "gram", 1}, {"garm", "gram", 1}, {"gramm", "gram", 1}, {"gran", "gram", 1}, {"kitten", "sitting", 3}} {
		if got := typos(c.a, c.b); got != c.want {
			t.Errorf("typos(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	words := []string{"gram", "evaluate", "explain", "compare", "convert"}
	for in, want := range map[string]string{"garm": "gram", "evalaute": "evaluate", "eval": "evaluate", "comapre": "compare", "xyzzy": ""} {
		if got := strings.Join(nearestWords(in, words), " "); got != want {
			t.Errorf("nearest to %q: %q, want %q", in, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, x := range map[string]float64{"12 pairs": 12, "1.52 M pairs": 1.52e6, "999 pairs": 999, "1 k pairs": 1000, "25 G pairs": 2.5e10} {
		if got := count(x, "pairs"); got != want {
			t.Errorf("count(%v) = %q, want %q", x, got, want)
		}
	}
	if got := count(2.5e6, "B"); got != "2.5 MB" {
		t.Errorf("bytes: %q", got)
	}
}
