package dataset

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/graph"
)

// xmlReader reads graphs from XML, one after the other.
type xmlReader struct {
	*stream
	d       *xml.Decoder
	bounded *bounded
	name    string // of the root element
	root    bool   // it was read
}

func newXMLReader(s *stream, root string) *xmlReader {
	in := &bounded{r: s.in, max: s.opts.Limits.Record}
	r := &xmlReader{stream: s, d: xml.NewDecoder(in), bounded: in, name: root}
	r.d.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "us-ascii", "utf8":
			return input, nil
		case "iso-8859-1", "latin1":
			return latin1(input), nil
		}
		return nil, fmt.Errorf("encoding %q, want UTF-8 or ISO-8859-1", charset)
	}
	return r
}

// graphs gives the graphs that next reads, with the places of errors.
func (r *xmlReader) graphs(next func() (*graph.Graph, error)) nextGraph {
	return func() (*graph.Graph, error) {
		g, err := next()
		var syntax *xml.SyntaxError
		switch {
		case err == nil || err == io.EOF:
			return g, err
		case r.bounded.last != nil:
			err = broken(r.bounded.last)
		case errors.As(err, &syntax):
			err = &lineError{syntax.Line, errors.New(syntax.Msg)}
		}
		return nil, r.at(r.line(), err)
	}
}

// latin1 turns ISO-8859-1 into UTF-8, in which a byte becomes two at most.
func latin1(r io.Reader) io.Reader {
	return bufio.NewReader(readerFunc(func(p []byte) (int, error) {
		in := p[len(p)/2:]
		n, err := r.Read(in)
		out := p[:0]
		for _, c := range in[:n] {
			out = utf8.AppendRune(out, rune(c))
		}
		return len(out), err
	}))
}

func (r *xmlReader) line() int {
	line, _ := r.d.InputPos()
	return line
}

// within calls element for every element inside the one that was opened last. element
// reads to the end of its element.
func (r *xmlReader) within(element func(xml.StartElement) error) error {
	for {
		t, err := r.d.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := element(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// text returns the text in the element that was opened last, without elements inside.
func (r *xmlReader) text() (string, error) {
	var text []byte
	for {
		t, err := r.d.Token()
		switch t := t.(type) {
		case xml.CharData:
			text = append(text, t...)
		case xml.StartElement:
			err = r.d.Skip()
		case xml.EndElement:
			return string(text), nil
		}
		if err != nil {
			return "", err
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// element returns the next element inside the root, and io.EOF at the end.
func (r *xmlReader) element() (xml.StartElement, error) {
	for {
		t, err := r.d.Token()
		if err == io.EOF && !r.root {
			err = fmt.Errorf("no element %s", r.name)
		}
		if err != nil {
			return xml.StartElement{}, err
		}
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case r.root:
			return e, nil
		case e.Name.Local != r.name:
			return e, fmt.Errorf("root element %q, want %s", e.Name.Local, r.name)
		default:
			r.root = true
		}
	}
}
