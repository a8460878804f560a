package dataset

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mlgkernel/mlg/dataset/parquet"
	"github.com/mlgkernel/mlg/graph"
)

// formatReaders return what gives the graphs of a stream. They may read ahead to check the
// beginning. Errors name file and line.
var formatReaders = map[Format]func(*stream) (nextGraph, error){
	SMILES:    readSMILES,
	CSV:       readCSV,
	TSV:       readTSV,
	Parquet:   readParquet,
	SDF:       readSDF,
	JSONLines: readJSONLines,
	GraphML:   readGraphML,
	GML:       readGML,
	GEXF:      readGEXF,
	Pajek:     readPajek,
	NodeLink:  readNodeLink,
	DOT:       readDOT,
	EdgeList:  readEdgeList,
}

// Open opens what [Read] reads, to get one graph after the other.
func Open(path string, opts Options) (*Reader, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(path, builtinPrefix); ok {
		return openBuiltin(name, opts)
	}
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if path, err = inCache(path); err == nil {
			st, err = os.Stat(path)
		}
	}
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return openFolder(os.DirFS(path), path, opts)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := openFile(f, st.Size(), path, opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.close = f.Close
	return r, nil
}

// inCache returns where a name that is no file stands in the cache.
func inCache(name string) (string, error) {
	dir, noDir := CacheDir()
	path, err := CachePath(dir, name)
	if err != nil || KnownName(name) {
		return "", fmt.Errorf("%s: no such file or folder", name)
	}
	if _, err := os.Stat(path); err == nil && noDir == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s: no such file, folder, built-in collection (%s) or downloaded collection",
		name, list(Builtins()))
}

func openFile(f *os.File, size int64, path string, opts Options) (*Reader, error) {
	magic := make([]byte, 4)
	n, err := io.ReadFull(f, magic)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	magic = magic[:n]
	if IsZip(magic) {
		return NewZipReader(f, size, path, opts)
	}
	// A pipe cannot be rewound: what was read goes before the rest.
	src := io.MultiReader(bytes.NewReader(magic), f)
	if string(magic) == parquet.Magic && size > 0 {
		return newReader(src, f, size, path, opts)
	}
	counted := &countingReader{Reader: src}
	r, err := newReader(counted, nil, 0, path, opts)
	if err != nil {
		return nil, err
	}
	r.counted, r.bytes, r.compressed = counted, size, bytes.HasPrefix(magic, gzipMagic)
	return r, nil
}

var gzipMagic = []byte{0x1f, 0x8b}

// countingReader counts bytes.
type countingReader struct {
	io.Reader
	n int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	return n, err
}

// Share returns about the share of the file that was read so far, from 0 to 1, and 0 where it is not known: of folders, zip
// files, Parquet and streams.
func (r *Reader) Share() float64 {
	if r.counted == nil || r.bytes <= 0 {
		return 0
	}
	done := r.counted.n
	if !r.compressed {
		done -= int64(r.in.in.Buffered())
	}
	return max(0, min(1, float64(done)/float64(r.bytes)))
}

// NewZipReader reads a folder in a zip file of some size: a TUDataset, or files of graphs.
func NewZipReader(src io.ReaderAt, size int64, name string, opts Options) (*Reader, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".xlsx" || ext == ".xlsm" || ext == ".ods" {
		return nil, fmt.Errorf("%s is a workbook, which mlg cannot read; save the sheet as CSV", name)
	}
	in := &directoryReader{ReaderAt: src, rest: maxZipDirectory}
	z, err := zip.NewReader(in, size)
	in.opened = true
	if err == nil && len(z.File) > maxZipEntries {
		err = errManyEntries
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkZip(z, size, opts.Limits); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return openFolder(z, name, opts)
}

// Entries of a zip file, and bytes of the directory that lists them, the search for it included.
const (
	maxZipEntries   = 10_000
	maxZipDirectory = 1 << 20
)

var errManyEntries = fmt.Errorf("the zip file has more than %d entries, or names of more than %d bytes together",
	maxZipEntries, maxZipDirectory)

// directoryReader stops the reading of a directory that is too large, whatever number of entries it states.
type directoryReader struct {
	io.ReaderAt
	rest   int64 // bytes that may still be read
	opened bool  // the directory is read
}

func (r *directoryReader) ReadAt(p []byte, off int64) (int, error) {
	if !r.opened {
		if r.rest -= int64(len(p)); r.rest < 0 {
			return 0, errManyEntries
		}
	}
	return r.ReaderAt.ReadAt(p, off)
}

// IsZip reports whether a file begins as a zip file does.
func IsZip(b []byte) bool {
	return bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06"))
}

// each gives graphs that are in memory.
func each(graphs []*graph.Graph) nextGraph {
	return func() (*graph.Graph, error) {
		if len(graphs) == 0 {
			return nil, io.EOF
		}
		g := graphs[0]
		graphs[0] = nil // so that it can be collected
		graphs = graphs[1:]
		return g, nil
	}
}

// NewReader reads from a stream in any format but TUDataset. The name serves to recognise
// the format and stands in the error messages.
func NewReader(src io.Reader, name string, opts Options) (*Reader, error) {
	return newReader(src, nil, 0, name, opts)
}

// openFolder reads a folder: a TUDataset, or files of graphs.
func openFolder(fsys fs.FS, path string, opts Options) (*Reader, error) {
	if err := opts.noRows(TUDataset); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if opts.Format == Auto || opts.Format == TUDataset {
		r, err := openTU(fsys, path, opts)
		if opts.Format == TUDataset || !errors.Is(err, errNoTU) {
			return r, err
		}
	}
	return openFiles(fsys, path, opts)
}

// newReader does the work of NewReader. file has the same bytes, where they are not compressed, or is nil.
func newReader(src io.Reader, file io.ReaderAt, size int64, name string, opts Options) (*Reader, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	s, err := newStream(src, file, size, name, opts)
	if err != nil {
		return nil, err
	}
	if s.opts.Format == TUDataset {
		return nil, fmt.Errorf("%s: a TUDataset must be a folder or a zip file on disk, not a stream", name)
	}
	next, err := formatReaders[s.opts.Format](s)
	if err != nil {
		return nil, err
	}
	r := &Reader{name: stem(name), warn: s.warn, next: next, weight: opts.EdgeWeight, in: s}
	if s.opts.Format == JSONLines || s.opts.Format == SMILES {
		r.lines = s.read
	}
	return r, nil
}

// newStream decompresses an input and recognises its format.
func newStream(src io.Reader, file io.ReaderAt, size int64, name string, opts Options) (*stream, error) {
	in, err := decompress(src, opts.Limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, broken(err))
	}
	in = bufio.NewReaderSize(in, buffer)
	head, err := in.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, broken(err))
	}
	if opts.Format == Auto {
		if opts.Format, err = recognise(name, head); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := opts.noRows(opts.Format); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &stream{in: in, file: file, size: size, name: name, opts: opts, warn: &warnings{}, beside: Fields{SMILES: -1}}, nil
}

// stem returns the file name without folder and known extensions.
func stem(name string) string {
	name = strings.TrimSuffix(filepath.Base(name), ".gz")
	if _, ok := extensions[strings.ToLower(filepath.Ext(name))]; ok {
		name = name[:len(name)-len(filepath.Ext(name))]
	}
	return name
}

// KnownName reports whether the end of a name says the format of the file.
func KnownName(name string) bool {
	return extensions[strings.ToLower(filepath.Ext(strings.TrimSuffix(name, ".gz")))] != ""
}

var extensions = map[string]Format{
	".smi": SMILES, ".smiles": SMILES, ".ism": SMILES, ".can": SMILES,
	".csv": CSV, ".tsv": TSV, ".tab": TSV, ".parquet": Parquet, ".pq": Parquet,
	".sdf": SDF, ".sd": SDF, ".mol": SDF, ".mdl": SDF,
	".jsonl": JSONLines, ".ndjson": JSONLines, ".json": JSONLines,
	".graphml": GraphML, ".gml": GML, ".gexf": GEXF, ".net": Pajek, ".paj": Pajek,
	".dot": DOT, ".gv": DOT,
	".edges": EdgeList, ".edgelist": EdgeList, ".el": EdgeList,
	".zip": TUDataset,
}

var (
	dotStart  = regexp.MustCompile(`^(?i)(?:\s|//[^\n]*\n|#[^\n]*\n|/\*(?s:.*?)\*/)*(?:strict\s+)?(?:di)?graph[\s{"]`)
	edgeStart = regexp.MustCompile(`^(?:[#%][^\n]*\n|\s)*\d+[\s,;]+\d+(?:[\s,;]|$)`)
	gmlStart  = regexp.MustCompile(`^(?i)(?:\s|#[^\n]*\n|(?:creator|version|comment)\s+(?:"[^"]*"|[^\s\[\]"]+)\s)*graph\s*\[`)
	gexfStart = regexp.MustCompile(`^(?:\s|<[?!][^>]*>)*<gexf[\s>]`)
	pajStart  = regexp.MustCompile(`^(?i)(?:%[^\n]*\n|\s)*\*(?:network|vertices)\b`)
	// A list of objects: the vertices of Graph JSON Lines are a number.
	nodeLinkStart = regexp.MustCompile(`"(?:nodes|links)"\s*:\s*\[`)
	molStart      = regexp.MustCompile(`^[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*V[23]000`)
)

// recognise tells the format by the extension or, where that says nothing, by the
// beginning of the file.
func recognise(name string, head []byte) (Format, error) {
	ext := filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	lead := bytes.TrimLeft(head, " \t\r\n")
	if f, ok := extensions[ext]; ok && f != TUDataset {
		if f == JSONLines && len(lead) > 0 && nodeLink(lead) {
			f = NodeLink
		}
		return f, nil
	}
	first, _, _ := strings.Cut(string(lead), "\n")
	switch {
	case IsZip(head):
		return TUDataset, nil
	case len(lead) == 0:
		return "", errors.New("format not recognised, because the file is empty")
	case lead[0] == '{' && !nodeLink(lead):
		return JSONLines, nil
	case lead[0] == '{' || lead[0] == '[' && nodeLinkStart.Match(lead):
		return NodeLink, nil
	case gexfStart.Match(head):
		return GEXF, nil
	case lead[0] == '<':
		return GraphML, nil
	case gmlStart.Match(head):
		return GML, nil
	case pajStart.Match(head):
		return Pajek, nil
	case dotStart.Match(head):
		return DOT, nil
	case molStart.Match(head):
		return SDF, nil
	case edgeStart.Match(head):
		return EdgeList, nil
	case bytes.HasPrefix(head, []byte(parquet.Magic)):
		return Parquet, nil
	case strings.HasPrefix(strings.ToLower(first), "sep="):
		return CSV, nil
	case findColumn(strings.Split(first, "\t"), smilesNames) >= 0:
		return TSV, nil
	case findColumn(strings.Split(first, string(separator(first))), smilesNames) >= 0:
		return CSV, nil
	case looksLikeSMILES(first):
		return SMILES, nil
	}
	return "", fmt.Errorf("format not recognised; want one of %s", list(Formats()))
}
