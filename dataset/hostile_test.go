package dataset

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// endless gives the same text again and again: n bytes, without keeping them.
type endless struct {
	text string
	n    int64
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	total := 0
	for total < len(p) && e.n > 0 {
		off := int(e.read % int64(len(e.text)))
		k := copy(p[total:], e.text[off:])
		if int64(k) > e.n {
			k = int(e.n)
		}
		total += k
		e.n -= int64(k)
		e.read += int64(k)
	}
	return total, nil
}

// peak runs f and returns the largest heap seen meanwhile, in bytes above the start.
func peak(f func()) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	start, most := m.HeapAlloc, m.HeapAlloc
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most - min(start, most)
}

// TestEndlessInput gives every streaming reader 10 GB without an end of line, of record
// or of graph. It must be refused with a message, in memory of the order of the limits.
func TestEndlessInput(t *testing.T) {
	const tenGB = 10 << 30
	for _, c := range []struct {
		name   string
		f      Format
		text   string // once
		repeat string
		want   string
	}{
		{"SMILES line", SMILES, "", "C", "f:1: line longer than 262144 bytes, which is the limit"},
		{"JSON line", JSONLines, `{"nodes":2,"edges":[`, "[0,1],", "f:1: line longer than 262144 bytes, which is the limit"},
		{"JSON line of blanks", JSONLines, "", " ", "f:1: line longer than 262144 bytes"},
		{"table row", CSV, "smiles\n", "C", "record longer than 1048576 bytes, which is the limit"},
		{"table cell of many lines", CSV, "smiles\n\"", "C\n", "record longer than 1048576 bytes, which is the limit"},
		{"SDF record", SDF, ethanolMol, "> <A>\nvalue\n\n", "record longer than 1048576 bytes, which is the limit"},
		{"GraphML text", GraphML, "<graphml><graph><data key='a'>", "x", "record longer than 1048576 bytes, which is the limit"},
		{"GraphML nodes", GraphML, "<graphml><graph>", "<desc/>", "record longer than 1048576 bytes, which is the limit"},
		{"GraphML depth", GraphML, "<graphml>", "<a>", "record longer than 1048576 bytes, which is the limit"},
		{"DOT statements", DOT, "graph {", "a--b;", "record longer than 1048576 bytes, which is the limit"},
		{"DOT quoted", DOT, "graph { \"", "a", "record longer than 1048576 bytes, which is the limit"},
		{"DOT comment", DOT, "/*", "a", "record longer than 1048576 bytes, which is the limit"},
		{"GEXF nodes", GEXF, "<gexf><graph><nodes>", "<node/>", "f:1: "},
		{"GML lists", GML, "", "graph [ ", "f:1: "},
		{"GML edges", GML, "graph [ ", "edge [ source 0 target 1 ]", "record longer than 1048576 bytes, which is the limit"},
		{"GML text", GML, "graph [ a \"", "x", "record longer than 1048576 bytes, which is the limit"},
		{"Pajek edges", Pajek, "*Vertices 2\n*Arcs\n", "1 2\n", "record longer than 1048576 bytes, which is the limit"},
		{"Pajek line", Pajek, "*Vertices 2 ", "1 2", "line longer than 262144 bytes"},
		{"node-link edges", NodeLink, `{"nodes":[{"id":0}],"links":[`, `{"source":0,"target":0},`, "record longer than 1048576 bytes, which is the limit"},
		{"node-link text", NodeLink, `{"graph":"`, "x", "record longer than 1048576 bytes, which is the limit"},
		{"edge list", EdgeList, "", "1 2\n", "more than 1048576 bytes after decompression, which is the limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := DefaultOptions()
			o.Format = c.f
			o.Limits.Line, o.Limits.Record, o.Limits.Bytes = 1<<18, 1<<20, 1<<20
			src := &endless{text: c.repeat, n: tenGB}
			var err error
			used := peak(func() {
				_, err = ReadFrom(context.Background(), io.MultiReader(strings.NewReader(c.text), src), "f", o)
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if src.read > 4<<20 {
				t.Errorf("%d bytes were read, want about as many as the limits", src.read)
			}
			if used > 96<<20 { // with garbage
				t.Errorf("%d MiB of memory, want less than 96", used>>20)
			}
		})
	}
}

// TestStreamInConstantMemory reads 20 000 molecules one by one.
func TestStreamInConstantMemory(t *testing.T) {
	graphtest.Slow(t)
	const text = "CC(=O)Oc1ccccc1C(=O)O aspirin\nCn1cnc2c1c(=O)n(C)c(=O)n2C caffeine\n"
	o := DefaultOptions()
	o.Format = SMILES
	n := 0
	used := peak(func() {
		r, err := NewReader(&endless{text: text, n: int64(len(text)) * 10_000}, "f", o)
		if err != nil {
			t.Fatal(err)
		}
		for {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	})
	if n != 20_000 || used > 64<<20 {
		t.Errorf("%d graphs in %d MiB, want 20000 in less than 64", n, used>>20)
	}
}

// bomb returns a gzip file of size bytes of text.
func bomb(t *testing.T, text string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, &endless{text: text, n: size}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGzipBomb(t *testing.T) {
	o := DefaultOptions()
	o.Format = SMILES
	o.Limits.Ratio = 20
	data := bomb(t, "#"+strings.Repeat("x", 1000)+"\n", 80<<20)
	r, err := NewReader(bytes.NewReader(data), "f", o)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	if !strings.Contains(err.Error(), "want at most 20 times as many") || !strings.HasPrefix(err.Error(), "f:") {
		t.Error(err)
	}
}

// Lines that say the number of their vertices and nothing else cannot take much memory.
func TestBareVertices(t *testing.T) {
	one := `{"nodes":9000000,"edges":[]}` + "\n"
	some := `{"nodes":400000,"edges":[]}` + "\n"
	for _, c := range []struct {
		format Format
		text   string
		graphs int
		want   string // in the error
	}{
		{JSONLines, one, 0, "f:1: 9000000 vertices in the first 29 bytes, want at most a million more than bytes"},
		{JSONLines, strings.Repeat(some, 22), 2, "f:3: 1200000 vertices in the first 84 bytes"},
		{JSONLines, some + some, 2, ""},
		{Pajek, "*Vertices 9000000\n*Arcs\n1 2\n", 0, "f:1: 9000000 vertices in the first 18 bytes"},
		{Pajek, "*Vertices 900000\n*Arcs\n1 2\n", 1, ""},
		{Pajek, strings.Repeat("*Vertices 900000\n*Arcs\n1 2\n", 2), 1, "f:4: 1800000 vertices"},
	} {
		o := DefaultOptions()
		o.Format = c.format
		r, err := NewReader(strings.NewReader(c.text), "f", o)
		if err != nil {
			t.Fatal(err)
		}
		graphs := -1
		for ; err == nil; graphs++ {
			_, err = r.Next()
		}
		if err == io.EOF {
			err = errors.New("")
		}
		if graphs != c.graphs || !strings.HasPrefix(err.Error(), c.want) || c.want == "" && err.Error() != "" {
			t.Errorf("%s: %d graphs and %q, want %d and %q", c.text[:20], graphs, err, c.graphs, c.want)
		}
	}
}

func TestZipBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "X.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, c := range []struct {
		name, text string
		n          int64
	}{{"X_A.txt", "1," + strings.Repeat(" ", 1000) + "2\n", 80 << 20}, {"X_graph_indicator.txt", "1\n", 4}, {"X_graph_labels.txt", "1\n", 2}} {
		w, err := z.Create(c.name)
		if err == nil {
			_, err = io.Copy(w, &endless{text: c.text, n: c.n})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Limits.Ratio = 20
	used := peak(func() { _, err = Read(context.Background(), path, o) })
	if err == nil || !strings.Contains(err.Error(), "X_A.txt:") || !strings.Contains(err.Error(), "want at most 20 times as many") {
		t.Error(err)
	}
	if used > 64<<20 {
		t.Errorf("%d MiB of memory, want less than 96", used>>20)
	}
	o.Limits.Bytes = 70 << 20
	used = peak(func() { _, err = Read(context.Background(), path, o) })
	if err == nil || !strings.Contains(err.Error(), "after decompression, which is the limit") {
		t.Error(err)
	}
	if used > 16<<20 {
		t.Errorf("%d MiB of memory to refuse by the sizes in the directory, want less than 16", used>>20)
	}
}

// A zip file with very many entries is refused before they are in memory, also when its end states fewer: the number there
// has 16 bits.
func TestZipEntries(t *testing.T) {
	for _, c := range []struct{ entries, stated int }{
		{9000, 9000}, {10_000, 10_000}, {10_001, 10_001}, {150_000, 150_000}, {65_536 + 10, 10},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, text := range map[string]string{"X_A.txt": "1,2\n2,1\n", "X_graph_indicator.txt": "1\n1\n"} {
			w, err := z.Create(name)
			if err == nil {
				_, err = io.WriteString(w, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range c.entries - 2 {
			if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		if c.stated < c.entries { // an end without the 64-bit numbers
			end := bytes.LastIndex(data, []byte("PK\x05\x06"))
			wide := bytes.LastIndex(data, []byte("PK\x06\x06"))
			data = append(slices.Clone(data[:wide]), data[end:]...)
			end = wide
			first := bytes.Index(data, []byte("PK\x01\x02"))
			for _, at := range []int{end + 8, end + 10} {
				binary.LittleEndian.PutUint16(data[at:], uint16(c.stated))
			}
			binary.LittleEndian.PutUint32(data[end+12:], uint32(end-first))
			binary.LittleEndian.PutUint32(data[end+16:], uint32(first))
		}
		var err error
		used := peak(func() { _, err = NewZipReader(bytes.NewReader(data), int64(len(data)), "X.zip", DefaultOptions()) })
		if c.entries <= maxZipEntries {
			if err != nil {
				t.Errorf("%d entries: %v", c.entries, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "X.zip: the zip file has more than 10000 entries") {
			t.Errorf("%d entries, %d stated: %v", c.entries, c.stated, err)
		}
		if used > 40<<20 {
			t.Errorf("%d entries: %d MiB of memory to refuse them, want less than 40", c.entries, used>>20)
		}
	}
}

// TestZipWithWrongSizes changes the size that the directory of a zip file states.
func TestZipWithWrongSizes(t *testing.T) {
	path := tuZip(t, map[string]string{"X_A.txt": strings.Repeat("1,2\n", 1000), "X_graph_indicator.txt": "1\n1\n"})
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(raw, []byte("PK\x01\x02")) // first entry of the directory
	copy(raw[i+24:], []byte{8, 0, 0, 0})        // its size after decompression
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(context.Background(), path, DefaultOptions()); err == nil {
		t.Error("no error")
	}
}

// TestBrokenStreams cuts a gzip file at every place.
func TestBrokenStreams(t *testing.T) {
	data := gzipped(t, "CCO a\nCCN b\nCCC c\n")
	for n := range data {
		_, err := ReadFrom(context.Background(), bytes.NewReader(data[:n]), "f.smi", DefaultOptions())
		if n <= 1 { // too short to be recognised as gzip
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "f.smi:") {
			t.Errorf("%d of %d bytes: %v", n, len(data), err)
		}
	}
	// A reader that fails in the middle.
	boom := errors.New("cable cut")
	for _, f := range []Format{SMILES, CSV, SDF, JSONLines, GraphML, DOT, EdgeList} {
		start := map[Format]string{SMILES: "CC\nCC", CSV: "smiles\nC\nC", SDF: ethanolMol, JSONLines: "{\"nodes\":0,\"edges\":[]}\n{", GraphML: "<graphml>\n<graph>",
			DOT: "graph {\na", EdgeList: "1 2\n3"}[f]
		o := DefaultOptions()
		o.Format = f
		_, err := ReadFrom(context.Background(), io.MultiReader(strings.NewReader(start), &failing{boom}), "f", o)
		if !errors.Is(err, boom) || !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%s: %v", f, err)
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestReadLimitsItems(t *testing.T) {
	// Values of a table count, not only its lines.
	path := tuZip(t, map[string]string{"X_A.txt": "1,2\n2,1\n", "X_graph_indicator.txt": "1\n1\n",
		"X_node_attributes.txt": strings.Repeat("1,"+strings.Repeat("2,", 60)+"3\n", 2)})
	o := DefaultOptions()
	o.Limits.Items = 100
	want := "X_node_attributes.txt:2: more than 100 values, which is the limit"
	if _, err := Read(context.Background(), path, o); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	o.Limits.Items = 124
	if _, err := Read(context.Background(), path, o); err != nil {
		t.Error(err)
	}

	_, err := readText(JSONLines, strings.Repeat(`{"nodes":1000,"edges":[]}`+"\n", 50), func(o *Options) { o.Limits.Items = 10000 })
	if err == nil || !strings.Contains(err.Error(), "together, which is the limit") {
		t.Error(err)
	}
}

func TestReadIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, "builtin:drugs", DefaultOptions()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestReaderRepeatsItsError(t *testing.T) {
	o := DefaultOptions()
	o.Format, o.Strict = SMILES, true
	r, err := NewReader(strings.NewReader("C\nC(\nC\n"), "f", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	_, first := r.Next()
	_, second := r.Next()
	if first == nil || first != second {
		t.Errorf("%v, then %v", first, second)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
