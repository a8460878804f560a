package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Registers of arm64. The last vector register holds an operand that amd64 takes from memory; general
// registers above those of amd64 hold addresses.
const (
	vectors  = 31   // for variables
	table64  = "R7" // address of the constants
	scratch  = "R16"
	firstTmp = 19
	temps    = 7
)

// general is where the general registers of amd64 are.
var general = map[string]string{"AX": "R0", "CX": "R1", "DX": "R2", "BX": "R3", "SI": "R4", "DI": "R5", "BP": "R6"}

// operations are the vector instructions whose result is of two sources, or of one that is the
// last. Go's assembler knows few of them, so all are given by their bits.
var operations = map[string]struct {
	name string
	bits uint32
}{
	"VADDPD":       {"FADD D2", 0x4e60d400},
	"VSUBPD":       {"FSUB D2", 0x4ee0d400},
	"VMULPD":       {"FMUL D2", 0x6e60dc00},
	"VDIVPD":       {"FDIV D2", 0x6e60fc00},
	"VMINPD":       {"FMIN D2", 0x4ee0f400}, // NaN if one is; amd64 gives the second source
	"VMAXPD":       {"FMAX D2", 0x4e60f400},
	"VFMADD231PD":  {"FMLA D2", 0x4e60cc00},
	"VFNMADD231PD": {"FMLS D2", 0x4ee0cc00},
	"VANDPD":       {"AND", 0x4e201c00},
	"VORPD":        {"ORR", 0x4ea01c00},
	"VXORPD":       {"EOR", 0x6e201c00},
	"VPADDQ":       {"ADD D2", 0x4ee08400},
	"VPSUBQ":       {"SUB D2", 0x6ee08400},
	"VPMAXSD":      {"SMAX S4", 0x4ea06400},
	"VDIVPS":       {"FDIV S2", 0x2e20fc00},
	"VSQRTPS":      {"FSQRT S2", 0x2ea1f800},
	"VCVTPD2PSX":   {"FCVTN S2", 0x0e616800},
	"VCVTPS2PD":    {"FCVTL D2", 0x0e617800},
}

// shifts have the sum or difference of a number and the count in bits 16 to 22.
var shifts = map[string]func(n uint32) uint32{
	"VPSRLQ": func(n uint32) uint32 { return 0x6f000400 | (128-n)<<16 },
	"VPSLLQ": func(n uint32) uint32 { return 0x4f005400 | (64+n)<<16 },
}

var jumps = map[string]string{"JMP": "B", "JE": "BEQ", "JZ": "BEQ", "JNE": "BNE", "JNZ": "BNE", "JL": "BLT", "JGE": "BGE"}

// translator writes a function of amd64 assembly, as avo prints it, in that of arm64.
type translator struct {
	out      strings.Builder
	sums     []string // base, index and scale of addresses in temporary registers, "" for none
	next     int      // of them
	constant bool     // the function has constants
}

// translateFile replaces the amd64 assembly in a file.
func translateFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var out strings.Builder
	var f *translator // of the present function
	finish := func() {
		if f == nil {
			return
		}
		if f.constant {
			fmt.Fprintf(&out, "\tMOVD $numbers<>(SB), %s\n", table64)
		}
		out.WriteString(f.out.String())
		f = nil
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "// Requires:"):
		case strings.HasPrefix(line, "TEXT"):
			finish()
			fmt.Fprintln(&out, line)
			f = &translator{sums: make([]string, temps)}
		case f != nil && strings.HasPrefix(line, "\t"):
			if err := f.instruction(line); err != nil {
				return fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
			}
		case f != nil && strings.HasSuffix(line, ":"):
			clear(f.sums)
			fmt.Fprintln(&f.out, line)
		case f != nil && line == "":
		default:
			finish()
			fmt.Fprintln(&out, line)
		}
	}
	finish()
	return os.WriteFile(path, []byte(out.String()), 0o644)
}

func (f *translator) emit(format string, args ...any) { fmt.Fprintf(&f.out, "\t"+format+"\n", args...) }

// instruction writes one instruction.
func (f *translator) instruction(line string) error {
	op, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	args := strings.Split(strings.TrimSpace(rest), ", ")
	last := args[len(args)-1]
	if name, ok := jumps[op]; ok {
		f.emit("%s %s", name, last)
		return nil
	}
	switch op {
	case "VZEROUPPER":
		return nil
	case "RET":
		f.emit("RET")
		return nil
	case "VMOVUPD", "VMOVUPS", "VMOVAPD":
		f.move(args[0], last)
		return nil
	case "VMOVDDUP":
		f.emit("VLD1R (%s), [V%d.D2]", f.pointer(args[0]), vector(last))
		return nil
	case "VCMPPD": // greater than, with the sources in this order or the other
		x, y := vector(args[2]), vector(args[1])
		if args[0] == fmt.Sprintf("$0x%02x", lessThan) {
			x, y = y, x
		}
		f.word("FCMGT D2", 0x6ee0e400, y, x, vector(last))
		return nil
	case "VBLENDVPD":
		if args[2] != last {
			return fmt.Errorf("want the result in the place of the third source")
		}
		f.word("BIT", 0x6ea01c00, vector(args[0]), vector(args[1]), vector(last))
		return nil
	}
	if bits, ok := shifts[op]; ok {
		n, err := strconv.ParseUint(args[0][1:], 0, 6)
		f.word(op, bits(uint32(n)), 0, vector(args[1]), vector(last))
		return err
	}
	if o, ok := operations[op]; ok {
		second := uint32(0)
		if len(args) == 3 {
			second = f.source(args[0])
		}
		f.word(o.name, o.bits, second, vector(args[len(args)-2]), vector(last))
		return nil
	}
	return f.integer(op, args)
}

// word writes a vector instruction with sources x and y.
func (f *translator) word(name string, bits, y, x, d uint32) {
	f.emit("WORD $0x%08x // %s V%d, V%d, V%d", bits|y<<16|x<<5|d, name, y, x, d)
}

// vector is the number of a vector register.
func vector(name string) uint32 {
	n, err := strconv.Atoi(name[1:])
	if err != nil || name[0] != 'X' {
		panic("not a vector register: " + name)
	}
	if n >= vectors {
		panic("too many vector registers")
	}
	return uint32(n)
}

// source is the number of a vector register, or of the last one with what is in memory.
func (f *translator) source(name string) uint32 {
	if !isMemory(name) {
		return vector(name)
	}
	f.emit("FMOVQ %s, F%d", f.memory(name), vectors)
	return vectors
}

// move writes a move between vector registers and memory.
func (f *translator) move(from, to string) {
	switch {
	case isMemory(from):
		f.emit("FMOVQ %s, F%d", f.memory(from), vector(to))
	case isMemory(to):
		f.emit("FMOVQ F%d, %s", vector(from), f.memory(to))
	default:
		f.word("ORR", 0x4ea01c00, vector(from), vector(from), vector(to))
	}
}

// integer writes an instruction on general registers.
func (f *translator) integer(op string, args []string) error {
	first, last := args[0], args[len(args)-1]
	if op == "CMPQ" { // of the first with the second
		f.emit("CMP %s, %s", f.value(last), register(first))
		return nil
	}
	if op == "MOVQ" && isMemory(last) {
		f.emit("MOVD %s, %s", register(first), f.memory(last))
		return nil
	}
	d := register(last)
	switch op {
	case "TESTQ":
		f.emit("TST %s, %s", f.value(first), d)
		return nil
	case "MOVQ":
		if isMemory(first) {
			f.emit("MOVD %s, %s", f.memory(first), d)
		} else {
			f.emit("MOVD %s, %s", f.value(first), d)
		}
	case "LEAQ":
		base, offset := f.address(first)
		f.emit("ADD $%d, %s, %s", offset, base, d)
	case "ADDQ":
		f.emit("ADD %s, %s", f.value(first), d)
	case "SUBQ":
		f.emit("SUBS %s, %s", f.value(first), d)
	case "DECQ":
		f.emit("SUBS $1, %s", d)
	case "IMULQ":
		f.emit("MUL %s, %s", register(first), d)
	case "IMUL3Q":
		f.emit("MOVD %s, %s", first, scratch)
		f.emit("MUL %s, %s, %s", scratch, register(args[1]), d)
	case "SHLQ":
		f.emit("LSL %s, %s", first, d)
	case "XORQ":
		if first != last {
			return fmt.Errorf("want a register with itself")
		}
		f.emit("MOVD ZR, %s", d)
	default:
		return fmt.Errorf("unknown instruction")
	}
	for i, s := range f.sums { // those of addresses that it changed
		if slices.Contains(strings.Split(s, " "), d) {
			f.sums[i] = ""
		}
	}
	return nil
}

func isMemory(arg string) bool { return strings.HasSuffix(arg, ")") }

// register is the name of a general register.
func register(name string) string {
	if r, ok := general[name]; ok {
		return r
	}
	return name
}

// value is a number, a register, or what is in memory.
func (f *translator) value(arg string) string {
	if arg[0] == '$' {
		return arg
	}
	if isMemory(arg) {
		f.emit("MOVD %s, %s", f.memory(arg), scratch)
		return scratch
	}
	return register(arg)
}

var (
	constantAt = regexp.MustCompile(`^numbers<>\+(\d+)\(SB\)$`)
	stackAt    = regexp.MustCompile(`^(\d*)\(SP\)$`)
	memoryAt   = regexp.MustCompile(`^(-?\d*)\((\w+)\)(?:\((\w+)\*(\d)\))?$`)
)

// address returns base and offset of a memory operand.
func (f *translator) address(arg string) (base string, offset int) {
	if m := constantAt.FindStringSubmatch(arg); m != nil {
		f.constant = true
		offset, _ = strconv.Atoi(m[1])
		return table64, offset
	}
	if m := stackAt.FindStringSubmatch(arg); m != nil {
		offset, _ = strconv.Atoi(m[1])
		return "RSP", offset + 8 // after the return address
	}
	m := memoryAt.FindStringSubmatch(arg)
	if m == nil {
		panic("memory operand " + arg)
	}
	offset, _ = strconv.Atoi(m[1])
	base = register(m[2])
	if m[3] == "" {
		return base, offset
	}
	// A sum of registers is kept for other operands with the same one.
	index, shift := register(m[3]), strings.Index("1248", m[4])
	key := fmt.Sprint(base, " ", index, " ", shift)
	i := slices.Index(f.sums, key)
	if i < 0 {
		i, f.next = f.next, (f.next+1)%temps
		f.sums[i] = key
		f.emit("ADD %s<<%d, %s, R%d", index, shift, base, firstTmp+i)
	}
	return fmt.Sprint("R", firstTmp+i), offset
}

// memory is a memory operand.
func (f *translator) memory(arg string) string {
	if strings.HasSuffix(arg, "(FP)") {
		return arg
	}
	base, offset := f.address(arg)
	return fmt.Sprintf("%d(%s)", offset, base)
}

// pointer is a register with the address of a memory operand.
func (f *translator) pointer(arg string) string {
	if strings.HasSuffix(arg, "(FP)") {
		f.emit("MOVD $%s, %s", arg, scratch)
		return scratch
	}
	base, offset := f.address(arg)
	if offset == 0 {
		return base
	}
	f.emit("ADD $%d, %s, %s", offset, base, scratch)
	return scratch
}
