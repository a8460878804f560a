package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxHeader = 1 << 30
	// maxInline is the largest body that is written into an answer; larger ones go to a file.
	maxInline = 1 << 16
)

// request is the header of a request.
type request struct {
	Op      string          `json:"op"`
	Release []int64         `json:"release"`
	Args    json.RawMessage `json:"args"`
	File    string          `json:"file"`

	body []byte
}

// array says where an array stands in a body.
type array struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // as NumPy names it: "<f8", "<i8", "<i4", "|u1"
	Shape  []int  `json:"shape"`
	Offset int    `json:"offset"`
}

// answer is the header of an answer.
type answer struct {
	Result any     `json:"result,omitempty"`
	Arrays []array `json:"arrays,omitempty"`
	File   string  `json:"file,omitempty"`
	Error  string  `json:"error,omitempty"`
	Kind   string  `json:"kind,omitempty"` // of the error: value, file, internal

	body []byte
}

// put appends an array to the body of an answer.
func (a *answer) put(name string, shape []int, data any) {
	var t string
	at := len(a.body)
	switch x := data.(type) {
	case []float64:
		t = "<f8"
		a.body = grow(a.body, 8*len(x))
		for i, v := range x {
			binary.LittleEndian.PutUint64(a.body[at+8*i:], math.Float64bits(v))
		}
	case []int64:
		t = "<i8"
		a.body = grow(a.body, 8*len(x))
		for i, v := range x {
			binary.LittleEndian.PutUint64(a.body[at+8*i:], uint64(v))
		}
	case []int32:
		t = "<i4"
		a.body = grow(a.body, 4*len(x))
		for i, v := range x {
			binary.LittleEndian.PutUint32(a.body[at+4*i:], uint32(v))
		}
	case []byte:
		t = "|u1"
		a.body = append(a.body, x...)
	default:
		panic(fmt.Sprintf("worker: array of %T", data))
	}
	for len(a.body)%8 != 0 {
		a.body = append(a.body, 0)
	}
	a.Arrays = append(a.Arrays, array{Name: name, Type: t, Shape: shape, Offset: at})
}

// grow appends n bytes whose values do not matter.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		c := make([]byte, len(b), len(b)+n+n/8)
		copy(c, b)
		b = c
	}
	return b[:len(b)+n]
}

// readRequest reads one frame. The error is io.EOF where the input ends between frames.
func readRequest(r io.Reader, dir string) (*request, error) {
	var size [12]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	header, body := binary.LittleEndian.Uint32(size[:]), binary.LittleEndian.Uint64(size[4:])
	if header > maxHeader || body > math.MaxInt64/2 {
		return nil, fmt.Errorf("frame with a header of %d and a body of %d bytes", header, body)
	}
	text, err := readN(r, int64(header))
	if err != nil {
		return nil, err
	}
	var q request
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, fmt.Errorf("header of a request: %w", err)
	}
	if q.body, err = readN(r, int64(body)); err != nil {
		return nil, err
	}
	if q.File != "" {
		path, err := within(dir, q.File)
		if err != nil {
			return nil, err
		}
		if q.body, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return &q, nil
}

// readN reads n bytes, holding no more memory than a small multiple of what has come.
func readN(r io.Reader, n int64) ([]byte, error) {
	const chunk = 1 << 20
	b := make([]byte, 0, min(n, chunk))
	for int64(len(b)) < n {
		at := len(b)
		b = grow(b, int(min(n-int64(at), int64(max(at, chunk)))))
		if _, err := io.ReadFull(r, b[at:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return b, nil
}

// within returns the path of a file in the shared folder.
func within(dir, name string) (string, error) {
	if dir == "" || name != filepath.Base(name) || strings.ContainsAny(name, `/\`) || name == "." || name == ".." {
		return "", fmt.Errorf("file %q, want a name in the shared folder", name)
	}
	return filepath.Join(dir, name), nil
}

// writeAnswer writes one frame, a large body to a file of the shared folder.
func writeAnswer(w io.Writer, dir string, serial int64, a *answer) error {
	body := a.body
	if dir != "" && len(body) > maxInline {
		a.File = fmt.Sprintf("answer-%d", serial)
		if err := os.WriteFile(filepath.Join(dir, a.File), body, 0o600); err != nil {
			*a = answer{Error: "the answer could not be written: " + err.Error(), Kind: "file"}
		}
		body = nil
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	frame := make([]byte, 12, 12+len(text)+len(body))
	binary.LittleEndian.PutUint32(frame, uint32(len(text)))
	binary.LittleEndian.PutUint64(frame[4:], uint64(len(body)))
	frame = append(append(frame, text...), body...)
	_, err = w.Write(frame)
	return err
}
