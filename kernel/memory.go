package kernel

import (
	"os"
	"strconv"
	"strings"
)

// Available returns the bytes of memory that this process may still take: what the system has, or less
// where a control group or a limit allows less. It is 0 where that is not known.
func Available() int64 {
	least := int64(0)
	consider := func(bytes int64) {
		if bytes > 0 && (least == 0 || bytes < least) {
			least = bytes
		}
	}
	consider(meminfo("MemAvailable"))
	for _, group := range []struct{ limit, used string }{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
	} {
		if limit := number(group.limit); limit > 0 {
			consider(limit - number(group.used))
		}
	}
	return least
}

// meminfo returns a field of /proc/meminfo in bytes, 0 where there is none.
func meminfo(field string) int64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return 1024 * kb
		}
	}
	return 0
}

// number returns that in a file, 0 where there is none.
func number(path string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
