// Command stripped measures the loops of the small orders of package spd without their
// dependencies: the same instructions on registers that nothing waits for. What a loop takes longer in
// earnest it spends waiting, not working. It prints cycles for eight pairs: of all instructions, of all but
// the stores, and of all but divisions and roots.
//
// Run it in the folder bench, on a processor with AVX-512. It writes a program to a temporary folder and runs it.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	source := flag.String("source", "../spd/kernels_amd64.s", "assembly of package spd")
	flag.Parse()
	if err := run(*source); err != nil {
		fmt.Fprintln(os.Stderr, "stripped:", err)
		os.Exit(1)
	}
}

// variants are what can be left out of a loop.
var variants = []struct {
	name string
	omit *regexp.Regexp
}{
	{"all", regexp.MustCompile(`^$`)},
	{"no stores", regexp.MustCompile(`^VMOVUP[DS]\s+[YZ]\d+, .*\)$`)},
	{"no divisions", regexp.MustCompile(`^V(DIV|SQRT)P`)},
}

func run(source string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "stripped")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var asm, decl, table bytes.Buffer
	fmt.Fprint(&asm, "#include \"textflag.h\"\n\nDATA one<>+0(SB)/8, $1.0\nGLOBL one<>(SB), RODATA|NOPTR, $8\n")
	for _, isa := range []string{"AVX512", "AVX2"} {
		for p := 2; p <= 8; p++ {
			body, err := loop(string(text), isa, p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&table, "\t{%q, []func(int){", fmt.Sprintf("%-6s P=%d", isa, p))
			for i, v := range variants {
				name := fmt.Sprintf("loop%s_%d_%d", isa, p, i)
				write(&asm, name, isa, strip(body, isa, v.omit))
				fmt.Fprintf(&decl, "func %s(n int)\n", name)
				fmt.Fprintf(&table, "%s, ", name)
			}
			fmt.Fprint(&table, "}},\n")
		}
	}
	header := "             "
	for _, v := range variants {
		header += fmt.Sprintf("%14s", v.name)
	}
	program := fmt.Sprintf(harness, decl.String(), table.String(), header)
	for name, content := range map[string]string{
		"go.mod": "module stripped\n\ngo 1.26\n", "main.go": program, "loops_amd64.s": asm.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	return cmd.Run()
}

// loop returns the instructions of the loop over tiles for one order.
func loop(text, isa string, p int) ([]string, error) {
	_, text, ok := strings.Cut(text, "TEXT ·cross"+isa+"(SB)")
	if ok {
		_, text, ok = strings.Cut(text, fmt.Sprintf("\nloop%d:\n", p))
	}
	var end bool
	text, _, end = strings.Cut(text, "\tDECQ ")
	if !ok || !end {
		return nil, errors.New("no loop of order " + fmt.Sprint(p) + " for " + isa)
	}
	return strings.Split(text, "\n"), nil
}

var (
	register = regexp.MustCompile(`^([XYZ])\d+$`)
	address  = regexp.MustCompile(`^(\d*)\(([A-Z0-9]+)\)(?:\((R\d+)\*1\))?$`)
	bases    = []string{"AX", "BX", "CX", "DX", "SI", "DI", "BP", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}
)

// strip lets every instruction read the last register and write another, in turn if it also reads it. Every base
// register has a part of the buffer to itself; what is written lies apart from what is read, also modulo 4096, by
// which the processor compares addresses first.
func strip(body []string, isa string, omit *regexp.Regexp) []string {
	registers := 32
	if isa == "AVX2" {
		registers = 16
	}
	offset := map[string]int{}
	for n, b := range bases {
		offset[b] = 8192 * n
	}
	for _, line := range body {
		if m := variants[1].omit.FindString(strings.TrimSpace(line)); m != "" {
			_, to, _ := strings.Cut(m, ", ")
			m := address.FindStringSubmatch(to)
			offset[m[2]] = offset[m[2]]&^4095 + 2304 + 512
		}
	}
	var out []string
	next := 0
	for _, line := range body {
		line = strings.TrimSpace(line)
		op, rest, ok := strings.Cut(line, " ")
		if !ok || omit.MatchString(line) || op[0] != 'V' {
			continue
		}
		args := strings.Split(strings.TrimSpace(rest), ", ")
		zero := op == "VXORPD" && args[0] == args[1]
		for i, a := range args {
			switch m, r := address.FindStringSubmatch(a), register.FindStringSubmatch(a); {
			case r != nil && i == len(args)-1:
				args[i] = r[1] + "0"
				if strings.HasPrefix(op, "VF") || strings.HasPrefix(op, "VPTERN") { // reads it, too
					args[i] = fmt.Sprint(r[1], 1+next%(registers-2))
					next++
				}
				if zero {
					args[0], args[1] = args[i], args[i]
				}
			case r != nil:
				args[i] = fmt.Sprint(r[1], registers-1)
			case m != nil:
				var at int
				fmt.Sscan(m[1], &at)
				at += offset[m[2]]
				if m[3] != "" {
					at += 4096 + int(m[3][2])%2*512 // one of two tiles
				}
				args[i] = fmt.Sprintf("%d(AX)", at)
			case strings.HasSuffix(a, "(SB)"):
				args[i] = "(AX)" // a constant
			}
		}
		out = append(out, op+" "+strings.Join(args, ", "))
	}
	return out
}

func write(w *bytes.Buffer, name, isa string, body []string) {
	fmt.Fprintf(w, "\nTEXT ·%s(SB), NOSPLIT, $0-8\n\tMOVQ n+0(FP), CX\n\tLEAQ ·buffer(SB), AX\n\tADDQ $63, AX\n\tANDQ $~63, AX\n", name)
	for i := range 32 {
		if isa == "AVX512" {
			fmt.Fprintf(w, "\tVBROADCASTSD one<>(SB), Z%d\n", i)
		} else if i < 16 {
			fmt.Fprintf(w, "\tVBROADCASTSD one<>(SB), Y%d\n", i)
		}
	}
	fmt.Fprintf(w, "loop:\n\t%s\n\tDECQ CX\n\tJNZ loop\n\tVZEROUPPER\n\tRET\n", strings.Join(body, "\n\t"))
}

// harness is the program: declarations, table and header are filled in.
const harness = `package main

import (
	"fmt"
	"os"
	"time"
)

%s
var buffer [20 << 10]float64

var table = []struct {
	name  string
	loops []func(int)
}{
%s}

func main() {
	for i := range buffer {
		buffer[i] = 1
	}
	ghz := clock()
	fmt.Println(%q)
	for _, t := range table {
		fmt.Print(t.name, "   ")
		for _, f := range t.loops {
			const n = 200
			best := time.Duration(1 << 62)
			for range 3000 {
				t := time.Now()
				f(n)
				best = min(best, time.Since(t))
			}
			fmt.Printf("%%14.1f", float64(best.Nanoseconds())*ghz/n)
		}
		fmt.Println()
	}
}

func clock() float64 {
	best := time.Duration(1 << 62)
	const n = 1 << 15
	for range 200 {
		x := uint64(len(os.Args))
		t := time.Now()
		for range n {
			x = (x ^ x>>7) + 3
		}
		best = min(best, time.Since(t))
		if x == 1 {
			panic("unreachable")
		}
	}
	return 3 * n / float64(best.Nanoseconds())
}
`
