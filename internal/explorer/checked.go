package explorer

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/dataset"
)

// Files that are kept after a check, until a collection is made of them: so many, and the texts of those of so many bytes.
const (
	maxChecked   = 2
	checkedBytes = 64 << 20
)

// checked is a file that was sent to be checked. It is read once for each way to read it.
type checked struct {
	id   string
	size int64

	mu   sync.Mutex // of what follows
	text []byte     // as it was sent, nil for a large file
	as   dataset.Options
	read *loader // what was read in this way
}

// keptText keeps what is written to it, unless that is much.
type keptText struct {
	text []byte
	more bool
}

func (k *keptText) Write(p []byte) (int, error) {
	if k.more = k.more || len(k.text)+len(p) > checkedBytes; k.more {
		k.text = nil
	} else {
		k.text = append(k.text, p...)
	}
	return len(p), nil
}

// whole returns all that was written, nil where it was too much.
func (k *keptText) whole() []byte {
	if k.more {
		return nil
	}
	return k.text
}

// unkept says that a file has to be sent again.
func unkept(format string, args ...any) error {
	return &apiError{http.StatusUnprocessableEntity, fmt.Sprintf(format, args...), "file"}
}

// checkedFile returns a file that was checked, nil where it is not there any more.
func (s *Server) checkedFile(id string) *checked {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.checked, func(f *checked) bool { return f.id == id }); i >= 0 {
		return s.checked[i]
	}
	return nil
}

// keepChecked keeps a file, and lets the oldest go when there are too many.
func (s *Server) keepChecked(f *checked) {
	s.forgetChecked(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = slices.Insert(s.checked, 0, f)
	s.checked = s.checked[:min(len(s.checked), maxChecked)]
}

func (s *Server) forgetChecked(f *checked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = slices.DeleteFunc(s.checked, func(g *checked) bool { return g == f })
}
