package dense

import "golang.org/x/sys/cpu"

// Fused tells whether the processor has fused multiply-adds.
var Fused = cpu.X86.HasFMA
