//go:build flink

package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
)

// patience is the time that a step on Flink may take at most.
const patience = 3 * time.Minute

// cluster is a Beam job server with a Flink cluster in it.
type cluster struct {
	endpoint string
	log      string // path
	command  string // path of mlg-beam
}

// startFlink starts a job server that ends with the test.
func startFlink(t *testing.T) *cluster {
	t.Helper()
	jars, command := os.Getenv("MLG_FLINK_JARS"), os.Getenv("MLG_BEAM_COMMAND")
	if jars == "" || command == "" {
		t.Fatal("MLG_FLINK_JARS and MLG_BEAM_COMMAND are not set: make test-flink sets them")
	}
	dir := t.TempDir()
	c := &cluster{log: filepath.Join(dir, "server.log"), command: command}
	conf := filepath.Join(dir, "conf")
	temp := filepath.Join(dir, "tmp")
	for _, d := range []string{conf, temp} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	text := "restart-strategy.type: fixed-delay\nrestart-strategy.fixed-delay.attempts: 5\nrestart-strategy.fixed-delay.delay: 1 s\n"
	if err := os.WriteFile(filepath.Join(conf, "flink-conf.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, p := range []string{"java.lang", "java.lang.reflect", "java.net", "java.nio", "java.text", "java.time", "java.util", "java.util.concurrent"} {
		args = append(args, "--add-opens=java.base/"+p+"=ALL-UNNAMED")
	}
	args = append(args, "-Xmx1g", "-Djava.io.tmpdir="+temp, "-cp", filepath.Join(jars, "*"), "org.apache.beam.runners.flink.FlinkJobServerDriver",
		"--job-host=localhost", "--job-port=0", "--artifact-port=0", "--expansion-port=0", "--artifacts-dir="+filepath.Join(temp, "artifacts"), "--flink-conf-dir="+conf)
	out, err := os.Create(c.log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	server := exec.Command("java", args...)
	server.Dir, server.Stdout, server.Stderr = dir, out, out
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			server.Process.Kill()
			<-ended
		}
		for _, pid := range c.workers(t) {
			t.Errorf("worker %d outlived the cluster", pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if t.Failed() {
			text, _ := os.ReadFile(c.log)
			t.Logf("the end of the log of the job server:\n%s", text[max(0, len(text)-6000):])
		}
	})
	started := regexp.MustCompile(`JobService started on (localhost:\d+)`)
	wait(t, "the job server", func() bool {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the job server ended: %v", err)
		default:
		}
		text, err := os.ReadFile(c.log)
		if err != nil {
			t.Fatal(err)
		}
		if m := started.FindSubmatch(text); m != nil {
			c.endpoint = string(m[1])
		}
		return c.endpoint != ""
	})
	return c
}

// wait polls until f returns true.
func wait(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: nothing within %v", what, patience)
		}
	}
}

// workers returns the processes that run the command as workers.
func (c *cluster) workers(t *testing.T) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatalf("processes are found by /proc: %v", err)
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		args, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.HasPrefix(args, []byte(c.command+"\x00")) && bytes.Contains(args, []byte("--provision_endpoint=")) {
			out = append(out, pid)
		}
	}
	return out
}

// run runs a pipeline on Flink with workers in this process.
func (c *cluster) run(t *testing.T, o Options) (Counts, error) {
	t.Helper()
	endpoint, environment, parallelism := *jobopts.Endpoint, *jobopts.EnvironmentType, *jobopts.Parallelism
	defer func() {
		*jobopts.Endpoint, *jobopts.EnvironmentType, *jobopts.Parallelism = endpoint, environment, parallelism
	}()
	*jobopts.Endpoint, *jobopts.EnvironmentType, *jobopts.Parallelism = c.endpoint, "LOOPBACK", 2
	return runOn(t, func(ctx context.Context, p *beam.Pipeline) (beam.PipelineResult, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return flink.Execute(ctx, p)
	}, o)
}

// start starts the command on Flink. wait returns its counters.
func (c *cluster) start(t *testing.T, o Options, environment string) (command *exec.Cmd, wait func() (Counts, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	command = exec.CommandContext(ctx, c.command, append([]string{
		"--runner=flink", "--endpoint=" + c.endpoint, "--environment_type=" + environment, "--parallelism=2", "--json",
		"--model", o.Model, "--tiles", o.Tiles, "--tile-side", fmt.Sprint(o.Side), "--part-bytes", fmt.Sprint(o.PartBytes),
	}, o.Inputs...)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	command.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command, func() (Counts, error) {
		var counts Counts
		if err := command.Wait(); err != nil {
			return counts, fmt.Errorf("%w\n%s", err, stderr.String())
		}
		return counts, json.Unmarshal(stdout.Bytes(), &counts)
	}
}

func TestFlink(t *testing.T) {
	c := startFlink(t)
	d := drugs(t)
	t.Run("gram", func(t *testing.T) {
		o := d.options(t)
		counts, err := c.run(t, o)
		if err != nil {
			t.Fatal(err)
		}
		if want := (Counts{Read: 234, Transformed: 234, Computed: 15}); counts != want {
			t.Errorf("counters %+v, want %+v", counts, want)
		}
		got, _ := gram(t, o.Tiles)
		same(t, got, d.gram(t))
		before := snapshot(t, o.Tiles)
		if counts, err = c.run(t, o); err != nil || counts.Kept != 15 || counts.Computed != 0 {
			t.Errorf("a second run: %v, counters %+v, want all 15 tiles kept", err, counts)
		}
		equal(t, snapshot(t, o.Tiles), before)
	})
	t.Run("embeddings", func(t *testing.T) {
		o := d.options(t)
		o.Tiles, o.Embeddings, o.Dim = "", filepath.Join(t.TempDir(), "flink"), 20
		if _, err := c.run(t, o); err != nil {
			t.Fatal(err)
		}
		onFlink := snapshot(t, o.Embeddings)
		o.Embeddings = filepath.Join(t.TempDir(), "prism")
		must(t, o)
		equal(t, onFlink, snapshot(t, o.Embeddings))
	})
	t.Run("train", func(t *testing.T) {
		c2 := learn(t, dataset.Scales(300, 1))
		o := c2.options(t)
		path := o.Train
		o.Train = scheme + path
		failures.Store(1) // Flink repeats what has failed
		failed.Store(0)
		counts, err := c.run(t, o)
		if err != nil {
			t.Fatal(err)
		}
		if failed.Load() != 1 {
			t.Error("nothing failed")
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, c2.refined) {
			t.Errorf("another model than on one machine, or none: %v; counters %+v", err, counts)
		}
	})
	// A step fails twice, and leaves half a tile each time; Flink repeats it.
	t.Run("retry", func(t *testing.T) {
		o := d.options(t)
		dir := o.Tiles
		o.Tiles = scheme + dir
		failures.Store(2)
		failed.Store(0)
		counts, err := c.run(t, o)
		if err != nil {
			t.Fatal(err)
		}
		if failed.Load() != 2 {
			t.Errorf("%d failures, want 2", failed.Load())
		}
		t.Logf("counters %+v", counts)
		got, _ := gram(t, dir)
		same(t, got, d.gram(t))
	})
	t.Run("bad graphs", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "bad.jsonl")
		if err := os.WriteFile(path, []byte("{\"nodes\":1,\"edges\":[],\"node_labels\":[\"C\"]}\nnot a graph\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		o := d.options(t)
		o.Inputs, o.SkipInvalid = []string{path}, true
		counts, err := c.run(t, o)
		if err != nil {
			t.Fatal(err)
		}
		list, err := os.ReadFile(filepath.Join(o.Tiles, BadName))
		if err != nil || counts.Bad != 1 || counts.Transformed != 1 || !strings.Contains(string(list), path+":2") {
			t.Errorf("error %v, counters %+v, list %s; want 1 bad graph in line 2", err, counts, list)
		}
	})
}

// many is a collection with enough tiles to be interrupted among them.
func many(t *testing.T) (*collection, Options) {
	t.Helper()
	d := collect(t, dataset.Scales(1200, 1), mlg.Default())
	o := d.options(t)
	o.Side, o.PartBytes = 24, 64<<10 // 1275 tiles
	return d, o
}

// A worker is a process that Flink starts. It is killed when it has written some tiles; Flink
// starts another, which keeps them.
func TestFlinkWorkerDies(t *testing.T) {
	c := startFlink(t)
	d, o := many(t)
	_, done := c.start(t, o, "PROCESS")
	var victim int
	wait(t, "some tiles", func() bool {
		if finished(o.Tiles) < 20 {
			return false
		}
		pids := c.workers(t)
		if len(pids) == 0 {
			return false
		}
		victim = pids[0]
		return true
	})
	before := finished(o.Tiles)
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	counts, err := done()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("killed worker %d at %d tiles; counters %+v", victim, before, counts)
	log, err := os.ReadFile(c.log)
	if err != nil {
		t.Fatal(err)
	}
	if before >= 1275 || !strings.Contains(string(log), "to RESTARTING") {
		t.Errorf("%d tiles were there and Flink restarted nothing: the worker was killed too late", before)
	}
	if counts.Kept == 0 {
		t.Errorf("counters %+v, want tiles that were kept", counts)
	}
	got, _ := gram(t, o.Tiles)
	same(t, got, d.gram(t))
}

// With workers in the process that submits the job, its end ends the job. A second run keeps
// the tiles of the first.
func TestFlinkSubmitterDies(t *testing.T) {
	c := startFlink(t)
	d, o := many(t)
	first, done := c.start(t, o, "LOOPBACK")
	wait(t, "some tiles", func() bool { return finished(o.Tiles) >= 20 })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := done(); err == nil {
		t.Fatal("the process was killed too late")
	}
	before := finished(o.Tiles)
	_, done = c.start(t, o, "LOOPBACK")
	counts, err := done()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("killed at %d tiles; counters of the second run %+v", before, counts)
	if counts.Kept < 20 || counts.Kept+counts.Computed != 1275 {
		t.Errorf("counters %+v, want at least 20 tiles kept and 1275 in all", counts)
	}
	got, _ := gram(t, o.Tiles)
	same(t, got, d.gram(t))
}
