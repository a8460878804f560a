package mlg_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// SECURITY.md has every module that the module files name, with its version, and no other. Of modules beside the core
// those count that they name themselves.
func TestDependencies(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (v?[0-9][^ ]*) \\| .+ \\|$").FindAllStringSubmatch(string(text), -1) {
		listed[row[1]] = row[2]
	}
	used := map[string]string{}
	for _, folder := range []string{".", "beam", "internal/asm", "internal/site", "examples/kubernetes"} {
		cmd := exec.Command("go", "mod", "edit", "-json")
		cmd.Dir = folder
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var module struct {
			Require []struct {
				Path, Version string
				Indirect      bool
			}
		}
		if err := json.Unmarshal(out, &module); err != nil {
			t.Fatal(err)
		}
		for _, r := range module.Require {
			if (folder == "." || !r.Indirect) && r.Path != "github.com/mlgkernel/mlg" {
				used[r.Path] = r.Version
			}
		}
	}
	var pages struct{ Dependencies map[string]string }
	text, err = os.ReadFile("internal/explorer/webtest/package.json")
	if err == nil {
		err = json.Unmarshal(text, &pages)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range pages.Dependencies {
		used[name] = version
	}
	for name, version := range used {
		if listed[name] != version {
			t.Errorf("SECURITY.md has %s in version %q, want %s", name, listed[name], version)
		}
	}
	for name := range listed {
		if used[name] == "" {
			t.Errorf("SECURITY.md has %s, which nothing uses", name)
		}
	}
	modules, err := filepath.Glob("*/go.mod")
	if err != nil || len(modules) != 1 {
		t.Errorf("modules %v beside beam are not checked, %v", modules, err)
	}
}

// Every test that a row of the promises names is there, and every row names one. A test stands as its folder, a blank and
// its name, a transcript as its path.
func TestPromises(t *testing.T) {
	const page = "docs/explanation/promises.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	test := regexp.MustCompile(`([a-z0-9/.]+) ((?:Test|Fuzz|test_)\w+)`)
	script := regexp.MustCompile(`internal/cli/testdata/script/\w+\.txtar`)
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 4 || strings.TrimSpace(cells[0]) == "promise" {
			continue
		}
		rows++
		tests, scripts := test.FindAllStringSubmatch(cells[1], -1), script.FindAllString(cells[1], -1)
		if len(tests)+len(scripts) == 0 {
			t.Errorf("%s: no test of %s", page, cells[0])
		}
		for _, x := range tests {
			folder, name := x[1], x[2]
			if folder == "root" {
				folder = "."
			}
			pattern, begin := "*_test.go", "func "+name+"("
			if strings.HasPrefix(name, "test_") {
				pattern, begin = "*.py", "def "+name+"("
			}
			files, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, path := range files {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(b), begin)
			}
			if !found {
				t.Errorf("%s: there is no test %s in %s", page, name, folder)
			}
		}
		for _, path := range scripts {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		for _, cell := range cells {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("%s: a row about %s has an empty cell", page, cells[0])
			}
		}
	}
	if rows < 25 {
		t.Errorf("%s has %d rows, want at least 25", page, rows)
	}
}
