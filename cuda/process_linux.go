//go:build amd64 || arm64

package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// process is a child that calls functions of shared libraries for this process, which is static
// and cannot load any. Both have a piece of memory in common. What goes wrong in a library ends
// the child alone.
type process struct {
	command *exec.Cmd
	wait    sync.Once // for its end
	stderr  bytes.Buffer
	memory  []byte // shared
	theirs  uint64 // its address in the child
	begin   uint64 // where a thread of the child begins
	address map[string]uint64
	threads []*thread
}

// thread is a thread of the child. It carries out one call at a time.
type thread struct {
	p      *process
	socket *os.File
}

// request is what the program of the child reads and writes.
type request struct {
	Function uint64
	Args     [11]uint64
	Result   uint64
}

// errEnded means that the child is no more.
var errEnded = errors.New("the process that calls the GPU's driver has ended")

// startTimeout bounds the start of the child, which loads libraries.
const startTimeout = 20 * time.Second

// start returns a child that has loaded libraries and knows functions of them, and shares the given
// number of bytes. It has n threads.
func start(libraries, functions []string, folders string, size, n int) (_ *process, err error) {
	functions = append([]string{"mmap", "pthread_create"}, functions...)
	program, err := memory("mlg", image(append([]string{"libc.so.6", "libpthread.so.0"}, libraries...), functions, folders), 0)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	shared, err := memory("mlg-memory", nil, size)
	if err != nil {
		return nil, err
	}
	defer shared.Close()
	p := &process{address: map[string]uint64{}}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			p.stop()
		}
	}()
	for range n {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		unix.SetNonblock(pair[0], true) // for deadlines
		p.threads = append(p.threads, &thread{p, os.NewFile(uintptr(pair[0]), "driver")})
		theirs = append(theirs, os.NewFile(uintptr(pair[1]), "driver"))
	}
	if p.memory, err = unix.Mmap(int(shared.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, err
	}
	p.command = exec.Command(fmt.Sprintf("/proc/self/fd/%d", 3+len(theirs)+1))
	p.command.Stderr = &p.stderr
	p.command.ExtraFiles = append(append(theirs, shared), program)
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	for _, f := range theirs {
		f.Close() // so that the end of the child is seen
	}
	theirs = nil
	if err := p.meet(functions, size); err != nil {
		return nil, err
	}
	return p, nil
}

// memory returns a file in memory.
func memory(name string, data []byte, size int) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory for the driver: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.Write(data); err == nil && size > 0 {
		err = f.Truncate(int64(size))
	}
	if err != nil {
		f.Close()
	}
	return f, err
}

// meet learns the addresses of the functions, maps the shared memory in the child, and starts its
// further threads.
func (p *process) meet(functions []string, size int) error {
	first := p.threads[0]
	table := make([]uint64, tableBytes/8)
	first.socket.SetReadDeadline(time.Now().Add(startTimeout))
	if err := binary.Read(first.socket, binary.LittleEndian, table); err != nil {
		return p.ended(err)
	}
	first.socket.SetReadDeadline(time.Time{})
	p.begin = table[0]
	for i, f := range functions {
		p.address[f] = table[i+1]
	}
	n := len(p.threads)
	var err error
	p.theirs, err = first.call("mmap", 0, uint64(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, uint64(3+n), 0)
	if err == nil && int64(p.theirs) < 0 {
		err = errors.New("the driver's process cannot map the shared memory")
	}
	for i := 1; i < n && err == nil; i++ {
		var failed uint64
		if failed, err = first.call("pthread_create", p.theirs, 0, p.begin, uint64(3+i)); err == nil && failed != 0 {
			err = fmt.Errorf("the driver's process cannot start a thread: %w", unix.Errno(failed))
		}
	}
	return err
}

// call calls a function of the child with integers and addresses.
func (t *thread) call(function string, args ...uint64) (uint64, error) {
	r := request{Function: t.p.address[function]}
	if r.Function == 0 || copy(r.Args[:], args) < len(args) {
		panic("cuda: " + function + " is not known, or has too many arguments")
	}
	if err := binary.Write(t.socket, binary.LittleEndian, &r); err != nil {
		return 0, t.p.ended(err)
	}
	if err := binary.Read(t.socket, binary.LittleEndian, &r); err != nil {
		return 0, t.p.ended(err)
	}
	return r.Result, nil
}

// at returns the address in the child of a slice of the shared memory.
func (p *process) at(b []byte) uint64 {
	return p.theirs + uint64(uintptr(unsafe.Pointer(&b[0]))-uintptr(unsafe.Pointer(&p.memory[0])))
}

// ended returns why the child does not answer.
func (p *process) ended(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the driver did not start within %v", startTimeout)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return err
	}
	p.wait.Do(func() { p.command.Wait() })
	why := strings.TrimSpace(p.stderr.String())
	if why == "" {
		why = p.command.ProcessState.String()
	}
	return fmt.Errorf("%w (%s): try again, or compute on the CPU", errEnded, why)
}

// stop ends the child.
func (p *process) stop() {
	for _, t := range p.threads {
		t.socket.Close()
	}
	if p.command != nil && p.command.Process != nil {
		p.command.Process.Kill()
		p.wait.Do(func() { p.command.Wait() })
	}
	if p.memory != nil {
		unix.Munmap(p.memory)
	}
}
