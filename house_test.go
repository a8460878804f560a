package mlg_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Imports point only upwards in this list.
func TestImports(t *testing.T) {
	const module = "github.com/mlgkernel/mlg"
	order := []string{"/internal/file", "/internal/table", "/internal/dense", "/param", "/graph", "/dataset", "/spd", "/cuda", "/work", "/nearest", "/kernel", "/vertex", "", "/matrixfile", "/classic", "/metrics", "/splits", "/learn", "/cluster", "/choose", "/evaluate", "/paper", "/model", "/store", "/suggest", "/tiles", "/nystrom", "/explain", "/draw",
		"/internal/explorer", "/internal/worker", "/internal/cli", "/cmd/mlg", "/bench"}
	testing := []string{"/internal/asmtest", "/internal/graphtest", "/internal/kerneltest"}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for dec.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		rel := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains(testing, rel) {
			continue
		}
		// A folder below a package belongs to it, unless it is listed itself.
		place := func(rel string) int {
			for r := rel; ; {
				if i := slices.Index(order, r); i >= 0 {
					return i
				}
				cut := strings.LastIndex(r, "/")
				if cut <= 0 {
					t.Fatalf("package %s has no place in the list of packages", rel)
				}
				r = r[:cut]
			}
		}
		at := place(rel)
		seen++
		for _, i := range p.Imports {
			r, ours := strings.CutPrefix(i, module)
			switch {
			case !ours:
				if (rel == "/graph" || rel == "/spd") && strings.Contains(i, ".") && i != "golang.org/x/sys/cpu" {
					t.Errorf("%s imports %s, want the standard library only", p.ImportPath, i)
				}
			case slices.Contains(testing, r):
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, i)
			case place(r) > at:
				t.Errorf("%s imports %s, which is below it", p.ImportPath, i)
			}
		}
	}
	if seen < 6 {
		t.Errorf("%d packages found", seen)
	}
}

// files calls f with the text of every file whose name ends as given.
func files(t *testing.T, end string, f func(path string, text []byte)) {
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"): // not ours
			return fs.SkipDir
		case !strings.HasSuffix(path, end):
			return nil
		}
		text, err := os.ReadFile(path)
		f(path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a machine lacks is skipped through graphtest.Missing alone, which fails where everything is tested.
func TestSkips(t *testing.T) {
	skip := regexp.MustCompile(`\b(t|b|tb)\.(Skip|Skipf|SkipNow)\(`)
	files(t, "_test.go", func(path string, text []byte) {
		if line := skip.Find(text); line != nil {
			t.Errorf("%s: %s, want graphtest.Missing", path, line)
		}
	})
}

// No function has more lines than a reader can keep in mind, and no file more than people look through.
func TestLengths(t *testing.T) {
	const function, file = 80, 500
	set := token.NewFileSet()
	files(t, ".go", func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		f, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(f) {
			return
		}
		lines := func(n ast.Node) int { return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1 }
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && lines(d) > function {
				t.Errorf("%s: %s has %d lines, want at most %d", path, d.Name.Name, lines(d), function)
			}
		}
		if n := set.File(f.Pos()).LineCount(); n > file {
			t.Errorf("%s has %d lines, want at most %d", path, n, file)
		}
	})
}

// No function of the page has more lines than a reader can keep in mind. It begins and ends at the same indent.
func TestLengthsOfPage(t *testing.T) {
	const most = 80
	begin := regexp.MustCompile(`^( *)(export )?(default )?(static )?(async )?(function\b.*|(const|let) \w+ = .*=>|[\w#]+\(.*\)) \{$`)
	files(t, ".js", func(path string, text []byte) {
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if m := begin.FindStringSubmatch(line); m != nil {
				if n := 2 + slices.IndexFunc(lines[i+1:], func(l string) bool { return strings.HasPrefix(l, m[1]+"}") }); n > most {
					t.Errorf("%s:%d: %q has %d lines, want at most %d", path, i+1, line, n, most)
				}
			}
		}
	})
}

// declared returns what is declared in the code: names, with their packages, and with the types that have them.
func declared(t *testing.T) map[string]bool {
	known := map[string]bool{}
	add := func(of ast.Node, names ...*ast.Ident) {
		first := ""
		ast.Inspect(of, func(n ast.Node) bool { // the type of a receiver may have a star and parameters
			if x, ok := n.(*ast.Ident); ok && first == "" {
				first = x.Name
			}
			return first == ""
		})
		for _, x := range names {
			known[x.Name], known[first+"."+x.Name] = true, true
		}
	}
	files(t, ".go", func(path string, text []byte) {
		f, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncDecl:
				add(f.Name, x.Name)
				if x.Recv != nil {
					add(x.Recv.List[0].Type, x.Name)
				}
			case *ast.ValueSpec:
				add(f.Name, x.Names...)
			case *ast.TypeSpec:
				add(f.Name, x.Name)
				if y, ok := x.Type.(*ast.StructType); ok {
					for _, field := range y.Fields.List {
						add(x.Name, field.Names...)
					}
				}
			}
			return true
		})
	})
	return known
}

// The explanations name nothing that is not in the code: functions and fields of packages and types, and
// single names with capitals.
func TestNames(t *testing.T) {
	known := declared(t)
	code := regexp.MustCompile("`([A-Za-z_][A-Za-z_.0-9]*)`")
	name := regexp.MustCompile(`^\w+(\.\w+)+$|[a-z][A-Z]|^[A-Z][a-z]`)
	file := regexp.MustCompile(`\.(go|s|py|mod|json)$|\._|^_`) // and names of Python
	texts, err := filepath.Glob("docs/explanation/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range texts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range code.FindAllSubmatch(text, -1) {
			word := string(found[1])
			if parts := strings.Split(word, "."); len(parts) > 2 { // pkg.Type.Member
				word = strings.Join(parts[len(parts)-2:], ".")
			}
			if name.MatchString(word) && !file.MatchString(word) && !known[word] {
				t.Errorf("%s: %s is not in the code", path, found[1])
			}
		}
	}
}
