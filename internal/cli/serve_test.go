package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/dataset"
)

// serveFor starts mlg serve with a source, calls use with its address, and ends it.
func serveFor(t *testing.T, source string, json bool, use func(url string), change ...func(*serveCmd)) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r, w := io.Pipe()
	g := &globals{ctx: ctx, stdout: w, stderr: io.Discard, bar: &bar{quiet: true}, Quiet: true, JSON: json}
	c := &serveCmd{Source: source, Addr: "127.0.0.1", Port: new(int)}
	c.Format, c.Hydrogens, c.EdgeWeight = dataset.Auto, dataset.HydrogensAsWritten, dataset.GivenWeight
	for _, f := range change {
		f(c)
	}
	done := make(chan error, 1)
	go func() {
		done <- c.Run(g)
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	url := ""
	for url == "" && lines.Scan() {
		if at := strings.Index(lines.Text(), "http"); at >= 0 {
			url = strings.Trim(lines.Text()[at:], `",`)
		}
	}
	if url == "" {
		t.Fatalf("no address: %v", <-done)
	}
	go io.Copy(io.Discard, r)
	use(url)
	stop()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("an interrupted server ends with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server goes on")
	}
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	a, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != 200 {
		t.Fatalf("%s: %d %s %v", url, a.StatusCode, b, err)
	}
	return b
}

// The command serves a dataset on loopback, gives its model away, and serves that.
func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "drugs.mlg")
	serveFor(t, "builtin:drugs", false, func(url string) {
		if !strings.HasPrefix(url, "http://127.0.0.1:") {
			t.Errorf("address %s", url)
		}
		if page := get(t, url); !bytes.Contains(page, []byte("<title>mlg explorer</title>")) {
			t.Errorf("page %.100s", page)
		}
		if err := os.WriteFile(path, get(t, url+"api/v1/download/model.mlg"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	serveFor(t, path, true, func(url string) {
		var info struct {
			Name   string
			Graphs int
			Saved  bool
		}
		if err := json.Unmarshal(get(t, url+"api/v1/info"), &info); err != nil {
			t.Fatal(err)
		}
		if info.Name != "drugs" || info.Graphs != 234 || !info.Saved {
			t.Errorf("info of a model: %+v", info)
		}
		if said := get(t, url+"api/v1/predict?smiles=CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21"); !bytes.Contains(said, []byte(`"class":"benzodiazepine"`)) {
			t.Errorf("diazepam: %s", said)
		}
	})
}

// What is left out of a table is said where the server begins: texts among numbers, and further structures.
func TestServeRemarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.csv")
	text := "ligand,solvent,yield\n"
	for i := range 30 {
		text += strings.Repeat("C", i+3) + "O,CC(=O)" + strings.Repeat("N", i%4+1) + "C,"
		if i == 7 {
			text += ">"
		}
		text += strconv.Itoa(3*i) + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c := &serveCmd{}
	c.Format, c.Hydrogens, c.EdgeWeight = dataset.Auto, dataset.HydrogensAsWritten, dataset.GivenWeight
	c.Target = []string{"yield"}
	if _, err := c.data(&globals{ctx: t.Context(), stderr: &said, bar: &bar{quiet: true}}, path); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"odd: of the columns of structures only ligand is read, not solvent\n",
		"odd: 1 value is not taken for a number:\n  line 9: yield: \">21\" is not a number, so it counts as not measured\n"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q does not say %q", said.String(), want)
		}
	}
}

// With a certificate the server does TLS, and nothing else; with a new token its address has one, which gives a secure cookie.
func TestServeTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	files := [2]string{filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")}
	for i, b := range []*pem.Block{{Type: "CERTIFICATE", Bytes: cert}, {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(files[i], pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known, _ := x509.ParseCertificate(cert)
	pool := x509.NewCertPool()
	pool.AddCert(known)
	serveFor(t, "builtin:drugs", false, func(url string) {
		if !strings.HasPrefix(url, "https://127.0.0.1:") || !strings.Contains(url, "/?token=") {
			t.Fatalf("address %s", url)
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		a, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if c := a.Cookies(); a.StatusCode != http.StatusSeeOther || len(c) != 1 || !c[0].Secure {
			t.Errorf("%d with cookies %v", a.StatusCode, c)
		}
		if a, err := http.Get("http" + strings.TrimPrefix(url, "https")); err == nil {
			a.Body.Close()
			if a.StatusCode != http.StatusBadRequest {
				t.Errorf("without TLS: %d", a.StatusCode)
			}
		}
	}, func(c *serveCmd) { c.Token, c.TLSCert, c.TLSKey = newToken, files[0], files[1] })
}

// Without a port the server takes the usual one, or the next one that is free, and says so; a port that is given
// must be free.
func TestUsualPort(t *testing.T) {
	var notes bytes.Buffer
	g := &globals{ctx: t.Context(), stderr: &notes, bar: &bar{quiet: true}}
	c := &serveCmd{Addr: "127.0.0.1"}
	last := usualPort - 1
	for range 2 {
		l, err := c.listen(g)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		if port <= last || port >= usualPort+usualPorts {
			t.Errorf("port %d after %d", port, last)
		}
		last = port
	}
	if !strings.Contains(notes.String(), "port 8642 is in use") {
		t.Errorf("notes %q", &notes)
	}
	c.Port = &last
	if l, err := c.listen(g); err == nil {
		l.Close()
		t.Errorf("port %d twice", last)
	}
}
