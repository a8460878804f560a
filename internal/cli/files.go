package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/internal/file"
)

// check refuses wrong flags before the work starts: numbers below the tag least, files to write
// (the tag ends) that checkFile refuses, and two forms of output.
func (g *globals) check(flags []*kong.Flag) error {
	for _, f := range flags {
		name := "--" + f.Name
		if least, err := strconv.ParseInt(f.Tag.Get("least"), 10, 64); err == nil && f.Target.Int() < least {
			return usageError(fmt.Sprintf("%s %d: want at least %d", name, f.Target.Int(), least))
		}
		if g.JSON && f.Set && (f.Name == "csv" || f.Name == "markdown") {
			return usageError(name + " and --json cannot be used together")
		}
		if f.Tag.Has("ends") {
			if err := checkFile(name, f.Target.String(), strings.Fields(f.Tag.Get("ends"))); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFile refuses a file that could not be written after the work. Its name must end as its
// format wants, and its folder must exist. An empty path means no file.
func checkFile(flag, path string, ends []string) error {
	if path == "" {
		return nil
	}
	if len(ends) > 0 && !slices.Contains(ends, strings.ToLower(filepath.Ext(path))) {
		return usageError(fmt.Sprintf("%s %s: want a name that ends with %s", flag, path, either(ends)))
	}
	st, err := os.Stat(filepath.Dir(path))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, cause(err))
	case !st.IsDir():
		return fmt.Errorf("%s: %s is not a folder", path, filepath.Dir(path))
	}
	return nil
}

// either writes words as in "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// output calls write with the file of the given name, which is there whole or not at all, or
// with standard output if it has none. The first error of writing is returned in the end.
func output(g *globals, path string, write func(w io.Writer) error) error {
	if path != "" {
		return g.write(path, func() error { return file.Write(g.ctx, path, write) })
	}
	b := bufio.NewWriter(g.stdout)
	if err := write(b); err != nil {
		b.Flush()
		return err
	}
	return b.Flush()
}

func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, string(b))
	return err
}

// printLines prints JSON objects, each on a line.
func printLines[T any](w io.Writer, list []T) error {
	e := json.NewEncoder(w)
	for i := range list {
		if err := e.Encode(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// pngScale is the number of pixels of a PNG for one of the picture.
const pngScale = 2

// savePicture draws a picture and writes it in the format that the name says. An empty path is no
// picture.
func savePicture(g *globals, path string, scale float64, drawn func() (*draw.Picture, error)) error {
	if path == "" {
		return nil
	}
	p, err := drawn()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if strings.EqualFold(filepath.Ext(path), ".png") {
		png, err := p.PNG(scale)
		return save(g, path, png, err)
	}
	return save(g, path, p.SVG(), nil)
}

// saveReport writes a report.
func saveReport(g *globals, path string, r *draw.Report) error {
	html, err := r.HTML()
	return save(g, path, html, err)
}

// save writes a file and says so; err is what making its content returned.
func save(g *globals, path string, content []byte, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	err = output(g, path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	g.note("wrote %s", path)
	return nil
}

// fileSize returns the size of a file, 0 if it is unknown.
func fileSize(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}
