package tiles

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/matrixfile"
)

// Kind and Version of the container (package file) that a file of tiles is: a section "plan",
// then, in any order, sections of tiles and, in one file of a matrix or more, "ids" with the
// identifiers and targets as matrixfile.Write has them.
const (
	Kind    = "tiles"
	Version = 2
)

// Extension is how the names of files of tiles end.
const Extension = ".mlgt"

// EncodeTile returns a file with tile t.
func (p Layout) EncodeTile(t int, values []float64) []byte {
	return p.encode(file.Section{Name: p.name(t), Data: file.Bytes(values)})
}

// EncodeIDs returns a file with the identifiers and targets of the graphs.
func (p Layout) EncodeIDs(axis matrixfile.Axis) []byte { return p.encode(ids(axis)) }

func (p Layout) encode(s file.Section) []byte {
	var b bytes.Buffer
	if err := file.Encode(&b, Kind, Version, []file.Section{p.section(), s}); err != nil {
		panic(err) // memory takes everything
	}
	return b.Bytes()
}

// section returns the first section of a file.
func (p Layout) section() file.Section { return file.Section{Name: "plan", Data: p.Encode()} }

// ids returns the section of identifiers and targets.
func ids(axis matrixfile.Axis) file.Section {
	var b bytes.Buffer
	if err := axis.WriteCSV(&b); err != nil {
		panic(err) // memory takes everything
	}
	return file.Section{Name: "ids", Data: b.Bytes()}
}

// Holds reports whether the bytes of a file have tile t, whole and good. It is an error if they
// are a file of another plan.
func (p Layout) Holds(data []byte, t int) (bool, error) {
	c, err := decode(data)
	if err == nil {
		err = c.belongs(p)
	}
	if err != nil {
		return false, err
	}
	s, ok := c.tiles[t]
	return ok && c.damage == nil && s.Check() == nil, nil
}

// contents are those of a file of tiles.
type contents struct {
	plan   Layout // zero where it cannot be read
	ids    *file.Section
	tiles  map[int]file.Section // by number; whether they are good is not checked
	damage error                // what is wrong with the rest
	path   string
	mapped *file.Mapped
}

// open maps a file of tiles.
func open(path string) (*contents, error) {
	m, err := file.Map(path)
	if err != nil {
		return nil, err
	}
	c := &contents{}
	if err := m.Guard(func() (err error) { c, err = decode(m.Bytes()); return err }); err != nil {
		m.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.path, c.mapped = path, m
	return c, nil
}

// guard calls read, which reads the mapped file in this goroutine, and names the file in its error.
func (c *contents) guard(read func() error) error {
	if err := c.mapped.Guard(read); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}

func (c *contents) close() error { return c.mapped.Close() }

// decode takes a file apart. Damage is no error: the contents tell.
func decode(data []byte) (*contents, error) {
	c := &contents{tiles: map[int]file.Section{}}
	sections, err := file.Decode(data, Kind, Version)
	if errors.Is(err, file.ErrVersion) {
		return nil, err
	}
	c.damage = err
	if len(sections) == 0 || sections[0].Name != "plan" || sections[0].Check() != nil {
		c.note(errors.New("the tiles file has no valid plan"))
		return c, nil
	}
	plan, err := DecodeLayout(sections[0].Data)
	if err != nil {
		c.note(err)
		return c, nil
	}
	c.plan = plan
	for _, s := range sections[1:] {
		var row, col int
		fmt.Sscanf(s.Name, "tile/%d/%d", &row, &col)
		switch {
		case s.Name == "ids":
			c.ids = &s
		case row < 0 || row > col || col >= plan.Blocks() || s.Name != plan.name(plan.Index(row, col)):
			c.note(fmt.Errorf("the tiles file is damaged: section %s is not a tile of its plan", s.Name))
		default:
			t := plan.Index(row, col)
			if rows, cols := plan.shape(t); len(s.Data) != 8*rows*cols {
				c.note(fmt.Errorf("the tiles file is damaged: section %s has %d bytes, want %d", s.Name, len(s.Data), 8*rows*cols))
				continue
			}
			c.tiles[t] = s
		}
	}
	return c, nil
}

// note takes note of the first damage.
func (c *contents) note(err error) {
	if c.damage == nil {
		c.damage = err
	}
}

// belongs returns an error if the file is of another plan.
func (c *contents) belongs(p Layout) error {
	if c.plan != (Layout{}) && c.plan != p {
		return errors.New("is of " + c.plan.difference(p))
	}
	return nil
}
