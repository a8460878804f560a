package worker

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
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
	// Progress asks for frames that tell how far the work has come, before the answer.
	Progress bool `json:"progress"`

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
	Result any      `json:"result,omitempty"`
	Arrays []array  `json:"arrays,omitempty"`
	File   string   `json:"file,omitempty"`
	Error  string   `json:"error,omitempty"`
	Kind   string   `json:"kind,omitempty"`  // of the error: value, file, missing, memory, handle, internal
	Wrong  *wrong   `json:"wrong,omitempty"` // what the error is about
	Notes  *notes   `json:"notes,omitempty"`
	Said   []string `json:"said,omitempty"` // by a device, for the user
	// Progress makes the frame no answer, but news of the work on it.
	Progress *work.Progress `json:"progress,omitempty"`

	body [][]byte // pieces of the body
	size int      // of the body in bytes
}

// put appends an array to the body of an answer.
func (a *answer) put(name string, data any, shape ...int) {
	types := map[string]string{"[]float64": "<f8", "[]int64": "<i8", "[]uint8": "|u1"}
	a.Arrays = append(a.Arrays, array{Name: name, Type: types[fmt.Sprintf("%T", data)], Shape: shape, Offset: a.size})
	var piece []byte
	switch x := data.(type) {
	case []float64:
		piece = file.Bytes(x)
	case []byte:
		piece = x
	default:
		var err error
		if piece, err = binary.Append(nil, binary.LittleEndian, data); err != nil {
			panic(err) // no array
		}
	}
	a.body = append(a.body, piece, make([]byte, -len(piece)&7))
	a.size += len(piece) + -len(piece)&7
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

// writeAnswer writes one frame, a large body to a file of the shared folder if that has room.
func writeAnswer(w io.Writer, folder *os.Root, serial int64, a *answer) error {
	if name := fmt.Sprintf("answer-%d", serial); a.size > maxInline {
		if err := writeFile(folder, name, a.body); err == nil {
			a.File, a.body, a.size = name, nil, 0
		} else {
			folder.Remove(name)
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	frame, err := binary.Append(nil, binary.LittleEndian, frameSize{uint32(len(text)), uint64(a.size)})
	if err != nil {
		return err
	}
	for _, piece := range append([][]byte{append(frame, text...)}, a.body...) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(folder *os.Root, name string, pieces [][]byte) error {
	f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for _, piece := range pieces {
		if _, err := f.Write(piece); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}
