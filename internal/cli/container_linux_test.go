package cli

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// instruction returns what the Dockerfile says for an instruction, the last time that it does.
func instruction(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^`+name+` (.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(all) == 0 {
		t.Fatalf("Dockerfile: no %s", name)
	}
	return all[len(all)-1][1]
}

// The program of the image is static, so that it runs in an empty root as another user. Started as the image starts it, it serves
// each file of the folder, asks for the token and takes no files.
func TestContainer(t *testing.T) {
	graphtest.Long(t)
	if os.Getuid() != 0 {
		graphtest.Missing(t, "a process with a root of its own needs root")
	}
	root := t.TempDir()
	os.Chmod(root, 0o755) // as others see it
	build, ok := strings.CutPrefix(instruction(t, "RUN"), "CGO_ENABLED=0 ")
	if !ok {
		t.Fatalf("RUN %s: want CGO_ENABLED=0", build)
	}
	args := strings.Fields(strings.Replace(build, "-o /mlg", "-o "+filepath.Join(root, "mlg"), 1))
	make := exec.Command(args[0], args[1:]...)
	make.Dir, make.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", build, err, out)
	}
	program, err := elf.Open(filepath.Join(root, "mlg"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program needs a loader")
		}
	}
	const token = "a-token-of-many-letters"
	for name, text := range map[string]string{"token": token + "\n", "data/a.csv": "smiles,y\nCCO,1\nCCN,2\nCCC,4\n", "data/b.smi": "CCO one\nCCN two\n",
		"data/broken.csv": "x,y\n1,2\n", "data/notes.pdf": "no data"} {
		os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755)
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var entry, more []string
	if json.Unmarshal([]byte(instruction(t, "ENTRYPOINT")), &entry) != nil || json.Unmarshal([]byte(instruction(t, "CMD")), &more) != nil {
		t.Fatal("Dockerfile: ENTRYPOINT and CMD are no lists")
	}
	port := freePort(t)
	for i, a := range entry {
		if a == instruction(t, "EXPOSE") {
			entry[i] = fmt.Sprint(port)
		}
	}
	server := exec.Command(entry[0], append(entry[1:], more...)...)
	server.SysProcAttr, server.Env, server.Dir = confined(root, instruction(t, "USER")), []string{}, "/"
	said := &strings.Builder{}
	server.Stderr = said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			server.Process.Kill()
			server.Wait()
		}
	}()
	ask := func(method, path, key string, body io.Reader) (int, string) {
		r, err := http.NewRequest(method, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/octet-stream")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer a.Body.Close()
		b, _ := io.ReadAll(a.Body)
		return a.StatusCode, string(b)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		code, list := ask("GET", "/api/v1/sources", token, nil)
		if code == 0 && time.Now().Before(end) {
			continue
		}
		if code != 200 || !strings.Contains(list, `"name":"a","graphs":3`) || !strings.Contains(list, `"name":"b","graphs":2`) || strings.Count(list, `"given":true`) != 2 {
			t.Fatalf("sources: %d %s", code, list)
		}
		break
	}
	if code, _ := ask("GET", "/api/v1/sources", "wrong", nil); code != 401 {
		t.Errorf("with a wrong token: %d", code)
	}
	if code, out := ask("POST", "/api/v1/upload?name=x.smi", token, strings.NewReader("CCO\n")); code != 403 {
		t.Errorf("an upload: %d %s", code, out)
	}
	server.Process.Signal(os.Interrupt)
	err, ended = server.Wait(), true
	if err != nil || !strings.Contains(said.String(), "broken.csv is left out: ") || strings.Contains(said.String(), "notes.pdf") {
		t.Errorf("the server ends with %v and said\n%s", err, said)
	}
}

// confined has a process see a folder as its root, and run as a user and a group, as in 1000:1000.
func confined(root, user string) *syscall.SysProcAttr {
	who := &syscall.Credential{}
	fmt.Sscanf(user, "%d:%d", &who.Uid, &who.Gid)
	return &syscall.SysProcAttr{Chroot: root, Credential: who}
}

// freePort returns a port that is free at the moment.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
