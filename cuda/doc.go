// Package cuda computes kernels of package spd on an NVIDIA GPU, with the same bits.
//
// It needs the driver alone, not CUDA. The device code is PTX text, which the driver compiles;
// kernels.cu is its source (make generate-cuda). This program is static and cannot load the
// driver's library. So a child process does (process): a few instructions that call functions by
// request, with memory that both processes share.
package cuda

// maxOrder is the greatest order of matrices that the GPU compares.
const maxOrder = 64
