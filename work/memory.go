package work

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Available returns the bytes of memory that this process may still take: what the system has, or less where
// a control group, a limit of the address space or GOMEMLIMIT allows less. It is 0 where that is not known.
func Available() int64 {
	least := available(os.DirFS("/"))
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
		metrics.Read(sample)
		least = lower(least, limit-int64(sample[0].Value.Uint64()))
	}
	return least
}

// lower returns the lower of two limits, of which the first may not be known. What is used up is 1 byte.
func lower(known, limit int64) int64 {
	if limit = max(1, limit); known == 0 {
		return limit
	}
	return min(known, limit)
}

// available is Available of what the files of a system say.
func available(root fs.FS) int64 {
	least := 1024 * field(root, "proc/meminfo", "MemAvailable:")
	for _, line := range lines(root, "proc/self/limits") {
		if rest, ok := strings.CutPrefix(line, "Max address space"); ok {
			if limit, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
				least = lower(least, limit-1024*field(root, "proc/self/status", "VmSize:"))
			}
		}
	}
	for _, line := range lines(root, "proc/self/cgroup") { // hierarchy:controllers:path
		parts := strings.SplitN(line, ":", 3)
		if len(parts) < 3 {
			continue
		}
		mount, limit, used, cache := "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		if parts[1] != "" { // version 1
			mount, limit, used, cache = mount+"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		}
		if parts[1] != "" && !strings.Contains(","+parts[1]+",", ",memory,") {
			continue
		}
		// A limit holds for all groups below. In a container the path may be that of the host, and the mount the
		// group itself.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			at := path.Join(mount, group)
			if most := field(root, path.Join(at, limit), ""); most > 0 {
				least = lower(least, most-field(root, path.Join(at, used), "")+field(root, path.Join(at, "memory.stat"), cache+" "))
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// lines returns those of a file, none where it cannot be read.
func lines(root fs.FS, name string) []string {
	b, _ := fs.ReadFile(root, name)
	return strings.Split(string(b), "\n")
}

// field returns the number behind the beginning of a line of a file, 0 where there is none.
func field(root fs.FS, name, begin string) int64 {
	for _, line := range lines(root, name) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n
		}
	}
	return 0
}
