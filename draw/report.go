package draw

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/mlgkernel/mlg/internal/table"
)

//go:embed report.html
var reportPage string

// reportTemplates has the page and the kinds of blocks.
var reportTemplates = template.Must(template.New("").Funcs(template.FuncMap{"clean": clean}).Parse(reportPage))

func render(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	err := reportTemplates.ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err
}

// Report is a document of headings, paragraphs, tables and pictures. HTML makes one file
// of it that needs nothing else: no script, no font, no picture beside it.
type Report struct {
	Title    string
	Summary  string // below the title
	Sections []Section
	Footer   string // how it was made: command, version, seed
}

// Section is a heading with what stands below it.
type Section struct {
	Heading string
	Blocks  []Block
}

// Block is a Paragraph, Code, Table or Figure.
type Block interface {
	html() (template.HTML, error)
}

// HTML returns the report as a file. The error names the figure or table that is wrong.
func (r *Report) HTML() ([]byte, error) {
	blocks := make([][]template.HTML, len(r.Sections))
	for i, s := range r.Sections {
		for k, block := range s.Blocks {
			h, err := block.html()
			if err != nil {
				return nil, fmt.Errorf("section %q, block %d: %w", s.Heading, k, err)
			}
			blocks[i] = append(blocks[i], h)
		}
	}
	page, err := render("report", struct {
		*Report
		Blocks [][]template.HTML
	}{r, blocks})
	return []byte(page), err
}

// Paragraph is running text. An empty line begins a new paragraph.
type Paragraph string

func (p Paragraph) html() (template.HTML, error) {
	return render("paragraph", strings.Split(string(p), "\n\n"))
}

// Code is text in a fixed-width font with its line breaks, for commands and settings.
type Code string

func (c Code) html() (template.HTML, error) {
	return render("code", strings.Split(string(c), "\n"))
}

// Table has a header and rows of texts. Columns whose cells all begin like numbers are set to the
// right.
type Table struct {
	Caption string
	Header  []string
	Rows    [][]string
}

func (t Table) html() (template.HTML, error) {
	for i, row := range t.Rows {
		if len(row) != len(t.Header) {
			return "", fmt.Errorf("table %q: row %d has %d cells, want %d as in the header", t.Caption, i, len(row), len(t.Header))
		}
	}
	return render("table", struct {
		Table
		Number []bool
	}{t, (*table.Table)(&t).Numbers()})
}

// Figure is a picture with a caption.
type Figure struct {
	Picture *Picture
	Caption string
}

func (f Figure) html() (template.HTML, error) {
	if f.Picture == nil {
		return "", fmt.Errorf("figure %q has no picture", f.Caption)
	}
	return render("figure", map[string]any{"Drawing": template.HTML(f.Picture.SVG()), "Caption": f.Caption})
}
