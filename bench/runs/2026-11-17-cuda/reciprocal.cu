// Compares reciprocal of cuda/kernels.cu with the correctly rounded one, on random mantissas, a
// quarter of them near or at those with special bits:
//
//	nvcc -fmad=false -arch=sm_90 -o reciprocal reciprocal.cu && ./reciprocal
#include <cstdio>
typedef unsigned long long u64;

__device__ double reciprocal(double d) {
	double y;
	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
	double e = fma(-d, y, 1.0);
	y = __fma_ru(y, fma(e, e, e), y);
	return fma(y, fma(-d, y, 1.0), y);
}

__device__ u64 mix(u64 x) {
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

__global__ void check(u64 seed, int each, u64 *wrong) {
	u64 id = blockIdx.x * (u64)blockDim.x + threadIdx.x;
	for (int k = 0; k < each; k++) {
		u64 z = mix(seed + id * each + k), m = z & ((1ull << 52) - 1), e = 1023 - 127 + (z >> 52) % 255;
		switch (z >> 60 & 7) {
		case 0: m = ((1ull << 52) - 1) - (m & 0xffff); break;
		case 1: m &= 0xffff; break;
		}
		double d = __longlong_as_double(e << 52 | m);
		if (reciprocal(d) != __drcp_rn(d))
			atomicAdd(wrong, 1ull);
	}
}

int main() {
	u64 *wrong, n = 0;
	cudaMalloc(&wrong, 8);
	cudaMemcpy(wrong, &n, 8, cudaMemcpyHostToDevice);
	for (u64 r = 1; r <= 20; r++)
		check<<<132 * 64, 256>>>(r * 0x9e3779b97f4a7c15ull, 4096, wrong);
	cudaMemcpy(&n, wrong, 8, cudaMemcpyDeviceToHost);
	printf("%llu of %llu wrong, %s\n", n, 20ull * 132 * 64 * 256 * 4096, cudaGetErrorString(cudaGetLastError()));
}
