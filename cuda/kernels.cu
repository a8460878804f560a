// Bhattacharyya kernels of pairs of matrices, by the operations of package spd in their order, so that
// values have the same bits (docs/explanation/spd.md). cross is spd.Cross, products and factors are
// spd.Factors.Cross. generate.py compiles this file for each ORDER, with FACTORS 0 or 1, without fusing
// products with sums that are not written as fma.
//
// A matrix of a smaller order becomes one of ORDER by further rows of zeros. On the diagonal they have
// what makes pivots 1, which change no bit.

typedef long long i64;

constexpr int P = ORDER;
constexpr int SIZE = P * (P + 1) / 2;

// The first 32 bits of spd.leastPivot = 2^-127, and of 2^127, which no pivot of a sum reaches.
constexpr unsigned LEAST = (1023 - 127) << 20, MOST = (1023 + 127) << 20;

// Pairs for which one thread has enough registers are factored by one, others by THREADS of a warp.
constexpr int THREADS = P <= 16 ? 1 : P <= 24 ? 4 : P <= 32 ? 8 : P <= 48 ? 16 : 32;
constexpr int WARPS = THREADS == 1 ? 4 : 2; // of a block

// reciprocal returns 1/d, correctly rounded, for a pivot in range: an approximation and two steps of
// Newton's method, the last with an exact residual (Markstein's theorem). The first step rounds up. So
// the last is right too where all bits of the mantissa are set. Other numbers give anything.
__device__ double reciprocal(double d) {
	double y;
	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
	double e = fma(-d, y, 1.0);
	y = __fma_ru(y, fma(e, e, e), y);
	return fma(y, fma(-d, y, 1.0), y);
}

__device__ double scale(double x, i64 n) { return x * __longlong_as_double((n + 1023) << 52); }

// Determinant is mant·4^expo. mant is negative after a pivot out of range.
struct Determinant {
	double mant;
	i64 expo;
	bool bad;

	__device__ Determinant() : mant(1), expo(0), bad(false) {}

	// times multiplies by pivot c. The product of eight pivots in range does not overflow.
	__device__ void times(double d, int c) {
		bad |= (unsigned)__double2hiint(d) - LEAST >= MOST - LEAST;
		mant *= d;
		if (c % 8 == 7 || c == P - 1) {
			i64 b = __double_as_longlong(mant);
			expo += (b >> 53) - 511;
			mant = __longlong_as_double((b & ((1LL << 53) - 1)) | (1022LL << 52));
		}
	}

	// value is spd.value with the end of spd.values.
	__device__ double value(double ae, double ac, i64 ax, double be, double bc, i64 bx) const {
		double r = __frcp_rn(__fsqrt_rn(__double2float_rn(mant)));
		double rho = fma(-mant, r * r, 1.0) + (ac + bc);
		double y = r * (ae * be);
		double k = fma(y * rho, fma(0.375, rho, 0.5), y);
		i64 q = ax + bx - expo;
		q = q < -2040 ? -2040 : q;
		k = scale(scale(k, q >> 1), q - (q >> 1));
		k = k > 1 ? 1 : k;
		return bad ? __longlong_as_double(0x7ff8000000000000LL) : k;
	}
};

__device__ constexpr int entry(int r, int c) { return r * (r + 1) / 2 + c; }

#if FACTORS

// products sets u = q v: rows of q have p numbers, v is in panels of p×PANEL (dense.PanelWidth).
constexpr int PANEL = 12, HEIGHT = 8; // rows of a block

extern "C" __global__ void products(double *u, const double *__restrict__ q, int rows, int p, const double *__restrict__ v, int columns) {
	__shared__ __align__(16) double qs[64 * HEIGHT];
	int r0 = blockIdx.y * HEIGHT, n = min(HEIGHT, rows - r0);
	for (int k = threadIdx.x; k < HEIGHT * p; k += blockDim.x)
		qs[k % p * HEIGHT + k / p] = k < n * p ? q[(i64)r0 * p + k] : 0;
	__syncthreads();
	int c = blockIdx.x * blockDim.x + threadIdx.x;
	if (c >= columns)
		return;
	v += (i64)(c / PANEL) * PANEL * p + c % PANEL;
	double s[HEIGHT] = {};
#pragma unroll 4
	for (int k = 0; k < p; k++) {
		double y = v[k * PANEL];
#pragma unroll
		for (int i = 0; i < HEIGHT; i++)
			s[i] = fma(qs[k * HEIGHT + i], y, s[i]);
	}
#pragma unroll
	for (int i = 0; i < HEIGHT; i++)
		if (i < n)
			u[(r0 + i) * (i64)columns + c] = s[i];
}

struct Matrix { // where its entries and its rows of U are, and how many rows
	int entries, rows, order;
};

struct Matrices { // A of spd.Factors.Cross: X + G/(2γ), the rows of U, (|X|·|X + G/γ|)^¼ = e·2^x
	const double *entries;
	const int *rows;
	const Matrix *at;
	const double *e;
	const i64 *x;
};

struct Tile { // of eight B: their first column of U, and columns of each
	int column, rank;
};

struct Tiles { // (|H₁|/|H₂|²)^¼ = e·2^x
	const Tile *at;
	const double *e;
	const i64 *x;
};

// Common is what a block of threads has of one matrix A.
struct Common {
	double g[SIZE];
	int row[P]; // where it begins in U

	// load takes a matrix. Row 0 of U is zero and stands for those that it does not have.
	__device__ void load(const Matrices &a, int i, int columns) {
		Matrix x = a.at[i];
		for (int e = threadIdx.x; e < SIZE; e += 32 * WARPS)
			g[e] = e < entry(x.order, 0) ? a.entries[x.entries + e] : 0;
		__syncthreads();
		for (int r = threadIdx.x; r < P; r += 32 * WARPS) {
			row[r] = r < x.order ? a.rows[x.rows + r] * columns : 0;
			if (r >= x.order)
				g[entry(r, r)] = 1;
		}
		__syncthreads();
	}
};

#else

struct Roots { // of many matrices: |2A|^¼ = e·2^x, and the correction c
	const double *e, *c;
	const i64 *x;
};

// layout unpacks n matrices of order p from tiles of eight: entry e of matrix i goes to
// dst[e*entry + i*matrix].
extern "C" __global__ void layout(double *dst, i64 entry, i64 matrix, const double *tiles, int first, int n, int p) {
	i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x;
	if (at >= (i64)n * SIZE)
		return;
	int i = at % n, e = at / n;
	int r = (int)((sqrtf(8 * e + 1) - 1) / 2);
	while ((r + 1) * (r + 2) / 2 <= e)
		r++;
	while (r * (r + 1) / 2 > e)
		r--;
	double v = e == r * (r + 3) / 2 ? 0.5 : 0;
	if (r < p) {
		int l = first + i;
		v = tiles[((i64)(l / 8) * (p * (p + 1) / 2) + e) * 8 + l % 8];
	}
	dst[e * entry + i * matrix] = v;
}

#endif

#if ORDER <= 16

// One thread for a pair: B stays in its registers, rows of A come from shared memory.
constexpr int ROWS = 32;            // of A in a block
constexpr int MATRICES = 32 * WARPS; // B in a block
constexpr int SHARED = ROWS * SIZE * 8;

#if FACTORS

constexpr int STEP = P <= 12 ? P : 8; // columns at a time, for which there are enough registers

// factors compares the matrices A of a list with n matrices B. A block has one A.
extern "C" __global__ void __launch_bounds__(32 * WARPS) factors(double *dst, i64 stride, const int *list, Matrices a, const double *__restrict__ us, int columns, Tiles b, int n) {
	__shared__ Common common;
	int i = list[blockIdx.x];
	common.load(a, i, columns);
	double ae = a.e[i];
	i64 ax = a.x[i];
#pragma unroll 1
	for (int j = blockIdx.y * MATRICES + threadIdx.x; j < n; j += gridDim.y * MATRICES) {
		asm volatile("" ::: "memory"); // so that no registers keep what all B need
		Tile tile = b.at[j / 8];
		const double *y = us + tile.column + j % 8;
		double u[SIZE], inv[P]; // inv is −1/d
		Determinant det;
#pragma unroll
		for (int q = 0; q < P; q += STEP) {
#pragma unroll
			for (int r = q; r < P; r++)
#pragma unroll
				for (int c = q; c <= min(r, q + STEP - 1); c++)
					u[entry(r, c)] = common.g[entry(r, c)];
			double next[P]; // so that loads are under way in time
#pragma unroll
			for (int r = q; r < P; r++)
				next[r] = y[common.row[r]];
#pragma unroll 1
			for (int k = 1; k <= tile.rank; k++) {
				double x[P];
				int then = 8 * min(k, tile.rank - 1);
#pragma unroll
				for (int r = q; r < P; r++) {
					x[r] = next[r];
					next[r] = y[common.row[r] + then];
				}
#pragma unroll
				for (int r = q; r < P; r++)
#pragma unroll
					for (int c = q; c <= min(r, q + STEP - 1); c++)
						u[entry(r, c)] = fma(-x[r], x[c], u[entry(r, c)]);
			}
#pragma unroll
			for (int c = q; c < min(q + STEP, P); c++) {
				double t[P];
#pragma unroll
				for (int m = 0; m < c; m++)
					t[m] = u[entry(c, m)] * inv[m];
#pragma unroll
				for (int r = c; r < P; r++)
#pragma unroll
					for (int m = 0; m < c; m++)
						u[entry(r, c)] = fma(u[entry(r, m)], t[m], u[entry(r, c)]);
				double d = u[entry(c, c)];
				inv[c] = -reciprocal(d);
				det.times(d, c);
			}
		}
		dst[i * stride + j] = det.value(ae, 0, ax, b.e[j], 0, b.x[j]);
	}
}

#else

extern "C" __global__ void __launch_bounds__(32 * WARPS) cross(double *dst, i64 stride, const double *a, Roots ra, int rows, const double *b, Roots rb, int cols) {
	extern __shared__ double as[];
	int i0 = blockIdx.y * ROWS, n = min(ROWS, rows - i0);
	for (int k = threadIdx.x; k < n * SIZE; k += 32 * WARPS)
		as[k] = a[(i64)i0 * SIZE + k];
	__syncthreads();
	int j = blockIdx.x * (32 * WARPS) + threadIdx.x;
	if (j >= cols)
		return;
	double bs[SIZE];
#pragma unroll
	for (int e = 0; e < SIZE; e++)
		bs[e] = b[(i64)e * cols + j];
	double be = rb.e[j], bc = rb.c[j];
	i64 bx = rb.x[j];
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		const double *x = as + i * SIZE;
		double u[SIZE], inv[P]; // inv is −1/d
		Determinant det;
#pragma unroll
		for (int c = 0; c < P; c++) {
			double t[P];
#pragma unroll
			for (int m = 0; m < c; m++)
				t[m] = u[entry(c, m)] * inv[m];
#pragma unroll
			for (int r = c; r < P; r++) {
				double s = x[entry(r, c)] + bs[entry(r, c)];
#pragma unroll
				for (int m = 0; m < c; m++)
					s = fma(u[entry(r, m)], t[m], s);
				u[entry(r, c)] = s;
			}
			double d = u[entry(c, c)];
			inv[c] = -reciprocal(d);
			det.times(d, c);
		}
		dst[(i0 + i) * stride + j] = det.value(ra.e[i0 + i], ra.c[i0 + i], ra.x[i0 + i], be, bc, bx);
	}
}

#endif

#else

// THREADS threads for a pair: thread l has the rows l, l+THREADS, … in registers, as far as the
// widest of all threads, and the others hear of a column of factors t through shared memory.
constexpr int SLOTS = P / THREADS;
constexpr int PAIRS = 32 / THREADS;    // of a warp
constexpr int MATRICES = WARPS * PAIRS; // B in a block
constexpr int ROWS = 32;               // of A in a block
constexpr int STAGE = P <= 32 ? 2 : 1; // of them in shared memory at a time
constexpr int STEPS = P <= 32 ? 1 : 4;  // columns by one piece of code: it would grow too long
constexpr int COLUMN = THREADS + P + 2; // t of a pair
// Distance of matrices in shared memory: rows of a warp's pairs then are in different banks.
constexpr int APART = THREADS >= 16 ? SIZE : (SIZE / 16 + 1) * 16 + THREADS;
constexpr int SHARED = ((MATRICES + STAGE) * APART + WARPS * 2 * PAIRS * COLUMN) * 8;

// determinant eliminates the columns of a matrix whose row s*THREADS + l is u[s] in thread l. t has room
// for two columns.
__device__ __forceinline__ Determinant determinant(double (&u)[SLOTS][P], double *t, int l) {
	// At column c of the steps from q on, u[s][k] is column c+k of the row. The pivot of the
	// next column is found first, so that its reciprocal is there in time.
	Determinant det;
	double d = __shfl_sync(~0u, u[0][0], 0, THREADS), inv = -reciprocal(d);
#pragma unroll
	for (int q = 0; q < P; q += STEPS) {
		const int slot = q / THREADS, then = min((q + STEPS) / THREADS, SLOTS - 1);
#pragma unroll 1
		for (int c = q; c < q + STEPS; c++) {
			det.times(d, c);
			double *now = t + c % 2 * PAIRS * COLUMN, f[SLOTS];
#pragma unroll
			for (int s = slot; s < SLOTS; s++) {
				f[s] = u[s][0];
				now[THREADS + s * THREADS + l - c] = f[s] * inv; // before THREADS for rows that are done
			}
			__syncwarp();
			double first = now[THREADS + 1];
#pragma unroll
			for (int s = slot; s < SLOTS; s++)
				u[s][0] = fma(f[s], first, u[s][1]);
			d = __shfl_sync(~0u, c + 1 < q + STEPS ? u[slot][0] : u[then][0], (c + 1) % THREADS, THREADS);
			inv = -reciprocal(d);
#pragma unroll
			for (int k = 2; k < P - q; k += 2) {
				double2 v = *(double2 *)(now + THREADS + k);
#pragma unroll
				for (int s = slot; s < SLOTS; s++) {
					if (k < (s + 1) * THREADS - q)
						u[s][k - 1] = fma(f[s], v.x, u[s][k]);
					if (k + 1 < (s + 1) * THREADS - q)
						u[s][k] = fma(f[s], v.y, u[s][k + 1]);
				}
			}
		}
	}
	return det;
}

#if FACTORS

// factors compares the matrices A of a list with n matrices B. A block has one A.
extern "C" __global__ void __launch_bounds__(32 * WARPS) factors(double *dst, i64 stride, const int *list, Matrices a, const double *__restrict__ us, int columns, Tiles b, int n) {
	__shared__ Common common;
	__shared__ __align__(16) double ts[WARPS * 2 * PAIRS * COLUMN];
	int warp = threadIdx.x / 32, l = threadIdx.x % THREADS, pair = threadIdx.x % 32 / THREADS;
	int i = list[blockIdx.x];
	common.load(a, i, columns);
	double *t = ts + (warp * 2 * PAIRS + pair) * COLUMN;
	double ae = a.e[i];
	i64 ax = a.x[i];
#pragma unroll 1
	for (int j0 = blockIdx.y * MATRICES + warp * PAIRS; j0 < n; j0 += gridDim.y * MATRICES) {
		asm volatile("" ::: "memory"); // so that no registers keep what all B need
		int j = min(j0 + pair, n - 1); // all pairs of a warp are of one tile
		Tile tile = b.at[j / 8];
		const double *y = us + tile.column + j % 8;
		double u[SLOTS][P];
#pragma unroll
		for (int s = 0; s < SLOTS; s++) {
			int r = s * THREADS + l;
#pragma unroll
			for (int k = 0; k < (s + 1) * THREADS; k++) // right of the diagonal it is of no use
				u[s][k] = common.g[entry(r, k)];
		}
		double next[SLOTS]; // so that loads are under way in time
#pragma unroll
		for (int s = 0; s < SLOTS; s++)
			next[s] = y[common.row[s * THREADS + l]];
#pragma unroll 1
		for (int k = 1; k <= tile.rank; k++) {
			double *now = t + (k - 1) % 2 * PAIRS * COLUMN, f[SLOTS];
			int then = 8 * min(k, tile.rank - 1);
#pragma unroll
			for (int s = 0; s < SLOTS; s++) {
				now[s * THREADS + l] = f[s] = next[s];
				next[s] = y[common.row[s * THREADS + l] + then];
			}
			__syncwarp();
#pragma unroll
			for (int c = 0; c < P; c += 2) {
				double2 v = *(double2 *)(now + c);
#pragma unroll
				for (int s = c / THREADS; s < SLOTS; s++) {
					u[s][c] = fma(-f[s], v.x, u[s][c]);
					u[s][c + 1] = fma(-f[s], v.y, u[s][c + 1]);
				}
			}
		}
		__syncwarp();
		Determinant det = determinant(u, t, l);
		double v = det.value(ae, 0, ax, b.e[j], 0, b.x[j]);
		if (l == 0 && j0 + pair < n)
			dst[i * stride + j] = v;
	}
}

#else

extern "C" __global__ void __launch_bounds__(32 * WARPS) cross(double *dst, i64 stride, const double *a, Roots ra, int rows, const double *b, Roots rb, int cols) {
	extern __shared__ double shared[];
	double *bs = shared, *as = bs + MATRICES * APART, *ts = as + STAGE * APART;
	int warp = threadIdx.x / 32, l = threadIdx.x % THREADS, pair = threadIdx.x % 32 / THREADS;
	int j0 = blockIdx.x * MATRICES, j = j0 + warp * PAIRS + pair, jj = min(j, cols - 1);
	for (int k = threadIdx.x; k < MATRICES * SIZE; k += 32 * WARPS)
		bs[k / SIZE * APART + k % SIZE] = b[min(j0 + k / SIZE, cols - 1) * (i64)SIZE + k % SIZE];
	const double *y = bs + (warp * PAIRS + pair) * APART;
	double *t = ts + (warp * 2 * PAIRS + pair) * COLUMN;
	double be = rb.e[jj], bc = rb.c[jj];
	i64 bx = rb.x[jj];
	int i0 = blockIdx.y * ROWS, end = min(i0 + ROWS, rows);
	for (int i = i0; i < end; i++) {
		int at = (i - i0) % STAGE;
		if (at == 0) {
			__syncthreads();
			for (int k = threadIdx.x; k < min(STAGE, end - i) * SIZE; k += 32 * WARPS)
				as[k / SIZE * APART + k % SIZE] = a[(i64)i * SIZE + k];
			__syncthreads();
		}
		const double *x = as + at * APART;
		double u[SLOTS][P];
#pragma unroll
		for (int s = 0; s < SLOTS; s++) {
			int r = s * THREADS + l, row = r * (r + 1) / 2;
#pragma unroll
			for (int k = 0; k < (s + 1) * THREADS; k++) // right of the diagonal it is of no use
				u[s][k] = x[row + k] + y[row + k];
		}
		Determinant det = determinant(u, t, l);
		double v = det.value(ra.e[i], ra.c[i], ra.x[i], be, bc, bx);
		if (l == 0 && j < cols)
			dst[i * stride + j] = v;
	}
}

#endif

#endif

// What a launch must know: rows and columns of a block, its threads, its bytes of shared memory, as far
// as the launch gives it, and whether B is laid out entry by entry.
extern "C" __device__ const int geometry[] = {ROWS, MATRICES, 32 * WARPS, FACTORS ? 0 : SHARED, THREADS == 1};
