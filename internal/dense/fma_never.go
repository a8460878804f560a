//go:build !(amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package dense

// Fused tells whether the processor has fused multiply-adds.
const Fused = false
