//go:build !noasm

package mlg_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// runnable returns the documents whose blocks are run: the README, the tutorials and the how-to pages.
func runnable(t *testing.T) []string {
	out := []string{"README.md"}
	for _, pattern := range []string{"docs/tutorial/*.md", "docs/howto/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d documents, error %v", pattern, len(found), err)
		}
		out = append(out, found...)
	}
	return out
}

// TestReadme runs the README, all tutorials and all how-to pages. A fenced block of the kind "console" has
// commands after "$ " and what they print. A block after a comment <!-- file: NAME --> is a file.
// All blocks of a document run in order in one temporary folder. The command of this checkout is first in
// PATH, and examples/ lies in the folder. In what is printed, "…" stands for any text in a line, and a line
// with nothing else for any lines. The README and a tutorial must have a block that can run.
//
// A comment <!-- needs: KIND NAME --> before a block says what it cannot do without:
//
//	dataset NAME   a collection in $MLG_DATASETS (default ../shared/datasets)
//	python NAME    a Python 3 that can import the module; $MLG_PYTHON, default python3
//	gcc NUMBER     gcc, or g++, of this version: what a compiler makes of a program differs from version to version
//	network        never run here
//
// and the test says which blocks it left out.
func TestReadme(t *testing.T) {
	graphtest.Long(t)
	if runtime.GOOS == "windows" || runtime.GOARCH != "amd64" {
		graphtest.Missing(t, "the blocks are for a POSIX shell, and what is printed was rounded on amd64")
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	bin, modules := t.TempDir(), map[string]bool{}
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "mlg"), "./cmd/mlg")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, document := range runnable(t) {
		t.Run(strings.TrimSuffix(filepath.Base(document), ".md"), func(t *testing.T) {
			runDocument(t, readmeRunner{path: bin + string(os.PathListSeparator) + os.Getenv("PATH"), modules: modules}, root, document)
		})
	}
}

// runDocument runs the blocks of a document in a folder of its own.
func runDocument(t *testing.T, r readmeRunner, root, document string) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := readmeBlocks(string(text))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(work, "examples")); err != nil {
		t.Fatal(err)
	}
	goModule(t, root, work)
	r.work = work
	ran, leftOut := 0, 0
	for _, b := range blocks {
		t.Run(fmt.Sprintf("line%d", b.line), func(t *testing.T) {
			if slices.Contains(b.needs, "network") {
				return
			}
			if why := r.missing(t, b.needs); why != "" {
				leftOut++
				if strings.HasPrefix(why, "no gcc") { // of this version, which is no fault of the machine
					t.Log(why)
					return
				}
				graphtest.Missing(t, "%s:%d: left out: %s", document, b.line, why)
			}
			switch {
			case b.file != "":
				if err := os.WriteFile(filepath.Join(work, b.file), []byte(strings.Join(b.lines, "\n")+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			case b.kind == "console":
				ran++
				r.console(t, b)
			}
		})
	}
	if ran+leftOut == 0 && !strings.HasPrefix(document, "docs/howto/") {
		t.Errorf("%s has no block that could be run", document)
	}
}

// goModule makes work the folder of a module that uses this checkout, as "go get" would.
func goModule(t *testing.T, root, work string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/mlgkernel/mlg"
	text := strings.Replace(string(mod), "module "+module, "module example", 1)
	text += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, root)
	for name, content := range map[string]string{"go.mod": text, "go.sum": string(sum)} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

type readmeBlock struct {
	line  int    // of the fence
	kind  string // after the fence
	file  string
	needs []string
	lines []string
}

var readmeComment = regexp.MustCompile(`^<!-- (file|needs): (.*) -->$`)

// readmeBlocks returns the fenced blocks of a Markdown text, with the comments before them.
func readmeBlocks(text string) ([]readmeBlock, error) {
	var out []readmeBlock
	var next readmeBlock
	inside := false
	for i, line := range strings.Split(text, "\n") {
		kind, fence := strings.CutPrefix(line, "```")
		switch m := readmeComment.FindStringSubmatch(line); {
		case fence && !inside:
			next.line, next.kind, inside = i+1, kind, true
		case fence:
			out = append(out, next)
			next, inside = readmeBlock{}, false
		case inside:
			next.lines = append(next.lines, line)
		case m != nil && m[1] == "file":
			next.file = m[2]
		case m != nil:
			next.needs = append(next.needs, m[2])
		case strings.TrimSpace(line) != "" && (next.file != "" || next.needs != nil):
			return nil, fmt.Errorf("line %d: a comment about a block has to stand right before it", i+1)
		}
	}
	if inside {
		return nil, fmt.Errorf("line %d: block without an end", next.line)
	}
	return out, nil
}

type readmeRunner struct {
	work, path string
	modules    map[string]bool // of Python, by name: whether they can be imported, which takes a second
}

func (r *readmeRunner) run(limit time.Duration, command string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = r.work
	cmd.Env = append(os.Environ(), "PATH="+r.path, "MLG_CACHE="+filepath.Join(r.work, "cache"), "NO_COLOR=1", "GOFLAGS=-mod=mod", "GOWORK=off")
	cmd.WaitDelay = time.Minute // on a busy machine the last output comes late
	var a, b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &a, &b
	err = cmd.Run()
	return a.String(), b.String(), err
}

// missing returns what keeps a block from being run, or nothing.
func (r *readmeRunner) missing(t *testing.T, needs []string) string {
	for _, n := range needs {
		kind, name, _ := strings.Cut(n, " ")
		switch kind {
		case "dataset":
			path, err := filepath.Abs(graphtest.Dataset(t, name))
			if err != nil {
				return err.Error()
			}
			if link := filepath.Join(r.work, name); os.Symlink(path, link) != nil {
				if _, err := os.Stat(link); err != nil {
					return err.Error()
				}
			}
		case "python":
			if _, known := r.modules[name]; !known {
				_, _, err := r.run(30*time.Second, readmePython()+" -c 'import "+name+"'")
				r.modules[name] = err == nil
			}
			if !r.modules[name] {
				return "no Python that can import " + name + "; set MLG_PYTHON"
			}
		case "gcc", "g++":
			if out, err := exec.Command(kind, "-dumpversion").Output(); err != nil || strings.TrimSpace(string(out)) != name {
				return "no " + kind + " " + name
			}
		default:
			return "unknown need " + n
		}
	}
	return ""
}

func readmePython() string {
	if p := os.Getenv("MLG_PYTHON"); p != "" {
		return p
	}
	return "python3"
}

// progressLine is what the command prints now and then on standard error, depending on time.
var progressLine = regexp.MustCompile(`(?m)^[^\n]*: (\d+ %(  .*)?|(\d[^\n]*/s  )?[\dhms.]+s)\n`)

// console runs the commands of a block and compares what they print.
func (r *readmeRunner) console(t *testing.T, b readmeBlock) {
	if len(b.lines) == 0 || !strings.HasPrefix(b.lines[0], "$ ") {
		t.Fatalf("line %d: a console block begins with a command after \"$ \"", b.line)
	}
	for i := 0; i < len(b.lines); {
		command := strings.TrimPrefix(b.lines[i], "$ ")
		line := b.line + 1 + i
		i++
		for strings.HasSuffix(command, "\\") && i < len(b.lines) { // goes on in the next line
			command = strings.TrimSuffix(command, "\\") + strings.TrimSpace(b.lines[i])
			i++
		}
		var want []string
		for ; i < len(b.lines) && !strings.HasPrefix(b.lines[i], "$ "); i++ {
			want = append(want, b.lines[i])
		}
		if rest, ok := strings.CutPrefix(command, "python3 "); ok {
			command = readmePython() + " " + rest
		}
		stdout, stderr, err := r.run(3*time.Minute, command)
		if err != nil {
			t.Fatalf("line %d: %s: %v\n%s%s", line, command, err, stdout, stderr)
		}
		got := stdout + progressLine.ReplaceAllString(stderr, "")
		if !regexp.MustCompile(readmePattern(want)).MatchString(got) {
			t.Errorf("line %d: %s printed\n%s\nthe document says\n%s", line, command, got, strings.Join(want, "\n"))
		}
	}
}

// readmePattern returns the expression for what is printed.
func readmePattern(lines []string) string {
	var b strings.Builder
	b.WriteString(`^`)
	for _, l := range lines {
		if l == "…" {
			b.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(l), "…", `[^\n]*`) + `\n`)
	}
	b.WriteString(`$`)
	return b.String()
}

func TestProgressLine(t *testing.T) {
	lines := "ridge: 1  13.7/s  0s\ntransform: 1.5 k graphs  300 graphs/s  1m5s\nchoosing: 7 %  11.6/s  4s left\nafter held: 3s\n"
	if got := progressLine.ReplaceAllString(lines+"drugs.mlg: 901 kB, 2.04 s\n", ""); got != "drugs.mlg: 901 kB, 2.04 s\n" {
		t.Errorf("left is %q", got)
	}
}

// The notation of the README itself.
func TestReadmePattern(t *testing.T) {
	for _, c := range []struct {
		want []string
		got  string
		ok   bool
	}{
		{[]string{"a", "b"}, "a\nb\n", true},
		{[]string{"a", "b"}, "a\nb\nc\n", false},
		{[]string{"a", "…"}, "a\nb\nc\n", true},
		{[]string{"…", "c"}, "a\nb\nc\n", true},
		{[]string{"1.5 … s"}, "1.5 in 3 s\n", true},
		{[]string{"1.5 … s"}, "1x5 in 3 s\n", false},
		{nil, "", true},
		{nil, "a\n", false},
	} {
		if got := regexp.MustCompile(readmePattern(c.want)).MatchString(c.got); got != c.ok {
			t.Errorf("%q for %q: %v, want %v", c.want, c.got, got, c.ok)
		}
	}
	blocks, err := readmeBlocks("x\n<!-- needs: dataset A -->\n<!-- file: f.go -->\n```go\nline\n```\n")
	if err != nil || len(blocks) != 1 || blocks[0].file != "f.go" || blocks[0].kind != "go" || len(blocks[0].needs) != 1 || blocks[0].line != 4 {
		t.Errorf("blocks %+v, error %v", blocks, err)
	}
	if _, err := readmeBlocks("```console\n$ x\n"); err == nil {
		t.Error("a block without an end was accepted")
	}
}
