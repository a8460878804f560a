#!/bin/bash
# cycles.sh ORDER...: instructions and cycles for a pair of matrices, by the assembly of spd for arm64
# and AVX2, as a table.
#
# qemu follows one row of 32 pairs and lists the instructions that dets and values execute;
# llvm-mca schedules this list for models of processors. It knows nothing of caches and takes every
# branch for predicted. Needs Debian's qemu-user-static and llvm-19.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
pairs=32

# build ARCH FUNCTIONS: builds the program for an architecture.
build() {
	CGO_ENABLED=0 GOARCH=$1 go build -o "$tmp/$1" ./bench/cycles
	ranges=$(go tool nm -size "$tmp/$1" | awk -v f="$2" '$4 ~ "spd\\.(" f ")" {printf "%s0x%s+%d", sep, $1, $2; sep = ","}')
	llvm-objdump-19 -d --no-show-raw-insn "$tmp/$1" | sed -nE 's/^ *([0-9a-f]+):[ \t]*/\1\t/p' | sed -E 's/ *<.*//; s/ *(#|\/\/) .*//' > "$tmp/code"
}

# trace QEMU ARCH ORDER OPTIONS: the executed instructions, in the order of execution. Without
# preemption by signals, after which qemu lists an instruction again, every run gives the same list.
trace() {
	GODEBUG=asyncpreemptoff=1 "$1" ${4:-} -singlestep -d nochain,exec -dfilter "$ranges" -D "$tmp/log" "$tmp/$2" "$3" > "$tmp/output"
	awk -F'\t' 'NR == FNR { i = $1; sub(/^[^\t]*\t/, ""); code[i] = $0; next }
		{ split($0, f, "/"); sub(/^0+/, "", f[2]); print code[f[2]] }' "$tmp/code" "$tmp/log" > "$tmp/trace"
}

# cycles MARCH CPU: of a pair, by the model of a processor.
cycles() {
	llvm-mca-19 -march="$1" -mcpu="$2" -iterations=1 -instruction-info=false -resource-pressure=false "$tmp/trace" 2>"$tmp/errors" |
		awk -v n=$pairs '/^Total Cycles:/ {printf "%.1f", $3 / n}'
}

echo "| code | P | instructions | model | cycles |"
echo "|---|---|---|---|---|"
run() { # name, arch, functions, qemu, march, options of qemu, models
	build "$2" "$3"
	for p in $orders; do
		trace "$4" "$2" "$p" "$6"
		for cpu in $7; do
			printf '| %s | %s | %.1f | %s | %s |\n' "$1" "$p" "$(awk -v n=$pairs 'END {print NR / n}' "$tmp/trace")" "$cpu" "$(cycles "$5" "$cpu")"
		done
	done
}
orders=${*:-4 10 16 32}
run NEON arm64 '(dets|values)NEON' qemu-aarch64-static aarch64 '' 'neoverse-n1 neoverse-v1 apple-m1'
run AVX2 amd64 '(dets|values)AVX2' qemu-x86_64-static x86-64 '-cpu max' 'skylake-avx512 sapphirerapids'
