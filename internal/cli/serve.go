package cli

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/explorer"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

type serveCmd struct {
	dataFlags
	Source     string   `arg:"" optional:"" help:"A model file or a dataset; by default builtin:drugs." default:"builtin:drugs"`
	Folder     string   `help:"Serve every model and dataset of this folder, each as data of its own. A file that cannot be read is named and left out." placeholder:"FOLDER"`
	Addr       string   `help:"IP address to listen on. Any address but a loopback address lets others in, and needs --token." default:"127.0.0.1"`
	Port       *int     `help:"Port to listen on. 0 means any free one. By default 8642, or the next free one. Links work after a restart if the port is the same." placeholder:"N"`
	Host       []string `help:"More host names of the server, such as the name of a proxy." placeholder:"NAME"`
	Token      string   `help:"Ask everyone for a token: the one in this file, or, with new, one that is made and printed once." placeholder:"FILE|new"`
	TLSCert    string   `name:"tls-cert" help:"File with the certificate for HTTPS, with --tls-key." placeholder:"FILE"`
	TLSKey     string   `name:"tls-key" help:"File with the key of the certificate." placeholder:"FILE"`
	ReadOnly   bool     `help:"Take no files: the page shows the given data alone."`
	Open       bool     `help:"Open the page in the browser."`
	Color      string   `help:"Column or data field to colour graphs by, besides the target." placeholder:"NAME"`
	TargetName string   `help:"What the targets are called on the page, with their unit, as in \"log D at pH 7.4\". By default as their column." placeholder:"TEXT"`
	kernelFlag
}

// Run serves the explorer until it is interrupted.
func (c *serveCmd) Run(g *globals) error {
	addr, err := netip.ParseAddr(c.Addr)
	if err != nil {
		return usageError(fmt.Sprintf("--addr %s: want an IP address such as 127.0.0.1", c.Addr))
	}
	if c.Port != nil && (*c.Port < 0 || *c.Port > 65535) {
		return usageError(fmt.Sprintf("--port %d: want 0 to 65535", *c.Port))
	}
	o := explorer.DefaultOptions()
	config, err := c.guarded(addr, &o)
	if err != nil {
		return err
	}
	all, err := c.all(g)
	if err != nil {
		return err
	}
	d := all[0]
	o.ReadOnly = c.ReadOnly
	o.Workers, o.Device, o.Hosts, o.Version, o.Log = g.workers(), work.Device(g.ctx), c.Host, thisBuild().Version, g.note
	s := explorer.New(d, o, all[1:]...)
	l, err := c.listen(g)
	if err != nil {
		return err
	}
	at, scheme := l.Addr().String(), "http"
	if addr.IsUnspecified() {
		at = fmt.Sprintf("localhost:%d", l.Addr().(*net.TCPAddr).Port)
	}
	if config != nil {
		scheme, l = "https", tls.NewListener(l, config)
	} else if !addr.IsLoopback() {
		g.warn("without TLS, whoever sees the traffic sees the token and the data: add --tls-cert and --tls-key, or put a proxy with TLS in front")
	}
	url := scheme + "://" + at + "/"
	if c.Token == newToken {
		url += "?token=" + o.Token
	}
	if g.JSON {
		err = printJSON(g.stdout, map[string]string{"url": url})
	} else {
		_, err = fmt.Fprintln(g.stdout, url)
	}
	if err != nil {
		l.Close()
		return err
	}
	g.note("compared: %s", d.Compared())
	for _, d := range all {
		g.note("%s: %s.", d.Name, agree(len(d.IDs), "graph", "graphs"))
	}
	g.note("Ctrl-C ends the server.")
	if c.Open {
		if err := openBrowser(url); err != nil {
			g.note("no browser could be opened: %v", err)
		}
	}
	return s.Serve(g.ctx, l)
}

// newToken is the value of --token that has one made.
const newToken = "new"

// shortest is the number of characters that a token has at least.
const shortest = 16

// guarded sets the token of a server, and returns how it does TLS, nil for not at all. Others are let in by a token alone.
func (c *serveCmd) guarded(addr netip.Addr, o *explorer.Options) (*tls.Config, error) {
	if !addr.IsLoopback() && c.Token == "" {
		return nil, usageError(fmt.Sprintf("--addr %s lets others in, so the server has to ask for a token: add --token new, or --token FILE, "+
			"and --tls-cert FILE with --tls-key FILE for HTTPS", c.Addr))
	}
	switch c.Token {
	case "":
	case newToken:
		o.Token = rand.Text()
	default:
		b, err := os.ReadFile(c.Token)
		if err != nil {
			return nil, err
		}
		if o.Token = strings.TrimSpace(string(b)); len(o.Token) < shortest || strings.ContainsAny(o.Token, " \t\r\n") {
			return nil, fmt.Errorf("%s: want a token of at least %d characters without blanks, on one line", c.Token, shortest)
		}
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return nil, usageError("--tls-cert and --tls-key: want both or none")
	}
	if c.TLSCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", c.TLSCert, c.TLSKey, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// all reads the source, or those of the folder.
func (c *serveCmd) all(g *globals) ([]*explorer.Data, error) {
	if c.Folder == "" {
		d, err := c.data(g, c.Source)
		return []*explorer.Data{d}, err
	}
	if c.Source != builtinDrugs {
		return nil, usageError("--folder takes the place of a source: want one of them")
	}
	entries, err := os.ReadDir(c.Folder)
	if err != nil {
		return nil, err
	}
	var out []*explorer.Data
	for _, e := range entries {
		path := filepath.Join(c.Folder, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && !model.Is(path) && !dataset.KnownName(path) {
			continue
		}
		d, err := c.data(g, path)
		if g.ctx.Err() != nil {
			return nil, g.ctx.Err()
		}
		if err != nil {
			g.warn("%s is left out: %v", path, err)
			continue
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no model and no dataset that can be read", c.Folder)
	}
	return out, nil
}

// builtinDrugs is what is served where nothing is named.
const builtinDrugs = "builtin:drugs"

// data reads a model or a dataset.
func (c *serveCmd) data(g *globals, path string) (*explorer.Data, error) {
	if model.Is(path) {
		if err := c.refuse("model"); err != nil {
			return nil, err
		}
		m, err := readModel(path)
		if err == nil {
			wanted := c.Target // for other models of a folder too
			m, err = c.endpoints(m)
			c.Target = wanted
		}
		if err != nil {
			return nil, err
		}
		return explorer.FromModel(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), m)
	}
	r, err := openData(path, c.options())
	if err != nil {
		return nil, err
	}
	defer closeData(g, r)
	choices := explorer.Choices{TargetName: c.TargetName}
	if c.Color != "" {
		choices.Color = &c.Color
	}
	d, err := explorer.Load(g.ctx, r, c.options(), choices)
	if err != nil {
		return nil, err
	}
	for _, remark := range d.Remarks() {
		g.note("%s: %s", d.Name, remark)
	}
	if n := d.Unmeasured().Count; n > 0 {
		g.note("%s: %s not taken for a number:", d.Name, agree(n, "value is", "values are"))
		listLeftOut(g, d.Unmeasured())
	}
	if err := d.Use(string(c.text())); err != nil {
		return nil, kernelError(err)
	}
	return d, nil
}

// The ports that are tried one after the other, if none is given. Old links use the first one. They
// work if it is free when the server starts.
const usualPort, usualPorts = 8642, 100

// listen listens on the given port, or on the first free one of the usual ports.
func (c *serveCmd) listen(g *globals) (l net.Listener, err error) {
	first, most := usualPort, usualPorts
	if c.Port != nil {
		first, most = *c.Port, 1
	}
	for port := first; port < first+most; port++ {
		l, err = new(net.ListenConfig).Listen(g.ctx, "tcp", net.JoinHostPort(c.Addr, strconv.Itoa(port)))
		if err == nil && port > usualPort && c.Port == nil {
			g.note("port %d is in use, so this is another one; old links lead to the program that uses it", usualPort)
		}
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return l, err
}

// openBrowser asks the system to show a page, and does not wait for the browser.
func openBrowser(url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := exec.CommandContext(ctx, name, args...).Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil // a browser that runs in the foreground
	}
	return err
}
