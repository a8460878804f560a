package work

import (
	"runtime/debug"
	"testing"
	"testing/fstest"
)

// The least of what the system, the groups of the process and its limits leave is available. Pages of files
// that nothing needs can be had again.
func TestAvailable(t *testing.T) {
	base := map[string]string{
		"proc/meminfo":     "MemTotal:  9000 kB\nMemAvailable:    8000 kB\n",
		"proc/self/limits": "Limit   Soft Limit  Hard Limit  Units\nMax address space   unlimited   unlimited   bytes\n",
		"proc/self/status": "VmPeak: 7 kB\nVmSize:  1000 kB\n",
	}
	for name, x := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known": {map[string]string{"proc/meminfo": "", "proc/self/limits": ""}, 0},
		"the system":       {nil, 8000 * 1024},
		"its own group": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "max\n",
			"sys/fs/cgroup/a/b/memory.max": "5000\n", "sys/fs/cgroup/a/b/memory.current": "3000\n",
			"sys/fs/cgroup/a/b/memory.stat": "anon 5\ninactive_file 1500\nactive_file 9\n"}, 3500},
		"a group above": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "4000\n",
			"sys/fs/cgroup/a/memory.current": "3000\n", "sys/fs/cgroup/a/b/memory.max": "5000\n"}, 1000},
		"a container with the path of the host": {map[string]string{"proc/self/cgroup": "0::/host/deep\n",
			"sys/fs/cgroup/memory.max": "6000\n", "sys/fs/cgroup/memory.current": "1000\n"}, 5000},
		"version 1": {map[string]string{"proc/self/cgroup": "5:cpu:/z\n4:hugetlb,memory:/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "5000\n", "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "4000\n",
			"sys/fs/cgroup/memory/a/memory.stat": "inactive_file 7\ntotal_inactive_file 100\n"}, 1100},
		"a group that is full":    {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "10\n", "sys/fs/cgroup/memory.current": "20\n"}, 1},
		"a limited address space": {map[string]string{"proc/self/limits": "Max address space   3072000   unlimited   bytes\n"}, 2000 * 1024},
	} {
		root := fstest.MapFS{}
		for _, files := range []map[string]string{base, x.files} {
			for path, text := range files {
				root[path] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		if got := available(root); got != x.want {
			t.Errorf("%s: %d bytes, want %d", name, got, x.want)
		}
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 20))
	if got := Available(); got != 1 {
		t.Errorf("%d bytes with GOMEMLIMIT below what is used", got)
	}
}
