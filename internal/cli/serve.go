package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mlgkernel/mlg/internal/explorer"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

type serveCmd struct {
	dataFlags
	Source string   `arg:"" optional:"" help:"A model file or a dataset; by default builtin:drugs." default:"builtin:drugs"`
	Addr   string   `help:"IP address to listen on. With any address but a loopback address, everyone in the network can use the page." default:"127.0.0.1"`
	Port   *int     `help:"Port to listen on. 0 means any free one. By default 8642, or the next free one. Links work after a restart if the port is the same." placeholder:"N"`
	Host   []string `help:"More host names of the server, such as the name of a proxy." placeholder:"NAME"`
	Open   bool     `help:"Open the page in the browser."`
	Color  string   `help:"Column or data field to colour graphs by, besides the target." placeholder:"NAME" group:"Reading data"`
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
	d, err := c.data(g)
	if err != nil {
		return err
	}
	o := explorer.DefaultOptions()
	o.Workers, o.Device, o.Hosts, o.Version, o.Log = g.workers(), work.Device(g.ctx), c.Host, thisBuild().Version, g.note
	s := explorer.New(d, o)
	l, err := c.listen(g)
	if err != nil {
		return err
	}
	url := "http://" + l.Addr().String() + "/"
	if addr.IsUnspecified() {
		url = fmt.Sprintf("http://localhost:%d/", l.Addr().(*net.TCPAddr).Port)
	}
	if !addr.IsLoopback() {
		g.note("listening on %s: everyone who reaches this address can use the explorer", c.Addr)
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
	g.note("%s: %s. Ctrl-C ends the server.", d.Name, agree(len(d.IDs), "graph", "graphs"))
	if c.Open {
		if err := openBrowser(url); err != nil {
			g.note("no browser could be opened: %v", err)
		}
	}
	return s.Serve(g.ctx, l)
}

// data reads the model or the dataset.
func (c *serveCmd) data(g *globals) (*explorer.Data, error) {
	if model.Is(c.Source) {
		if c.Kernel != "mlg" {
			return nil, usageError("--kernel cannot be used with a model, which has its own kernel")
		}
		m, err := readModel(c.Source)
		if err != nil {
			return nil, err
		}
		return explorer.FromModel(strings.TrimSuffix(filepath.Base(c.Source), filepath.Ext(c.Source)), m)
	}
	r, err := openData(c.Source, c.options())
	if err != nil {
		return nil, err
	}
	defer closeData(g, r)
	var choices explorer.Choices
	if c.Color != "" {
		choices.Color = &c.Color
	}
	d, err := explorer.Load(g.ctx, r, c.options(), choices)
	if err != nil {
		return nil, err
	}
	if err := d.Use(string(c.Kernel)); err != nil {
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
