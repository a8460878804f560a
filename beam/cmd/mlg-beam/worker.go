package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

var provisionEndpoint = flag.String("provision_endpoint", "", "set by a runner that starts this binary as a worker")

// provision prepares the work of a worker that a runner has started by the process
// environment of Beam, which gives it an identifier and the address of the rest. In the
// containers of the Go SDK another program does that.
func provision(ctx context.Context) error {
	if *provisionEndpoint == "" {
		return nil
	}
	id := flag.Lookup("id").Value.String()
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, id), *provisionEndpoint)
	if err != nil {
		return fmt.Errorf("worker %s: %w", id, err)
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return fmt.Errorf("worker %s: %w", id, err)
	}
	os.Setenv("STATUS_ENDPOINT", info.GetStatusEndpoint().GetUrl())
	os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " "))
	return set(map[string]string{
		"worker": "true", "options": options,
		"logging_endpoint": info.GetLoggingEndpoint().GetUrl(), "control_endpoint": info.GetControlEndpoint().GetUrl(),
	})
}

// environment makes this binary the one that workers run, unless the flags name another or
// it is not for Linux: Beam would compile one, from sources that need not be there.
func environment() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	defaults := map[string]string{}
	if runtime.GOOS == "linux" && flag.Lookup("worker_binary").Value.String() == "" {
		defaults["worker_binary"] = self
	}
	process := strings.EqualFold(flag.Lookup("environment_type").Value.String(), "process")
	if process && flag.Lookup("environment_config").Value.String() == "" {
		command, err := json.Marshal(map[string]string{"command": self})
		if err != nil {
			return err
		}
		defaults["environment_config"] = string(command)
	}
	return set(defaults)
}

func set(flags map[string]string) error {
	for name, value := range flags {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}
