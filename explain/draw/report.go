package draw

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Report is a document of headings, paragraphs, tables and pictures. HTML makes one file
// of it that needs nothing else: no script, no font, no picture beside it.
type Report struct {
	Title    string
	Summary  string // below the title
	Sections []Section
	Footer   string // how it was made: command, version, seed
}

// Section is a part of a report with a heading.
type Section struct {
	Heading string
	Blocks  []Block
}

// Block is a part of a section: a Paragraph, Code, Table or Figure.
type Block interface {
	html(b *bytes.Buffer) error
}

// Paragraph is running text. An empty line begins a new paragraph.
type Paragraph string

// Code is text in a fixed-width font with its line breaks, for commands and settings.
type Code string

// Table has a header and rows of texts. Columns whose cells all begin like numbers are set to the
// right.
type Table struct {
	Caption string
	Header  []string
	Rows    [][]string
}

// Figure is a picture with a caption, as inline SVG or, with a positive Scale, as PNG of that many
// pixels for one (smaller for pictures with very many shapes).
type Figure struct {
	Picture *Picture
	Caption string
	Scale   float64
}

// The colours of the page follow the reader's choice of light or dark; paper is light. Pictures
// keep their white ground.
const reportStyle = `
:root { color-scheme: light dark; --ink: #1c1c1e; --soft: #5f6368; --paper: #ffffff; --line: #d9dadd; --band: #f4f5f7; --mark: #00559f }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e7ea; --soft: #a4a7ad; --paper: #17181b; --line: #3a3c42; --band: #202227; --mark: #7db7ee } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Helvetica, Arial, sans-serif }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 3rem }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem }
h2 { font-size: 1.3rem; margin: 2.4rem 0 .6rem; padding-top: .8rem; border-top: 1px solid var(--line) }
.summary { color: var(--soft); font-size: 1.08rem; margin: 0 0 1rem; max-width: 46rem }
p { max-width: 46rem; margin: .6rem 0 }
nav ul { list-style: none; padding: 0; margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem }
a { color: var(--mark) }
.scroll { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums }
caption { text-align: left; color: var(--soft); padding-bottom: .4rem }
th, td { padding: .35rem .8rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top }
thead th { border-bottom: 2px solid var(--ink); white-space: nowrap }
tbody tr:nth-child(even) { background: var(--band) }
.number { text-align: right; white-space: nowrap }
pre { background: var(--band); padding: .8rem 1rem; overflow-x: auto; border-radius: 4px; font-size: .88rem }
figure { margin: 1.2rem 0; break-inside: avoid }
figure > div { background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: .4rem; display: inline-block; max-width: 100% }
figure svg, figure img { display: block; max-width: 100%; height: auto }
figcaption { color: var(--soft); font-size: .93rem; margin-top: .4rem; max-width: 46rem }
footer { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .88rem }
@media print {
  :root { --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --band: #f4f4f4; --mark: #000 }
  main { max-width: none; padding: 0 }
  nav { display: none }
  h2 { break-after: avoid }
  thead { display: table-header-group }
  tr { break-inside: avoid }
}
`

// HTML returns the report as a file. The error names the figure or table that is wrong.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	b.WriteString(`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n")
	// Nothing is loaded and nothing runs, whatever texts the data brought along.
	b.WriteString(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">` + "\n")
	b.WriteString("<title>" + escape(r.Title) + "</title>\n<style>" + reportStyle + "</style>\n</head>\n<body>\n<main>\n")
	b.WriteString("<h1>" + escape(r.Title) + "</h1>\n")
	if r.Summary != "" {
		b.WriteString(`<p class="summary">` + escape(r.Summary) + "</p>\n")
	}
	if len(r.Sections) > 2 {
		b.WriteString("<nav><ul>\n")
		for i, s := range r.Sections {
			b.WriteString(`<li><a href="#s` + strconv.Itoa(i+1) + `">` + escape(s.Heading) + "</a></li>\n")
		}
		b.WriteString("</ul></nav>\n")
	}
	for i, s := range r.Sections {
		b.WriteString("<section>\n" + `<h2 id="s` + strconv.Itoa(i+1) + `">` + escape(s.Heading) + "</h2>\n")
		for k, block := range s.Blocks {
			if err := block.html(&b); err != nil {
				return nil, fmt.Errorf("section %q, block %d: %w", s.Heading, k, err)
			}
		}
		b.WriteString("</section>\n")
	}
	if r.Footer != "" {
		b.WriteString("<footer>" + escape(r.Footer) + "</footer>\n")
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.Bytes(), nil
}

func (p Paragraph) html(b *bytes.Buffer) error {
	for _, part := range strings.Split(string(p), "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			b.WriteString("<p>" + escape(part) + "</p>\n")
		}
	}
	return nil
}

func (c Code) html(b *bytes.Buffer) error {
	b.WriteString("<pre>")
	for i, line := range strings.Split(string(c), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(escape(line))
	}
	b.WriteString("</pre>\n")
	return nil
}

func (t Table) html(b *bytes.Buffer) error {
	columns := len(t.Header)
	number := make([]bool, columns)
	for j := range number {
		number[j] = len(t.Rows) > 0
	}
	for i, row := range t.Rows {
		if len(row) != columns {
			return fmt.Errorf("table %q: row %d has %d cells, want %d as in the header", t.Caption, i, len(row), columns)
		}
		for j, cell := range row {
			number[j] = number[j] && numeric(cell)
		}
	}
	attr := func(j int) string {
		if number[j] {
			return ` class="number"`
		}
		return ""
	}
	b.WriteString(`<div class="scroll"><table>` + "\n")
	if t.Caption != "" {
		b.WriteString("<caption>" + escape(t.Caption) + "</caption>\n")
	}
	b.WriteString("<thead><tr>")
	for j, h := range t.Header {
		b.WriteString(`<th scope="col"` + attr(j) + ">" + escape(h) + "</th>")
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		b.WriteString("<tr>")
		for j, cell := range row {
			b.WriteString("<td" + attr(j) + ">" + escape(cell) + "</td>")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
	return nil
}

// numeric reports whether a cell begins like a number, or stands for a missing one.
func numeric(cell string) bool {
	s := strings.TrimLeft(strings.TrimSpace(cell), "+-−–.")
	return s == "" || unicode.IsDigit(rune(s[0]))
}

func (f Figure) html(b *bytes.Buffer) error {
	if f.Picture == nil {
		return fmt.Errorf("figure %q has no picture", f.Caption)
	}
	b.WriteString("<figure><div>")
	if f.Scale > 0 {
		data, err := f.Picture.PNG(f.Scale)
		if err != nil {
			return fmt.Errorf("figure %q: %w", f.Caption, err)
		}
		alt := f.Picture.title
		if alt == "" {
			alt = f.Caption
		}
		fmt.Fprintf(b, `<img width="%s" height="%s" alt="%s" src="data:image/png;base64,`, num(f.Picture.width), num(f.Picture.height), escape(alt))
		b.WriteString(base64.StdEncoding.EncodeToString(data) + `">`)
	} else {
		b.Write(f.Picture.SVG())
	}
	b.WriteString("</div>")
	if f.Caption != "" {
		b.WriteString("\n<figcaption>" + escape(f.Caption) + "</figcaption>")
	}
	b.WriteString("</figure>\n")
	return nil
}
