//go:build amd64 || arm64

package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// functions are those of the driver that are called here.
var functions = []string{
	"cuInit", "cuDriverGetVersion", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
	"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuModuleLoadData", "cuModuleGetFunction",
	"cuModuleGetGlobal_v2", "cuFuncSetAttribute", "cuMemAlloc_v2", "cuMemHostRegister_v2", "cuStreamCreate",
	"cuMemcpyDtoH_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuLaunchKernel",
	"cuStreamSynchronize",
}

// folders are those in which the driver's library may be, besides the usual ones: of containers,
// NixOS and WSL.
const folders = "/usr/local/nvidia/lib64:/usr/local/nvidia/lib:/run/opengl-driver/lib:/usr/lib/wsl/lib"

// driverError is a number that a function of the driver returned.
type driverError struct {
	Function string
	Code     int
}

// Codes of CUresult with a meaning for the user.
const (
	outOfMemory    = 2
	deviceBusy     = 46
	noDevice       = 100
	invalidImage   = 200
	noBinary       = 209 // for this GPU
	eccError       = 214
	unsupportedPTX = 222
	illegalAddress = 700
	launchTimeout  = 702
	launchFailed   = 719
	driverMismatch = 803
	unknownError   = 999
)

func (e *driverError) Error() string {
	var what string
	switch e.Code {
	case outOfMemory:
		what = "the GPU has not enough free memory: end other programs that use it, or compute on the CPU"
	case noDevice:
		what = "the driver finds no GPU: nvidia-smi lists all, and CUDA_VISIBLE_DEVICES may hide some"
	case deviceBusy:
		what = "another program has the GPU for itself: wait until it ends"
	case unsupportedPTX, invalidImage, noBinary:
		what = "the driver or the GPU is too old: want NVIDIA driver 525 or newer, and a GPU of compute capability 7.0 or newer"
	case driverMismatch:
		what = "the driver's library does not fit its kernel module: restart the machine after an update of the driver"
	case eccError, illegalAddress, launchTimeout, launchFailed, unknownError:
		what = "the GPU failed: nvidia-smi shows its state; compute on the CPU, or restart the GPU"
	default:
		what = "the driver returned an error"
	}
	return fmt.Sprintf("%s (%s: %d)", what, e.Function, e.Code)
}

// driver calls the functions of the driver from one thread of the child.
type driver struct {
	*thread
	scratch []byte // shared memory for arguments and results
}

// do calls a function that returns a CUresult.
func (d *driver) do(function string, args ...uint64) error {
	r, err := d.call(function, args...)
	if err == nil && uint32(r) != 0 {
		err = &driverError{function, int(uint32(r))}
	}
	return err
}

// get calls a function whose first argument is where it writes a word, and returns the word.
func (d *driver) get(function string, args ...uint64) (uint64, error) {
	clear(d.scratch[:8])
	err := d.do(function, append([]uint64{d.p.at(d.scratch)}, args...)...)
	return binary.LittleEndian.Uint64(d.scratch), err
}

// text puts a text into the shared memory and returns its address.
func (d *driver) text(s string) uint64 {
	b := d.scratch[64:]
	b[copy(b, s)] = 0
	return d.p.at(b)
}

// launch starts a function on a grid of blocks. An argument is a number or an address of 8 bytes,
// an int of 4, or a struct of addresses.
func (d *driver) launch(stream, function uint64, grid [2]int, block, shared int, args ...any) error {
	le := binary.LittleEndian
	values, list := d.scratch[256:], d.scratch[:256]
	for i, a := range args {
		n, err := binary.Encode(values, le, a)
		if err != nil {
			panic(err) // of no fixed size
		}
		le.PutUint64(list[8*i:], d.p.at(values))
		values = values[(n+7)&^7:]
	}
	return d.do("cuLaunchKernel", function, uint64(grid[0]), uint64(grid[1]), 1, uint64(block), 1, 1,
		uint64(shared), stream, d.p.at(list), 0)
}

// connect starts the driver with so many threads, each with some scratch memory, and further shared
// memory. It returns a driver for each thread.
func connect(threads, further int) ([]*driver, []byte, error) {
	p, err := start([]string{"libcuda.so.1"}, functions, folders, threads*scratchBytes+further, threads)
	if err != nil {
		if errors.Is(err, errEnded) && strings.Contains(err.Error(), "libcuda.so.1") {
			err = errors.New("there is no NVIDIA driver here: libcuda.so.1 cannot be loaded; install the driver, or give the container access to the GPU")
		}
		return nil, nil, err
	}
	var out []*driver
	for i, t := range p.threads {
		out = append(out, &driver{t, p.memory[i*scratchBytes:][:scratchBytes]})
	}
	return out, p.memory[threads*scratchBytes:], nil
}

const (
	scratchBytes    = 1 << 20 // more than the text of a module
	maxShared       = 8       // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
	majorCapability = 75      // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	minorCapability = 76
)

// begin initialises the driver and returns the context and the name of the first GPU.
func (d *driver) begin() (context uint64, name string, err error) {
	if err := d.do("cuInit", 0); err != nil {
		return 0, "", err
	}
	device, err := d.get("cuDeviceGet", 0)
	if err != nil {
		return 0, "", err
	}
	var capability [2]uint64
	for i, a := range []uint64{majorCapability, minorCapability} {
		if capability[i], err = d.get("cuDeviceGetAttribute", a, device); err != nil {
			return 0, "", err
		}
	}
	version, err := d.get("cuDriverGetVersion")
	if err != nil {
		return 0, "", err
	}
	if err := d.do("cuDeviceGetName", d.p.at(d.scratch), 256, device); err != nil {
		return 0, "", err
	}
	name, _, _ = strings.Cut(string(d.scratch[:256]), "\x00")
	name = fmt.Sprintf("%s, compute capability %d.%d, CUDA %d.%d", name, capability[0], capability[1], version/1000, version%1000/10)
	if capability[0] < 7 {
		return 0, "", fmt.Errorf("%s is too old: want compute capability 7.0 or newer", name)
	}
	context, err = d.get("cuDevicePrimaryCtxRetain", device)
	return context, name, err
}
