// Package kubernetes checks the manifests of this folder.
package kubernetes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// decode reads a manifest. Fields that the API does not have, or that are there twice, are
// errors.
func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func job(t *testing.T, path string) *batch.Job {
	t.Helper()
	var j batch.Job
	decode(t, path, &j)
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Name == "" {
		t.Errorf("%s: %s %s %q", path, j.APIVersion, j.Kind, j.Name)
	}
	spec := j.Spec.Template.Spec
	if spec.RestartPolicy != core.RestartPolicyNever {
		t.Errorf("%s: restart policy %s", path, spec.RestartPolicy)
	}
	if len(spec.Containers) != 1 {
		t.Fatalf("%s: %d containers", path, len(spec.Containers))
	}
	var volumes []string
	for _, v := range spec.Volumes {
		volumes = append(volumes, v.Name)
		if v.PersistentVolumeClaim == nil || v.PersistentVolumeClaim.ClaimName != "mlg-data" {
			t.Errorf("%s: volume %s is not of the claim", path, v.Name)
		}
	}
	for _, m := range spec.Containers[0].VolumeMounts {
		if !slices.Contains(volumes, m.Name) {
			t.Errorf("%s: %s is mounted, but no volume", path, m.Name)
		}
	}
	for name, want := range spec.Containers[0].Resources.Requests {
		if limit, ok := spec.Containers[0].Resources.Limits[name]; ok && limit.Cmp(want) < 0 {
			t.Errorf("%s: %s: request %v above the limit %v", path, name, &want, &limit)
		}
	}
	return &j
}

// environment returns the variables of a container.
func environment(c *core.Container) map[string]string {
	out := map[string]string{}
	for _, e := range c.Env {
		out[e.Name] = e.Value
	}
	return out
}

// What the API server demands of an Indexed Job with these fields, and what mlg demands.
func TestIndexedJob(t *testing.T) {
	for _, path := range []string{"gram-job.yaml", "refine-job.yaml"} {
		t.Run(path, func(t *testing.T) { indexed(t, job(t, path)) })
	}
	job(t, "merge-job.yaml")
	job(t, "learn-job.yaml")
}

func indexed(t *testing.T, j *batch.Job) {
	c := &j.Spec.Template.Spec.Containers[0]
	if j.Spec.CompletionMode == nil || *j.Spec.CompletionMode != batch.IndexedCompletion {
		t.Fatal("the Job is not indexed")
	}
	if j.Spec.Completions == nil || j.Spec.Parallelism == nil || *j.Spec.Parallelism > *j.Spec.Completions {
		t.Fatal("want completions, and not more pods at a time than that")
	}
	if env := environment(c); env["SHARDS"] != strconv.Itoa(int(*j.Spec.Completions)) {
		t.Errorf("SHARDS is %s, there are %d indexes", env["SHARDS"], *j.Spec.Completions)
	}
	// Kubernetes sets this variable itself.
	if _, ok := environment(c)["JOB_COMPLETION_INDEX"]; ok {
		t.Error("JOB_COMPLETION_INDEX is overwritten")
	}
	if j.Spec.BackoffLimitPerIndex == nil || *j.Spec.BackoffLimitPerIndex < 1 {
		t.Error("a shard that fails is not tried again")
	}
	for i, r := range j.Spec.PodFailurePolicy.Rules {
		if (r.OnExitCodes == nil) == (len(r.OnPodConditions) == 0) {
			t.Errorf("rule %d: want either exit codes or conditions", i)
		}
		if r.OnExitCodes != nil {
			if r.OnExitCodes.ContainerName == nil || *r.OnExitCodes.ContainerName != c.Name || slices.Contains(r.OnExitCodes.Values, 0) || !slices.IsSorted(r.OnExitCodes.Values) {
				t.Errorf("rule %d: %+v", i, r.OnExitCodes)
			}
		}
	}
	if cpu := c.Resources.Requests.Cpu().String(); cpu != environment(c)["THREADS"] {
		t.Errorf("%s cores for %s threads", cpu, environment(c)["THREADS"])
	}
}

func TestVolume(t *testing.T) {
	var v core.PersistentVolumeClaim
	decode(t, "data-volume.yaml", &v)
	if v.APIVersion != "v1" || v.Kind != "PersistentVolumeClaim" || v.Name != "mlg-data" || !slices.Equal(v.Spec.AccessModes, []core.PersistentVolumeAccessMode{core.ReadWriteMany}) {
		t.Errorf("%+v", v)
	}
}

// A misspelt field is noticed.
func TestStrict(t *testing.T) {
	text, err := os.ReadFile("gram-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Replace(text, []byte("completionMode:"), []byte("completionsMode:"), 1)
	if err := yaml.UnmarshalStrict(bad, &batch.Job{}); err == nil || !strings.Contains(err.Error(), "completionsMode") {
		t.Errorf("error %v", err)
	}
}

// pods run commands of containers on this machine, with a folder in place of the volume.
type pods struct {
	*testing.T
	dir, bin string
}

func newPods(t *testing.T) *pods {
	t.Helper()
	p := &pods{t, t.TempDir(), ""}
	p.bin = filepath.Join(p.dir, "bin")
	build := exec.Command("go", "build", "-o", filepath.Join(p.bin, "mlg"), "./cmd/mlg")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.Mkdir(filepath.Join(p.dir, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs the command of a container.
func (p *pods) run(c *core.Container, extra ...string) {
	p.Helper()
	command := slices.Clone(c.Command)
	for i, a := range command {
		if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].MountPath != "/data" {
			p.Fatal("want one volume, at /data")
		}
		if strings.HasPrefix(a, "/data/") {
			command[i] = p.dir + a
		}
	}
	cmd := exec.Command(filepath.Join(p.bin, command[0]), command[1:]...)
	if filepath.IsAbs(command[0]) {
		cmd = exec.Command(command[0], command[1:]...)
	}
	cmd.Env = append([]string{"PATH=" + p.bin + ":/usr/bin:/bin"}, extra...)
	for name, value := range environment(c) {
		if strings.HasPrefix(value, "/data/") {
			value = p.dir + value
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("%q: %v\n%s", command, err, out)
	}
}

// runAll runs the command of every index of a Job. Some run twice, as after a failure.
func (p *pods) runAll(j *batch.Job, c *core.Container) {
	p.Helper()
	for i := range int(*j.Spec.Completions) {
		for range 1 + i%2 {
			p.run(c, "JOB_COMPLETION_INDEX="+strconv.Itoa(i))
		}
	}
}

// mlg runs a command that no manifest has.
func (p *pods) mlg(args ...string) {
	p.Helper()
	if out, err := exec.Command(filepath.Join(p.bin, "mlg"), args...).CombinedOutput(); err != nil {
		p.Fatalf("mlg %q: %v\n%s", args, err, out)
	}
}

// same reports a file of the volume that differs from another one.
func (p *pods) same(name, other string) {
	p.Helper()
	want, errA := os.ReadFile(other)
	got, errB := os.ReadFile(filepath.Join(p.dir, "data", name))
	if errA != nil || errB != nil || !bytes.Equal(got, want) {
		p.Errorf("%s differs from what one machine writes; errors %v, %v", name, errA, errB)
	}
}

// The commands of the pods, as they stand but for the place of the volume, give the Gram matrix to the bit.
func TestCommands(t *testing.T) {
	p := newPods(t)
	gram := job(t, "gram-job.yaml")
	c := &gram.Spec.Template.Spec.Containers[0]
	molecules := filepath.Join(p.dir, environment(c)["DATA"])
	if err := os.WriteFile(molecules, []byte("CCO ethanol\nc1ccccc1 benzene\nCC(=O)O acid\nCCN amine\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	small := *c
	small.Command = slices.Clone(c.Command)
	small.Command[len(small.Command)-1] += " --tile-side 1" // so that there is a tile for most of them
	p.runAll(gram, &small)
	p.run(&job(t, "merge-job.yaml").Spec.Template.Spec.Containers[0])
	whole := filepath.Join(p.dir, "whole.npy")
	p.mlg("gram", molecules, "-o", whole)
	p.same("gram.npy", whole)
}

// Those of a refinement give the model of one machine to the bit.
func TestRefineCommands(t *testing.T) {
	p := newPods(t)
	refine := job(t, "refine-job.yaml")
	c := &refine.Spec.Template.Spec.Containers[0]
	data, sample := filepath.Join(p.dir, environment(c)["DATA"]), filepath.Join(p.dir, environment(c)["MODEL"])
	text := "smiles,value\n"
	for i := range 60 {
		text += strings.Repeat("C", 1+i%15) + []string{"O", "N", "Cl", "C=O"}[i/15] + "," + strconv.Itoa(i%15) + "\n"
		if i == 29 {
			if err := os.WriteFile(filepath.Join(p.dir, "sample.csv"), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(data, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p.mlg("train", filepath.Join(p.dir, "sample.csv"), "--kernel", "wl h=2", "-o", sample)
	p.runAll(refine, c)
	p.run(&job(t, "learn-job.yaml").Spec.Template.Spec.Containers[0])
	whole := filepath.Join(p.dir, "whole.mlg")
	p.mlg("refine", sample, data, "-o", whole)
	p.same("model.mlg", whole)
}
