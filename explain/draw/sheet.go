package draw

import (
	"bytes"
	"errors"
)

// group is a picture on another one.
type group struct {
	at     point
	shapes []shape
}

func (g *group) svg(b *bytes.Buffer) {
	b.WriteString(`<g transform="translate(` + num(g.at.x) + " " + num(g.at.y) + `)">` + "\n")
	for _, s := range g.shapes {
		s.svg(b)
	}
	b.WriteString("</g>\n")
}

func (g *group) raster(c *canvas) {
	old := c.shift
	c.shift = c.shift.add(g.at)
	for _, s := range g.shapes {
		s.raster(c)
	}
	c.shift = old
}

// Sheet puts pictures into a table with the given number of columns, each in the middle of
// its cell; a row is as high as its highest picture, all columns are as wide as the widest.
func Sheet(title string, columns int, pictures ...*Picture) (*Picture, error) {
	if columns < 1 || len(pictures) == 0 {
		return nil, errors.New("a sheet needs a picture and a column")
	}
	top := 0.0
	if title != "" {
		top = margin + titleSize
	}
	width := 0.0
	for _, p := range pictures {
		width = max(width, p.width)
	}
	var rows []float64
	height := top
	for i := 0; i < len(pictures); i += columns {
		h := 0.0
		for _, p := range pictures[i:min(i+columns, len(pictures))] {
			h = max(h, p.height)
		}
		rows = append(rows, height)
		height += h
	}
	rows = append(rows, height)
	page := newPicture(width*float64(min(columns, len(pictures))), height, title)
	page.text(point{page.width / 2, margin + titleSize*0.8}, shorten(title, page.width-2*margin, titleSize, true),
		style{size: titleSize, color: black, bold: true, anchor: middle})
	for i, p := range pictures {
		row := i / columns
		at := point{(float64(i%columns)+0.5)*width - p.width/2, rows[row] + (rows[row+1]-rows[row]-p.height)/2}
		page.add(&group{at, p.shapes})
	}
	return page, nil
}
