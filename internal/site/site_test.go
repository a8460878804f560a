package main

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLinks checks every link of the documents of this repository.
func TestLinks(t *testing.T) {
	s, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.pages) < 20 || s.pages[0].source != "README.md" {
		t.Errorf("%d pages, the first is %s", len(s.pages), s.pages[0].source)
	}
}

// repository writes files into a temporary folder, beside a README and a module.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	all := map[string]string{"go.mod": "module github.com/x/y\n\ngo 1.26\n", "README.md": "# Home\n"}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDeadLinks(t *testing.T) {
	const page = "docs/howto/a.md"
	for _, c := range []struct {
		file, text, want string
	}{
		{page, "# A\n\nsee [b](b.md)\n", page + ":3: dead link: no file docs/howto/b.md"},
		{page, "# A\n\ntext and\n[b\nc](b.md)\n", page + ":4: dead link: no file docs/howto/b.md"},
		{page, "# A\n\n| x |\n|---|\n| [b](b.md) |\n", page + ":5: dead link: no file docs/howto/b.md"},
		{page, "# A\n\n- x\n  - [b][1]\n\n[1]: b.md\n", page + ":4: dead link: no file docs/howto/b.md"},
		{page, "# A\n\n[b](#there)\n", page + ":3: dead link: docs/howto/a.md has no heading #there"},
		{page, "# A\n\n[b](../../README.md#there)\n", page + ":3: dead link: README.md has no heading #there"},
		{page, "# A\n\n[b](../../../go.mod)\n", page + ":3: dead link: ../go.mod is outside the repository"},
		{page, "# A\n\n[b](../../go.mod#there)\n", page + ":3: dead link: go.mod has no heading #there"},
		{page, "# A\n\n![b](b.png)\n", page + ":3: dead link: no file docs/howto/b.png"},
		{page, "# A\n\n![b](../howto)\n", page + ":3: dead link: docs/howto is a folder, want a picture"},
		{page, "# A\n\n[b](https://github.com/x/y/blob/main/b.go)\n", page + ":3: dead link: no file b.go"},
		{page, "# A\n\n<img src=\"b.png\">\n", page + ":3: HTML, want Markdown: \"<img src=\\\"b.png\\\">\\n\""},
		{page, "A\n", page + ":1: no title, want a first heading \"# ...\""},
		{"docs/a.md", "# A\n", "docs/a.md: not in docs/tutorial, docs/howto, docs/reference or docs/explanation"},
		{"bench/a.md", "[b](b.txt)\n", "bench/a.md:1: dead link: no file bench/b.txt"},
		{"a.go", "package y\n\n// See docs/howto/b.md.\n", "a.go:3: no document docs/howto/b.md"},

		{page, "# A\n\n## A `b`, c_d–é ½\n\n## A\n\n[1](#a-b-c_dé-) [2](#a-1) [3](../../go.mod#L3) [4](https://example.com/b.md) [5](..)\n", ""},
		{page, "# A\n\n    [b](b.md)\n\n`[b](b.md)`\n\n<!-- [b](b.md) -->\n", ""},
	} {
		_, err := read(repository(t, map[string]string{c.file: c.text}))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// Pages stand in the order of the README, then by title, and links lead where they should.
func TestPages(t *testing.T) {
	root := repository(t, map[string]string{
		"README.md":             "# Home\n\n[z](docs/howto/z.md#two) [a](docs/tutorial/a.md) [go](go.mod#L1) ![p](docs/howto/z/p.svg)\n",
		"CHANGELOG.md":          "# Changes\n",
		"docs/tutorial/a.md":    "# First\n\n[home](../../README.md) [y.md](../howto/y.md) [docs/howto/x.md](../howto/x.md) [folder](../howto) [source](../../bench/n.md#n)\n",
		"docs/howto/z.md":       "# Zoo\n\n## Two\n\n```console\n$ a <b> \\\n   c\nd\n```\n\n![p](z/p.svg)\n",
		"docs/howto/y.md":       "# B\n",
		"docs/howto/x.md":       "# A\n",
		"docs/howto/z/p.svg":    "<svg/>",
		"docs/reference/r.md":   "# R\n\n### `f(x)`\n",
		"bench/n.md":            "# N\n",
		"docs/explanation/e.md": "# E\n\n\\*x `\\*y --z\nw <-`\n\n| a |\n|---|\n| `b\\|c` |\n",
	})
	s, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "site")
	if err := s.build(out); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, d := range s.pages {
		order = append(order, d.page)
	}
	want := []string{"index.html", "tutorial/a.html", "howto/z.html", "howto/x.html", "howto/y.html", "reference/r.html", "explanation/e.html", "changelog.html"}
	if !slices.Equal(order, want) {
		t.Errorf("pages %v, want %v", order, want)
	}
	for name, parts := range map[string][]string{
		"index.html": {`href="howto/z.html#two"`, `href="tutorial/a.html"`, `href="https://github.com/x/y/blob/main/go.mod#L1"`, `src="howto/z/p.svg"`},
		"tutorial/a.html": {`href="../index.html"`, `<a href="../howto/y.html">B</a> <a href="../howto/x.html">A</a>`, `href="https://github.com/x/y/tree/main/docs/howto"`,
			`href="https://github.com/x/y/blob/main/bench/n.md#n"`, `href="../site.css"`, `rel="next" href="../howto/z.html"`},
		"howto/z.html":       {"<b><i>$ </i>a &lt;b&gt; \\</b>\n<b>   c</b>\nd\n", `src="z/p.svg"`, `<h2 id="two">`, `href="https://github.com/x/y/blob/main/docs/howto/z.md"`},
		"reference/r.html":   {`<a href="#fx">f</a>`},
		"howto/z/p.svg":      {"<svg/>"},
		"explanation/e.html": {"*x <code>\\*y <span>--z</span> w <span>&lt;-</span></code>", "<code>b|c</code>"},
		"index.js":           {`{"of":"Zoo","title":"Two","address":"howto/z.html#two","text":"$ a \u003cb\u003e \\ c d p"}`, `"title":"f","address":"reference/r.html#fx","text":"(x)"`},
	} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if !strings.Contains(string(text), p) {
				t.Errorf("%s lacks %s", name, p)
			}
		}
	}
}

// TestSite builds the pages of this repository and follows every link of what was written.
func TestSite(t *testing.T) {
	s, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := s.build(out); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err = fs.WalkDir(os.DirFS(out), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(out, name))
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	reference := regexp.MustCompile(`\s(href|src)="([^"]*)"`)
	reached := map[string]bool{"index.html": true}
	for queue := []string{"index.html"}; len(queue) > 0; queue = queue[1:] {
		for _, m := range reference.FindAllStringSubmatch(files[queue[0]], -1) {
			to := html.UnescapeString(m[2])
			switch {
			case m[1] == "href" && (strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") || to == "data:,"):
				continue
			case strings.Contains(to, ":"):
				t.Errorf("%s has %s", queue[0], m[0])
				continue
			}
			to, err := url.PathUnescape(to)
			if err != nil {
				t.Error(err)
			}
			file, name, _ := strings.Cut(to, "#")
			target := queue[0]
			if file != "" {
				target = path.Join(path.Dir(queue[0]), file)
			}
			text, ok := files[target]
			switch {
			case !ok:
				t.Errorf("%s leads to %s, which is not there", queue[0], target)
			case name != "" && !strings.Contains(text, `id="`+html.EscapeString(name)+`"`):
				t.Errorf("%s leads to %s#%s, which is not there", queue[0], target, name)
			case !reached[target]:
				reached[target] = true
				if path.Ext(target) == ".html" {
					queue = append(queue, target)
				}
			}
		}
	}
	for name := range files {
		if !reached[name] && name != "index.js" {
			t.Errorf("no link leads to %s", name)
		}
	}
	navigation := files["index.html"][strings.Index(files["index.html"], "<nav"):strings.Index(files["index.html"], "</nav>")]
	for _, d := range s.pages {
		if !strings.Contains(navigation, `href="`+d.page+`"`) {
			t.Errorf("the navigation lacks %s", d.page)
		}
	}
}
