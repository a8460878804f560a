package worker

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/mlgkernel/mlg/kernel"
)

const (
	maxHeader = 1 << 30
	// maxInline is the largest body that is written into an answer; larger ones go to a file.
	maxInline = 1 << 16
)

// frameSize begins a frame.
type frameSize struct {
	Header uint32
	Body   uint64
}

// request is the header of a request.
type request struct {
	Op      string          `json:"op"`
	Handle  int64           `json:"handle"` // 0 for none
	Release []int64         `json:"release"`
	Args    json.RawMessage `json:"args"`
	File    string          `json:"file"`

	body []byte
}

// array says where an array stands in a body.
type array struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // as NumPy names it: "<f8", "<i8", "|u1"
	Shape  []int  `json:"shape"`
	Offset int    `json:"offset"`
}

// answer is the header of an answer.
type answer struct {
	Result any     `json:"result,omitempty"`
	Arrays []array `json:"arrays,omitempty"`
	File   string  `json:"file,omitempty"`
	Error  string  `json:"error,omitempty"`
	Kind   string  `json:"kind,omitempty"` // of the error: value, file, missing, handle, internal

	body []byte
}

// put appends an array to the body of an answer.
func (a *answer) put(name string, data any, shape ...int) {
	types := map[string]string{"[]float64": "<f8", "[]int64": "<i8", "[]uint8": "|u1"}
	a.Arrays = append(a.Arrays, array{Name: name, Type: types[fmt.Sprintf("%T", data)], Shape: shape, Offset: len(a.body)})
	var err error
	if a.body, err = binary.Append(a.body, binary.LittleEndian, data); err != nil {
		panic(err) // no array
	}
	for len(a.body)%8 != 0 {
		a.body = append(a.body, 0)
	}
}

// putBytes appends an array of bytes to the body of an answer.
func (a *answer) putBytes(name string, b []byte) { a.put(name, b, len(b)) }

// putMatrix appends a matrix to the body of an answer.
func (a *answer) putMatrix(name string, m *kernel.Matrix) { a.put(name, m.Data, m.Rows, m.Cols) }

// readRequest reads one frame. The error is io.EOF where the input ends between frames.
func readRequest(r io.Reader, folder *os.Root) (*request, error) {
	var size frameSize
	if err := binary.Read(r, binary.LittleEndian, &size); err != nil {
		return nil, err
	}
	if size.Header > maxHeader || size.Body > math.MaxInt64/2 {
		return nil, fmt.Errorf("frame with a header of %d and a body of %d bytes", size.Header, size.Body)
	}
	text, err := readN(r, int64(size.Header))
	if err != nil {
		return nil, err
	}
	var q request
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, fmt.Errorf("header of a request: %w", err)
	}
	if q.body, err = readN(r, int64(size.Body)); err != nil || q.File == "" {
		return &q, err
	}
	if q.body, err = folder.ReadFile(q.File); err != nil {
		return nil, err
	}
	return &q, folder.Remove(q.File)
}

// readN reads n bytes, holding no more memory than a small multiple of what has come.
func readN(r io.Reader, n int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// writeAnswer writes one frame, a large body to a file of the shared folder.
func writeAnswer(w io.Writer, folder *os.Root, serial int64, a *answer) error {
	body := a.body
	if len(body) > maxInline {
		a.File = fmt.Sprintf("answer-%d", serial)
		if err := folder.WriteFile(a.File, body, 0o600); err != nil {
			*a = answer{Error: "the answer could not be written: " + err.Error(), Kind: "file"}
		}
		body = nil
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	frame, err := binary.Append(nil, binary.LittleEndian, frameSize{uint32(len(text)), uint64(len(body))})
	if err != nil {
		return err
	}
	_, err = w.Write(append(append(frame, text...), body...))
	return err
}
