package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// kind is a group of pages.
type kind struct{ folder, name string }

// kinds are in the order of the navigation.
var kinds = []kind{
	{"docs/tutorial", "Tutorials"},
	{"docs/howto", "How-to guides"},
	{"docs/reference", "Reference"},
	{"docs/explanation", "Explanation"},
	{".", "Project"},
}

// single are the pages outside docs.
var single = map[string]string{"README.md": "index.html", "CHANGELOG.md": "changelog.html", "CONTRIBUTING.md": "contributing.html", "SECURITY.md": "security.html"}

// site has the documents of a repository.
type site struct {
	root       string
	repository string // where the source is on the web
	documents  map[string]*document
	pages      []*document // in the order of the navigation, the README first
}

// document is a Markdown file.
type document struct {
	source   string // path in the repository
	page     string // path in the site; empty for documents that are no page
	kind     int    // of a page: its place in kinds
	text     []byte
	tree     ast.Node
	title    string // the first heading
	headings []heading
}

type heading struct {
	level       int
	title, name string // name is the anchor
	short       string // for the navigation: of a function, its name without its parameters
}

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Linkify),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(codeRenderer{}, 1))),
)

// read reads and checks the documents of a repository.
func read(root string) (*site, error) {
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(string(module), "module "), "\n")
	s := &site{root: root, repository: "https://" + name, documents: map[string]*document{}}
	var mentions []mention
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		source, err := filepath.Rel(root, file)
		source = filepath.ToSlash(source)
		switch {
		case err != nil:
			return err
		case d.IsDir() && source != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), ".egg-info") || slices.Contains([]string{"bin", "dist", "build", "node_modules"}, d.Name())):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		case path.Ext(source) == ".md":
			s.documents[source], err = parse(file, source)
			return err
		case d.Name() == "Makefile" || slices.Contains([]string{".go", ".py", ".txt", ".toml", ".cff", ".sh", ".mjs", ".js", ".html", ".yaml"}, path.Ext(source)):
			mentions, err = appendMentions(mentions, file, source)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.order(); err != nil {
		return nil, err
	}
	return s, s.check(mentions)
}

// parse reads one document.
func parse(file, source string) (*document, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d := &document{source: source, text: content, page: single[source]}
	d.tree = markdown.Parser().Parse(text.NewReader(content))
	d.kind = slices.IndexFunc(kinds, func(k kind) bool { return k.folder == path.Dir(source) })
	if name, ok := strings.CutPrefix(source, "docs/"); ok && d.kind >= 0 {
		d.page = strings.TrimSuffix(name, ".md") + ".html"
	}
	names := map[string]int{}
	for n := d.tree.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		title := plain(h, content)
		name := anchor(title)
		if k := names[name]; k > 0 {
			names[name]++
			name += "-" + strconv.Itoa(k)
		}
		names[name]++
		short := title
		if h.FirstChild() != nil && h.FirstChild().Kind() == ast.KindCodeSpan {
			short, _, _ = strings.Cut(title, "(")
		}
		h.SetAttributeString("id", []byte(name))
		d.headings = append(d.headings, heading{h.Level, title, name, short})
	}
	if len(d.headings) > 0 && d.headings[0].level == 1 {
		d.title = d.headings[0].title
	}
	return d, nil
}

// order lists the pages.
func (s *site) order() error {
	readme := s.documents["README.md"]
	if readme == nil {
		return errors.New("README.md: no such file")
	}
	var mentioned []string // once at least
	for _, l := range s.links(readme) {
		mentioned = append(mentioned, l.file)
	}
	place := func(d *document) int {
		if i := slices.Index(mentioned, d.source); i >= 0 {
			return i
		}
		return len(mentioned)
	}
	for _, d := range s.documents {
		switch {
		case d.page == "" && strings.HasPrefix(d.source, "docs/"):
			return fmt.Errorf("%s: not in docs/tutorial, docs/howto, docs/reference or docs/explanation", d.source)
		case d.page != "" && d.title == "":
			return fmt.Errorf("%s:1: no title, want a first heading \"# ...\"", d.source)
		case d.page != "":
			s.pages = append(s.pages, d)
		}
	}
	slices.SortFunc(s.pages, func(a, b *document) int {
		switch {
		case a == readme:
			return -1
		case b == readme:
			return 1
		}
		return cmp.Or(a.kind-b.kind, place(a)-place(b), strings.Compare(a.title, b.title))
	})
	return nil
}

// anchor returns the name that GitHub gives to a heading.
func anchor(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b bytes.Buffer
	ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if c.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			if value := c.Segment.Value(source); c.Parent().Kind() == ast.KindCodeSpan {
				b.Write(value)
			} else {
				b.Write(util.UnescapePunctuations(value))
			}
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			b.Write(c.Lines().Value(source))
		case *ast.AutoLink:
			b.Write(c.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return string(bytes.TrimSpace(b.Bytes()))
}

// line returns the number of the line where a node begins.
func (d *document) line(n ast.Node) int {
	for n.Pos() < 0 && n.Parent() != nil {
		n = n.Parent()
	}
	return 1 + bytes.Count(d.text[:max(0, n.Pos())], []byte("\n"))
}

// mention is a place in a file that names a document.
type mention struct {
	place, document string
}

var documentName = regexp.MustCompile(`\bdocs/[\w/-]+\.md\b`)

// appendMentions adds the documents that a file names.
func appendMentions(list []mention, file, source string) ([]mention, error) {
	content, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(content, []byte("docs/")) || strings.HasPrefix(source, "internal/site/") {
		return list, err
	}
	for i, line := range strings.Split(string(content), "\n") {
		for _, name := range documentName.FindAllString(line, -1) {
			list = append(list, mention{fmt.Sprintf("%s:%d", source, i+1), name})
		}
	}
	return list, nil
}
