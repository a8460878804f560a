package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// link is a link or picture of a document to a place in the repository.
type link struct {
	line       int
	file, name string // name is the heading, or empty
	picture    bool
	set        func(destination string)
	node       ast.Node
}

// links returns the links of a document, without those to other places on the web.
func (s *site) links(d *document) []link {
	var out []link
	ast.Walk(d.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		var to *[]byte
		picture := false
		switch n := n.(type) {
		case *ast.Link:
			to = &n.Destination
		case *ast.Image:
			to, picture = &n.Destination, true
		}
		if !entering || to == nil {
			return ast.WalkContinue, nil
		}
		from := path.Dir(d.source)
		destination := string(*to)
		for _, prefix := range []string{"/blob/main/", "/tree/main/"} {
			if file, ok := strings.CutPrefix(destination, s.repository+prefix); ok {
				from, destination = "", file
			}
		}
		u, err := url.Parse(destination)
		if err != nil || u.Scheme != "" || u.Host != "" {
			return ast.WalkContinue, nil
		}
		l := link{line: d.line(n), name: u.Fragment, picture: picture, node: n, set: func(s string) { *to = []byte(s) }}
		l.file = path.Join(from, u.Path)
		if u.Path == "" {
			l.file = d.source
		}
		out = append(out, l)
		return ast.WalkContinue, nil
	})
	return out
}

var sourceLine = regexp.MustCompile(`^L\d+(-L\d+)?$`)

// dead returns what is wrong with a link, or nothing.
func (s *site) dead(l link) string {
	info, err := os.Stat(filepath.Join(s.root, l.file))
	to := s.documents[l.file]
	switch {
	case strings.HasPrefix(l.file, "..") || strings.HasPrefix(l.file, "/"):
		return l.file + " is outside the repository"
	case err != nil:
		return "no file " + l.file
	case l.picture && info.IsDir():
		return l.file + " is a folder, want a picture"
	case l.name == "":
		return ""
	case to == nil && !sourceLine.MatchString(l.name):
		return fmt.Sprintf("%s has no heading #%s", l.file, l.name)
	case to != nil && !slices.ContainsFunc(to.headings, func(h heading) bool { return h.name == l.name }):
		return fmt.Sprintf("%s has no heading #%s", l.file, l.name)
	}
	return ""
}

// check returns every dead link, and every other thing that pages cannot show.
func (s *site) check(mentions []mention) error {
	var wrong []string
	for _, d := range s.documents {
		for _, l := range s.links(d) {
			if why := s.dead(l); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s:%d: dead link: %s", d.source, l.line, why))
			}
		}
		if d.page == "" {
			continue
		}
		ast.Walk(d.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			var html []byte
			switch n := n.(type) {
			case *ast.HTMLBlock:
				html = n.Lines().Value(d.text)
			case *ast.RawHTML:
				html = n.Segments.Value(d.text)
			}
			if entering && html != nil && !bytes.HasPrefix(bytes.TrimSpace(html), []byte("<!--")) {
				wrong = append(wrong, fmt.Sprintf("%s:%d: HTML, want Markdown: %.40q", d.source, d.line(n), html))
			}
			return ast.WalkContinue, nil
		})
	}
	for _, m := range mentions {
		if s.documents[m.document] == nil {
			wrong = append(wrong, fmt.Sprintf("%s: no document %s", m.place, m.document))
		}
	}
	if wrong == nil {
		return nil
	}
	slices.Sort(wrong)
	return errors.New(strings.Join(wrong, "\n"))
}

// relative returns the address of one place of the site from another.
func relative(from, to string) string {
	rel, err := filepath.Rel(filepath.Dir(from), to)
	if err != nil {
		panic(err) // both are relative
	}
	return filepath.ToSlash(rel)
}

// destination returns where a link of a page leads: to a page, to a picture in the site, or to the
// repository.
func (s *site) destination(from *document, l link) string {
	to := s.documents[l.file]
	fragment := ""
	if l.name != "" {
		fragment = "#" + l.name
	}
	switch {
	case to == from && l.name != "":
		return fragment
	case to != nil && to.page != "":
		return relative(from.page, to.page) + fragment
	case l.picture:
		return relative(from.page, picturePath(l))
	}
	form := "blob"
	if info, err := os.Stat(filepath.Join(s.root, l.file)); err == nil && info.IsDir() {
		form = "tree"
	}
	return s.repository + "/" + form + "/main/" + (&url.URL{Path: l.file}).EscapedPath() + fragment
}

// picturePath returns the place of a picture in the site.
func picturePath(l link) string { return strings.TrimPrefix(l.file, "docs/") }
