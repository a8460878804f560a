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
	j := job(t, "gram-job.yaml")
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

// The commands of the pods, as they stand but for the place of the volume, give the Gram
// matrix to the bit. Some pods run twice, as after a failure.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "mlg"), "./cmd/mlg")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o777); err != nil {
		t.Fatal(err)
	}
	run := func(c *core.Container, extra ...string) {
		t.Helper()
		command := slices.Clone(c.Command)
		for i, a := range command {
			if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].MountPath != "/data" {
				t.Fatal("want one volume, at /data")
			}
			if strings.HasPrefix(a, "/data/") {
				command[i] = dir + a
			}
		}
		cmd := exec.Command(filepath.Join(bin, command[0]), command[1:]...)
		if filepath.IsAbs(command[0]) {
			cmd = exec.Command(command[0], command[1:]...)
		}
		cmd.Env = append([]string{"PATH=" + bin + ":/usr/bin:/bin"}, extra...)
		for name, value := range environment(c) {
			if strings.HasPrefix(value, "/data/") {
				value = dir + value
			}
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", command, err, out)
		}
	}
	gram := job(t, "gram-job.yaml")
	c := &gram.Spec.Template.Spec.Containers[0]
	molecules := filepath.Join(dir, environment(c)["DATA"])
	if err := os.WriteFile(molecules, []byte("CCO ethanol\nc1ccccc1 benzene\nCC(=O)O acid\nCCN amine\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	small := *c
	small.Command = slices.Clone(c.Command)
	small.Command[len(small.Command)-1] += " --tile-side 1" // so that there is a tile for most of them
	for i := range int(*gram.Spec.Completions) {
		for range 1 + i%2 {
			run(&small, "JOB_COMPLETION_INDEX="+strconv.Itoa(i))
		}
	}
	run(&job(t, "merge-job.yaml").Spec.Template.Spec.Containers[0])
	whole := filepath.Join(dir, "whole.npy")
	if out, err := exec.Command(filepath.Join(bin, "mlg"), "gram", molecules, "-o", whole).CombinedOutput(); err != nil {
		t.Fatalf("mlg gram: %v\n%s", err, out)
	}
	want, errA := os.ReadFile(whole)
	got, errB := os.ReadFile(filepath.Join(data, "gram.npy"))
	if errA != nil || errB != nil || !bytes.Equal(got, want) {
		t.Errorf("the matrix differs from that of mlg gram; errors %v, %v", errA, errB)
	}
}
