package explorer

import (
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/work"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// A kernel matrix that does not fit into memory is refused before the kernel is fitted, and the server goes on.
func TestNoMemory(t *testing.T) {
	if work.Available() == 0 {
		graphtest.Missing(t, "the amount of free memory is not known here")
	}
	s := New(someDrugs(t), DefaultOptions())
	defer s.end()
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/api/v1/neighbours?index=1&kernel=labels", nil))
		return w
	}
	limit := debug.SetMemoryLimit(1 << 20)
	w := ask()
	debug.SetMemoryLimit(limit)
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "GB are free: show fewer graphs") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(); w.Code != http.StatusOK {
		t.Errorf("with memory: %d %s", w.Code, w.Body)
	}
}
