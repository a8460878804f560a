package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

//go:embed page.html site.css site.js
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "page.html"))

// view is what the layout shows.
type view struct {
	Title, Root, Source string // Root is the way to the folder of the site
	Groups              []group
	Content             template.HTML
	Previous, Next      *entry
}

// group is a kind of pages in the navigation.
type group struct {
	Name  string
	Pages []entry
}

// entry is a link of the navigation; the page that is shown also has its headings.
type entry struct {
	Title, Address string
	Here           bool
	Headings       []section
}

// section is a heading, with what is searched: all until the next heading.
type section struct {
	Level   int    `json:"-"`
	Of      string `json:"of"` // title of the page
	Title   string `json:"title"`
	Address string `json:"address"`
	Text    string `json:"text"`
}

// build writes the site into a folder, which it replaces.
func (s *site) build(out string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	write := func(name string, content []byte) error {
		name = filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		return os.WriteFile(name, content, 0o666)
	}
	var index []section
	for i, d := range s.pages {
		index = append(index, d.sections()...)
		for _, l := range s.links(d) {
			// A link that is called by the name of a file is called by the title of its page.
			if to := s.documents[l.file]; to != nil && to.page != "" && strings.HasSuffix("/"+l.file, "/"+plain(l.node, d.text)) {
				l.node.RemoveChildren(l.node)
				l.node.AppendChild(l.node, ast.NewString([]byte(to.title)))
			}
			if l.picture {
				content, err := os.ReadFile(filepath.Join(s.root, l.file))
				if err != nil {
					return err
				}
				if err := write(picturePath(l), content); err != nil {
					return err
				}
			}
			l.set(s.destination(d, l))
		}
		d.addAnchors()
		var body, page bytes.Buffer
		if err := markdown.Renderer().Render(&body, d.text, d.tree); err != nil {
			return err
		}
		v := view{Title: d.title, Root: strings.TrimSuffix(relative(d.page, "index.html"), "index.html"),
			Source: s.repository + "/blob/main/" + d.source, Groups: s.navigation(d), Content: template.HTML(body.String())}
		if i > 0 {
			v.Previous = &entry{Title: s.pages[i-1].title, Address: relative(d.page, s.pages[i-1].page)}
		}
		if i+1 < len(s.pages) {
			v.Next = &entry{Title: s.pages[i+1].title, Address: relative(d.page, s.pages[i+1].page)}
		}
		if err := layout.Execute(&page, v); err != nil {
			return err
		}
		if err := write(d.page, page.Bytes()); err != nil {
			return err
		}
	}
	// A script instead of JSON: a page that was opened as a file may load one.
	found, err := json.Marshal(index)
	if err != nil {
		return err
	}
	if err := write("index.js", append([]byte("searchIndex("), append(found, ");\n"...)...)); err != nil {
		return err
	}
	for _, name := range []string{"site.css", "site.js"} {
		content, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		if err := write(name, content); err != nil {
			return err
		}
	}
	return nil
}

// addAnchors gives headings a link to themselves.
func (d *document) addAnchors() {
	i := 0
	for n := d.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindHeading {
			continue
		}
		if i > 0 {
			l := ast.NewLink()
			l.Destination = []byte("#" + d.headings[i].name)
			l.SetAttributeString("class", []byte("anchor"))
			l.SetAttributeString("aria-label", []byte("Link to this section"))
			l.AppendChild(l, ast.NewString([]byte("#")))
			n.AppendChild(n, l)
		}
		i++
	}
}

// navigation lists all pages, as seen from one.
func (s *site) navigation(here *document) []group {
	var out []group
	last := -1
	for _, d := range s.pages {
		e := entry{Title: d.title, Address: relative(here.page, d.page), Here: d == here}
		if d == here {
			for _, h := range d.headings {
				if h.level == 2 || h.level == 3 {
					e.Headings = append(e.Headings, section{Level: h.level, Title: h.short, Address: "#" + h.name})
				}
			}
		}
		switch {
		case d.source == "README.md":
			out = append(out, group{Pages: []entry{e}})
			continue
		case d.kind != last:
			out = append(out, group{Name: kinds[d.kind].name})
			last = d.kind
		}
		g := &out[len(out)-1]
		g.Pages = append(g.Pages, e)
	}
	return out
}

// sections returns what is searched in a page.
func (d *document) sections() []section {
	var out []section
	i := 0
	for n := d.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindHeading {
			address := d.page
			if i > 0 {
				address += "#" + d.headings[i].name
			}
			h := d.headings[i]
			out = append(out, section{Of: d.title, Title: h.short, Address: address, Text: h.title[len(h.short):]})
			i++
			continue
		}
		if n.Kind() == ast.KindHTMLBlock || len(out) == 0 {
			continue
		}
		last := &out[len(out)-1]
		last.Text = strings.TrimSpace(last.Text + " " + strings.Join(strings.Fields(plain(n, d.text)), " "))
	}
	return out
}

// codeRenderer writes code. In blocks of the kind "console" it sets off the commands, which follow
// "$ ", from what they print. In a line of text it keeps short words such as --flag together,
// which browsers break after a hyphen.
type codeRenderer struct{}

func (r codeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindCodeBlock, r.block)
	reg.Register(ast.KindFencedCodeBlock, r.block)
	reg.Register(ast.KindCodeSpan, r.span)
}

func (codeRenderer) span(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	w.WriteString("<code>")
	for i, word := range strings.Split(strings.ReplaceAll(plain(n, source), "\n", " "), " ") {
		if i > 0 {
			w.WriteByte(' ')
		}
		if strings.Contains(word, "-") && len(word) < 30 {
			fmt.Fprintf(w, "<span>%s</span>", util.EscapeHTML([]byte(word)))
		} else {
			w.Write(util.EscapeHTML([]byte(word)))
		}
	}
	_, err := w.WriteString("</code>")
	return ast.WalkSkipChildren, err
}

func (codeRenderer) block(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	f, ok := n.(*ast.FencedCodeBlock)
	console := ok && string(f.Language(source)) == "console"
	command := false // or goes on in this line
	w.WriteString("<pre tabindex=\"0\"><code>")
	for _, s := range n.Lines().Sliced(0, n.Lines().Len()) {
		line := bytes.TrimSuffix(s.Value(source), []byte("\n"))
		text, begins := bytes.CutPrefix(line, []byte("$ "))
		switch {
		case console && begins:
			fmt.Fprintf(w, "<b><i>$ </i>%s</b>\n", util.EscapeHTML(text)) // the prompt is not copied
		case command:
			fmt.Fprintf(w, "<b>%s</b>\n", util.EscapeHTML(line))
		default:
			fmt.Fprintf(w, "%s\n", util.EscapeHTML(line))
		}
		command = console && (command || begins) && bytes.HasSuffix(line, []byte("\\"))
	}
	_, err := w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, err
}
