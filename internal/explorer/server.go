package explorer

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"runtime"
	"sync"
	"time"

	"github.com/mlgkernel/mlg/spd"
)

// Options say how a Server behaves. Start from DefaultOptions.
type Options struct {
	Workers int        // goroutines of a long computation
	Device  spd.Device // what computes large matrices; nil means the processor
	Version string     // of the program, for the page and the API
	// Hosts are names, beside localhost and IP addresses, under which the server may be addressed.
	// Other names are refused. Otherwise a foreign page could reach the server through a name of
	// its own that points here (DNS rebinding).
	Hosts []string

	// Token, when set, is what everyone has to know who uses the server.
	Token string
	// ReadOnly refuses files that are uploaded.
	ReadOnly bool

	// Whole is the largest number of graphs whose Gram matrix is kept, 8 bytes an entry. Of
	// more graphs a sample of Core stands for all in the picture of the matrix, for the directions of the
	// principal components, and for a first learner.
	Whole, Core int

	// UploadBytes and UploadGraphs bound a file that is uploaded, and UploadTime the time in which it has to be sent.
	UploadBytes  int64
	UploadGraphs int
	UploadTime   time.Duration

	// Waiting is the number of computations with a pace that may wait for their turn. Requests is the number of short
	// ones that may wait; as many run as there are cores.
	Waiting, Requests int
	// PerClient is the number of requests from one address of the network that are answered at a time. 0 means any.
	PerClient int
	// Patience is the time that a computation goes on when nobody waits for it any more, so that a page that is loaded anew
	// finds it. It ends at once when another computation waits.
	Patience time.Duration
	// Connections is the number of open connections. When there are more, those that have
	// not sent a request for the longest time are closed.
	Connections int
	// BodyTimeout is the time that a client has to send the body of a request. WriteTimeout is the
	// time that it has to take the answer.
	BodyTimeout, WriteTimeout time.Duration
	// ShortTimeout bounds the time of a short computation, as of a prediction.
	ShortTimeout time.Duration
	// Log, when set, is called with errors that are the server's own fault. It is called
	// concurrently.
	Log func(format string, args ...any)
}

// DefaultOptions returns the options to start from.
func DefaultOptions() Options {
	return Options{
		Workers: runtime.GOMAXPROCS(0), Version: "development",
		Whole: 4500, Core: 2500,
		UploadBytes: 200 << 20, UploadGraphs: 50_000, UploadTime: 30 * time.Minute,
		Waiting: 64, Requests: 256, PerClient: 32, Patience: 10 * time.Second, Connections: 1024,
		BodyTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, ShortTimeout: 30 * time.Second,
	}
}

// What a client has at most: time to send a header, time between requests, and bytes of a body.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 60 * time.Second
	maxBody       = 4 << 20
)

// Server explores collections of graphs: the one given at the start, and those that are uploaded.
type Server struct {
	o        Options
	life     *life // of the computations
	end      context.CancelFunc
	heavy    *lanes // computations that are kept
	light    *gate  // short ones
	uploads  *gate  // files that are being read
	document object // of the API
	access   *access
	clients  clients

	mu      sync.Mutex
	sources []*source  // those given at the start, then uploaded ones, the latest first
	recent  []*session // used last, the latest first

	batches []*batch              // the latest first
	checked []*checked            // files of which nothing was made yet, the latest first
	reading map[string]*uploading // files that are being read, by their keys
}

// New returns a server of some data, and perhaps more.
func New(d *Data, o Options, more ...*Data) *Server {
	s := &Server{o: o, light: newGate(runtime.GOMAXPROCS(0), o.Requests),
		uploads: newGate(maxUploads, maxUploads), reading: map[string]*uploading{}, access: newAccess(o.Token), clients: clients{most: o.PerClient}}
	ctx, end := context.WithCancel(context.Background())
	s.life, s.end = &life{Context: ctx, patience: o.Patience}, end
	s.heavy = newLanes(o.Waiting, s.life.hurry)
	s.life.crowded = func() bool { return s.heavy.waiting.Load() > 0 }
	for _, d := range append([]*Data{d}, more...) {
		x := s.newSource(d)
		x.fixed = true
		s.sources = append(s.sources, x)
	}
	s.document = document()
	return s
}

// Serve answers requests on a listener until ctx ends, then waits a little for those that are
// being answered. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.end()
	limited := &limiter{most: s.o.Connections}
	srv := &http.Server{
		Handler:           limited.track(s.handler()),
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      s.o.WriteTimeout, // which begins anew when a computation is done
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    16 << 10,
		ConnState:         limited.state,
		ConnContext:       limited.context,
		ErrorLog:          log.New(io.Discard, "", 0), // what clients do wrong is their affair
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	if s.given().data.saved {
		go s.prepare()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	s.end() // who waits for a computation gets an answer at once
	wait, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := srv.Shutdown(wait); err != nil {
		srv.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// prepare computes what the first requests to a model need, before they come. Errors go to the
// requests that need the result.
func (s *Server) prepare() {
	if x, err := s.given().session(""); err == nil {
		x.learned(s.life)
		x.placed(s.life)
	}
}

//go:embed page
var pageFiles embed.FS

// kinds are the types of the embedded files.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// servePage sends an embedded file.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := cmp.Or(r.PathValue("file"), "index.html")
	data, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		writeError(w, notFound("", "no page %q here", r.URL.Path))
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	send(w, http.StatusOK, kinds[path.Ext(name)], data)
}
