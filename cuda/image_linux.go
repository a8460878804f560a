//go:build amd64 || arm64

package cuda

import (
	"debug/elf"
	"encoding/binary"
	"runtime"
	"unsafe"
)

// program is the child process in machine code: it calls functions of libraries by request.
func program()

var _ = program // it is copied, never called

// code returns the address of program.
func code() *byte

// Addresses in the image of the child process. It has two segments: what does not change, with the
// program at its end, and what the loader fills in. They are in different pages of any size up to
// 64 KiB, although they are beside each other in the file.
const (
	programAddress = 0xe00
	programBytes   = 0x200
	threadAddress  = programAddress + 64
	dataOffset     = 0x1000 // in the file
	dataAddress    = 0x11000
	tableAddress   = programAddress + dataAddress
	tableBytes     = 256
	imageBytes     = 0x2000
	pageMost       = 0x10000
)

// machine is what differs between processors.
var machine = map[string]struct {
	number   elf.Machine
	loader   string
	symbol   uint64 // relocation: the address of a symbol
	relative uint64 // relocation: an address in the image
}{
	"amd64": {elf.EM_X86_64, "/lib64/ld-linux-x86-64.so.2", uint64(elf.R_X86_64_GLOB_DAT), uint64(elf.R_X86_64_RELATIVE)},
	"arm64": {elf.EM_AARCH64, "/lib/ld-linux-aarch64.so.1", uint64(elf.R_AARCH64_GLOB_DAT), uint64(elf.R_AARCH64_RELATIVE)},
}[runtime.GOARCH]

// image returns an executable file that loads libraries, found in the usual or the given folders,
// and runs program. Its table has the address at which a thread begins and those of the functions.
func image(libraries, functions []string, folders string) []byte {
	const segments, heads = 6, 64 + 6*56
	out := make([]byte, heads, imageBytes)
	texts := []byte{0}
	text := func(s string) uint64 {
		at := len(texts)
		texts = append(append(texts, s...), 0)
		return uint64(at)
	}
	symbols := []elf.Sym64{{}}
	relocations := []elf.Rela64{{Off: tableAddress, Info: machine.relative, Addend: threadAddress}}
	for i, f := range functions {
		symbols = append(symbols, elf.Sym64{Name: uint32(text(f)), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)})
		relocations = append(relocations, elf.Rela64{Off: tableAddress + 8*uint64(i+1), Info: uint64(i+1)<<32 | machine.symbol})
	}
	var dynamic []elf.Dyn64
	entry := func(tag elf.DynTag, v uint64) { dynamic = append(dynamic, elf.Dyn64{Tag: int64(tag), Val: v}) }
	for _, l := range libraries {
		entry(elf.DT_NEEDED, text(l))
	}
	entry(elf.DT_RUNPATH, text(folders))

	put := func(at int, v any) { // at an offset
		if _, err := binary.Encode(out[at:imageBytes], binary.LittleEndian, v); err != nil {
			panic(err) // too many functions for the image
		}
	}
	add := func(v any) uint64 {
		at := (len(out) + 7) &^ 7
		put(at, v)
		out = out[:at+binary.Size(v)]
		return uint64(at)
	}
	loader := add([]byte(machine.loader + "\x00"))
	// A hash table without entries: nobody looks up symbols here.
	entry(elf.DT_HASH, add(append([]uint32{1, uint32(len(symbols)), 0}, make([]uint32, len(symbols))...)))
	entry(elf.DT_SYMTAB, add(symbols))
	entry(elf.DT_SYMENT, 24)
	entry(elf.DT_STRTAB, add(texts))
	entry(elf.DT_STRSZ, uint64(len(texts)))
	entry(elf.DT_RELA, add(relocations))
	entry(elf.DT_RELASZ, uint64(binary.Size(relocations)))
	entry(elf.DT_RELAENT, 24)
	entry(elf.DT_FLAGS, uint64(elf.DF_BIND_NOW))
	entry(elf.DT_NULL, 0)
	if len(out) > programAddress || 8*len(relocations) > tableBytes || dataAddress+binary.Size(dynamic) > tableAddress {
		panic("cuda: too many functions for the image")
	}
	put(programAddress, unsafe.Slice(code(), programBytes))
	put(dataOffset, dynamic)

	head := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(machine.number), Version: 1, Entry: programAddress,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: segments}
	copy(head.Ident[:], []byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1})
	put(0, head)
	segment := func(kind elf.ProgType, flags elf.ProgFlag, offset, address, size, align uint64) elf.Prog64 {
		return elf.Prog64{Type: uint32(kind), Flags: uint32(flags), Off: offset, Vaddr: address, Paddr: address, Filesz: size, Memsz: size, Align: align}
	}
	put(64, []elf.Prog64{
		segment(elf.PT_PHDR, elf.PF_R, 64, 64, segments*56, 8), // by which the loader knows where it put this
		segment(elf.PT_INTERP, elf.PF_R, loader, loader, uint64(len(machine.loader)+1), 1),
		segment(elf.PT_LOAD, elf.PF_R|elf.PF_X, 0, 0, dataOffset, pageMost),
		segment(elf.PT_LOAD, elf.PF_R|elf.PF_W, dataOffset, dataAddress, imageBytes-dataOffset, pageMost),
		segment(elf.PT_DYNAMIC, elf.PF_R|elf.PF_W, dataOffset, dataAddress, uint64(binary.Size(dynamic)), 8),
		segment(elf.PT_GNU_STACK, elf.PF_R|elf.PF_W, 0, 0, 0, 16),
	})
	return out[:imageBytes]
}
