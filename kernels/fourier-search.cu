// SPDX-License-Identifier: MIT
//
// fourier-search: power[z][r] = |sum over k of x[r + k] * conj(a[z][k])|^2, k from -half to half: the spectrum x of a
// long series against the responses a of sinusoids whose frequency drifts by z bins.
//
// Overlap-save: segments of N bins, of which N - 2 half are kept, for the others are contaminated by the other end of
// the segment. Its transform is multiplied by each template's and transformed back. The response to a drift of -z is
// the conjugate of that to z, and both are even in k: so is the spectrum of one the conjugate of the other's, and one
// read serves both. Templates are numbered from the most negative drift on; spectra are there from drift 0 on.
//
// A thread has E elements of a segment, 4 or 16: a pass does two or four radix-2 stages in registers, then all exchange
// elements through shared memory. Forward transforms leave bins in the order of their digits reversed (base E), inverse
// ones begin with it: nothing is put in order. A butterfly with its factor is six fused operations.
//
// The ladder; w = N / (N - 2 half) bins are computed for each kept one
//   cut_segments, pad_templates, multiply, powers      with a library's transforms between them. Main memory, for each
//      kept bin and template: 8w bytes written by multiply, 16w by the inverse transform, 8 + 4 by powers: 24w + 12
//   segments_forward, multiply, segments_inverse, powers      the same with transforms of our own
//   search_fused<N,E,complex>      all in one kernel, only the 4 bytes of a power are written. Bounds: shared memory,
//      16w bytes for each of log N / log E - 1 exchanges, and 8w from the cache; instructions, 3w per radix-2 stage
//   search_fused<N,E,__nv_bfloat162>      shared memory and templates in bfloat16, half of these bytes; sums are still
//      of floats, and each exchange converts
//   search_fused<N,E,both>      packed arithmetic: an instruction does the same for the drifts z and -z, which halves
//      both bytes and instructions
// Each with E = 4 and E = 16.
//
// Then harmonic_sum and peaks. Further kernels: responses, template_spectra, convert, observe.
//
// Sources: W. Armour, K. Adamek and others, AstroAccelerate (Oxford's course, lecture 9; undated, the latest year named
// is 2023); K. Adamek, S. Dimoudi, M. Giles, W. Armour, GPU Fast Convolution via the Overlap-and-Save Method in Shared
// Memory (2020); S. Ransom, S. Eikenberry, J. Middleditch (2002) for the templates.

#include <cuda_bf16.h>

// ---- device helpers: complex numbers -------------------------------------------------------------------------------

// R: float, or __nv_bfloat162, the numbers of two templates.
template <class R> struct __align__(8) complex_of {
  R x, y;
};
typedef complex_of<float> complex;
typedef complex_of<__nv_bfloat162> both;

__device__ float fused(float a, float b, float c) {
  return fmaf(a, b, c);
}
__device__ __nv_bfloat162 fused(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __hfma2(a, b, c);
#else
  return a * b + c; // of Ampere's predecessors, in two steps
#endif
}
__device__ void set(float &to, float v) {
  to = v;
}
__device__ void set(__nv_bfloat162 &to, float v) {
  to = __floats2bfloat162_rn(v, v);
}

template <class R> __device__ void set(complex_of<R> &to, complex v) {
  set(to.x, v.x);
  set(to.y, v.y);
}
template <class R> __device__ complex_of<R> sum(complex_of<R> a, complex_of<R> b) {
  return {a.x + b.x, a.y + b.y};
}
template <class R> __device__ complex_of<R> difference(complex_of<R> a, complex_of<R> b) {
  return {a.x - b.x, a.y - b.y};
}
template <class R> __device__ complex_of<R> turned(complex_of<R> a) {
  return {-a.y, a.x};
} // i a
__device__ complex conjugate(complex a) {
  return {a.x, -a.y};
}
__device__ complex times(complex a, complex b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

// What shared memory and spectra hold.
template <class R> __device__ void store(complex_of<R> *to, complex_of<R> v) {
  *to = v;
}
__device__ void store(__nv_bfloat162 *to, complex v) {
  *to = __floats2bfloat162_rn(v.x, v.y);
}
__device__ void store(both *to, complex v) { // a spectrum's: see `product`
  *to = {__floats2bfloat162_rn(v.x, v.x), __floats2bfloat162_rn(-v.y, v.y)};
}
template <class R> __device__ complex_of<R> load(const complex_of<R> *from) {
  return *from;
}
__device__ complex load(const __nv_bfloat162 *from) {
  float2 v = __bfloat1622float2(*from);
  return {v.x, v.y};
}

// ---- device helpers: transforms ------------------------------------------------------------------------------------

// a + w c and a - w c: the latter is 2 a less the former.
template <class R> __device__ void butterfly(complex_of<R> &a, complex_of<R> &b, complex_of<R> w, complex_of<R> c) {
  R two;
  set(two, 2);
  R x = fused(w.y, -c.y, fused(w.x, c.x, a.x)), y = fused(w.y, c.x, fused(w.x, c.y, a.y));
  b = {fused(two, a.x, -x), fused(two, a.y, -y)};
  a = {x, y};
}

// exp(2 pi i j / 16), j from 0 to 3.
__device__ complex sixteenth(int j) {
  const float cosines[5] = {1, 0.923879533f, 0.707106781f, 0.382683432f, 0};
  return {cosines[j], cosines[4 - j]};
}

template <int E> __device__ constexpr int reversed(int i) { // its bits
  return E == 4 ? i >> 1 | (i & 1) << 1 : i >> 3 | (i >> 1 & 2) | (i & 2) << 1 | (i & 1) << 3;
}

// The E / 2 factors of a pass over parts of E q elements. With w = exp(2 pi i j / E q) for the thread's j, the stage
// that joins parts of h elements has the power E / 2h of w times the first h / 2 roots of 1, from f[h / 2] on; the
// others are these times i.
template <int E, class R> __device__ void factors(complex_of<R> *f, int q) {
  complex w;
  sincospif(2.0f * (threadIdx.x % q) / (E * q), &w.y, &w.x);
#pragma unroll
  for (int c = E / 2 - 1; c >= 0; c--) {
    int first = c >= 4 ? 4 : c >= 2 ? 2 : 1;
    set(f[c], c > first ? times(w, sixteenth(4 * (c - first) / first)) : w);
    if (c == first) w = times(w, w);
  }
}

// A butterfly of the stage that joins parts of h elements: its elements' places, and where its factor is.
struct place {
  int a, b, factor;
  bool is_turned; // the factor is i times that
};
template <int E> __device__ place place_of(int h, int m) {
  int j = m % h, i = 2 * (m - j) + j;
  bool is_turned = h > 1 && 2 * j >= h;
  return {reversed<E>(i), reversed<E>(i + h), h / 2 + (is_turned ? j - h / 2 : j), is_turned};
}

// An inverse transform of the E elements v[0], v[1], ... after their factors; its element k is in v[reversed(k)]. The
// first pass of all has w = 1, and needs no f.
template <int E, bool IS_FIRST, class R> __device__ void inverse_pass(complex_of<R> *v, const complex_of<R> *f) {
#pragma unroll
  for (int h = 1; h < E; h *= 2)
#pragma unroll
    for (int m = 0; m < E / 2; m++) {
      place at = place_of<E>(h, m);
      complex_of<R> &a = v[at.a], &b = v[at.b], c = at.is_turned ? turned(b) : b, w;
      if (IS_FIRST && at.factor == h / 2) {
        b = difference(a, c);
        a = sum(a, c);
      } else {
        if (IS_FIRST)
          set(w, sixteenth(8 * at.factor / h - 4));
        else
          w = f[at.factor];
        butterfly(a, b, w, c);
      }
    }
}

// The way back: element k is taken from v[reversed(k)].
template <int E> __device__ void forward_pass(complex *v, const complex *f) {
#pragma unroll
  for (int h = E / 2; h >= 1; h /= 2)
#pragma unroll
    for (int m = 0; m < E / 2; m++) {
      place at = place_of<E>(h, m);
      complex &a = v[at.a], &b = v[at.b], w = at.is_turned ? turned(f[at.factor]) : f[at.factor];
      complex apart = difference(a, b);
      a = sum(a, b);
      b = times(apart, conjugate(w));
    }
}

// Elements of shared memory for an exchange: q are left free after E q, so that no access has bank conflicts.
__device__ constexpr int room(int size, int e) {
  return size / e * (e + 1);
}

// Exchanges use two rooms in turn, so a barrier each is enough. That from q has the second one where q is an odd power.
__device__ constexpr int turn_of(int e, int q) {
  return q == e || q == e * e * e || q == e * e * e * e * e;
}

// Where the thread's elements begin that lie q apart, or E q apart, and how far apart they lie with what is left free.
template <int E> __device__ int near_first(int q) {
  return threadIdx.x / q * q * (E + 1) + threadIdx.x % q;
}
template <int E> __device__ int far_first(int q) {
  return threadIdx.x / (E * q) * E * (E + 1) * q + threadIdx.x % (E * q);
}

// From elements q apart to elements E q apart.
template <int N, int E, class R, class S> __device__ void exchange(complex_of<R> *v, S *space, int q) {
  S *to = space + near_first<E>(q), *from = space + far_first<E>(q);
#pragma unroll
  for (int k = 0; k < E; k++) store(to + q * k, v[reversed<E>(k)]);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < E; k++) v[k] = load(from + (E + 1) * q * k);
}

template <int N, int E, class S> __device__ void exchange_back(complex *v, S *space, int q) {
  S *to = space + far_first<E>(q), *from = space + near_first<E>(q);
#pragma unroll
  for (int k = 0; k < E; k++) store(to + (E + 1) * q * k, v[k]);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < E; k++) v[reversed<E>(k)] = load(from + q * k);
}

// The factors of all passes but the first.
template <int N, int E, class R> __device__ void all_factors(complex_of<R> *f) {
#pragma unroll
  for (int q = E, pass = 0; q < N; q *= E, pass++) factors<E>(f + pass * (E / 2), q);
}
__device__ constexpr int passes(int size, int e) {
  return size == e ? 1 : 1 + passes(size / e, e);
}

// Without a factor of 1 / N. Elements N / E apart are in v[reversed(k)], after it in v[k] those side by side, in
// the order of digits reversed; inverse is the way back. odd: 1 where the first exchange is to use the second room.
template <int N, int E, class S> __device__ void forward(complex *v, S *space) {
  complex f[E / 2];
#pragma unroll
  for (int q = N / E; q > 1; q /= E) {
    factors<E>(f, q);
    forward_pass<E>(v, f);
    S *now = space + turn_of(E, q) * room(N, E);
    exchange_back<N, E>(v, now, q / E);
  }
  factors<E>(f, 1);
  forward_pass<E>(v, f);
}

template <int N, int E, class R, class S>
__device__ void inverse(complex_of<R> *v, const complex_of<R> *f, S *space, int odd) {
  inverse_pass<E, true>(v, f);
#pragma unroll
  for (int q = 1; q < N / E; q *= E) {
    S *now = space + (turn_of(E, q) ^ odd) * room(N, E);
    exchange<N, E>(v, now, q);
    inverse_pass<E, false>(v, f);
    f += E / 2;
  }
}

// The thread's elements of a segment, as forward takes them.
template <int N, int E> __device__ void load_segment(complex *v, const complex *x, int segment, int n, int half) {
#pragma unroll
  for (int k = 0; k < E; k++) {
    int r = segment * (N - 2 * half) - half + (int)threadIdx.x + k * (N / E);
    v[reversed<E>(k)] = r >= 0 && r < n ? x[r] : complex{0, 0};
  }
}

// The spectrum of a segment times that of the drift d, or of -d, or of both.
__device__ complex product(complex x, complex a, bool is_negative) {
  return times(x, is_negative ? conjugate(a) : a);
}
__device__ both product(both x, both a, bool) { // a: the real part twice; the imaginary one negative, and as it is
  return {fused(x.y, a.y, x.x * a.x), fused(x.x, -a.y, x.y * a.x)};
}

__device__ float power_of(float x, float y) {
  return x * x + y * y;
}
__device__ void put_power(float *row, float *, complex v, int at) {
  row[at] = power_of(v.x, v.y);
}
__device__ void put_power(float *row, float *opposite, both v, int at) {
  float2 x = __bfloat1622float2(v.x), y = __bfloat1622float2(v.y);
  row[at] = power_of(x.x, y.x);
  opposite[at] = power_of(x.y, y.y);
}

// Powers of a segment's bins that are kept, to the row of a drift and to that of its opposite.
template <int N, int E, class R>
__device__ void keep(float *row, float *opposite, const complex_of<R> *v, int segment, int n, int half) {
  int kept = N - 2 * half, first = segment * kept, i = (int)threadIdx.x - half;
  unsigned count = min(kept, n - first);
#pragma unroll
  for (int k = 0; k < E; k++)
    if ((unsigned)(i + k * (N / E)) < count)
      put_power(row + first + i, opposite + first + i, v[reversed<E>(k)], k * (N / E));
}

// ---- templates -----------------------------------------------------------------------------------------------------

// The response of a drift of z bins at a distance of k bins: the integral of exp(pi i z (u^2 - u) - 2 pi i k u) over u
// from 0 to 1, by the midpoints of STEPS parts. Rows of 2 half + 1.
#define STEPS 2048
__global__ void responses(float2 *a, int half, int templates, float step) {
  int k = (int)(blockIdx.x * blockDim.x + threadIdx.x) - half;
  float z = step * ((int)blockIdx.y - templates / 2);
  if (k > half) return;
  float re = 0, im = 0;
  for (int i = 0; i < STEPS; i++) {
    float u = (i + 0.5f) / STEPS, c, s, turns = z * (u * u - u) - 2 * (k * u - floorf(k * u));
    sincospif(turns, &s, &c);
    re += c;
    im += s;
  }
  a[(size_t)blockIdx.y * (2 * half + 1) + k + half] = make_float2(re / STEPS, im / STEPS);
}

// Of the drift d at place i of `size`, negative distances at the end, over `size`: the way back has no factor.
__device__ complex padded(const complex *a, int d, int i, int size, int half, int templates) {
  int k = i <= half ? i : i - size;
  if (k < -half) return {0, 0};
  complex v = a[(size_t)(templates / 2 + d) * (2 * half + 1) + half + k];
  return {v.x / size, v.y / size};
}

// Conjugate spectra in the order of the threads' registers: element k of thread i at k N / E + i.
template <int N, int E> __global__ void template_spectra(complex *spectra, const complex *a, int half, int templates) {
  extern __shared__ complex space[];
  complex v[E];
#pragma unroll
  for (int k = 0; k < E; k++) v[reversed<E>(k)] = padded(a, blockIdx.x, threadIdx.x + k * (N / E), N, half, templates);
  forward<N, E>(v, space);
#pragma unroll
  for (int k = 0; k < E; k++) spectra[(size_t)blockIdx.x * N + k * (N / E) + threadIdx.x] = conjugate(v[k]);
}

template <class S> __global__ void convert(S *held, const complex *spectra, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) store(held + i, spectra[i]);
}

// ---- a launch each -------------------------------------------------------------------------------------------------

// size: bins of a segment; count: segments.
__global__ void cut_segments(complex *segments, const complex *x, int n, int half, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * (size - 2 * half) - half + i;
  if (i < size) segments[(size_t)blockIdx.y * size + i] = r >= 0 && r < n ? x[r] : complex{0, 0};
}

// Conjugates at places turned round, whose transform is the conjugate spectrum.
__global__ void pad_templates(complex *spectra, const complex *a, int half, int templates, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  spectra[(size_t)blockIdx.y * size + i] = conjugate(padded(a, blockIdx.y, (size - i) % size, size, half, templates));
}

template <int N, int E> __global__ void segments_forward(complex *segments, const complex *x, int n, int half) {
  extern __shared__ complex space[];
  complex v[E];
  load_segment<N, E>(v, x, blockIdx.x, n, half);
  forward<N, E>(v, space);
#pragma unroll
  for (int k = 0; k < E; k++) segments[(size_t)blockIdx.x * N + k * (N / E) + threadIdx.x] = v[k];
}

// Of a segment and both drifts, d and -d.
__global__ void multiply(complex *products, const complex *segments, const complex *spectra, int count, int templates,
                         int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, segment = blockIdx.y, d = blockIdx.z, middle = templates / 2;
  if (i >= size) return;
  complex x = segments[(size_t)segment * size + i], a = spectra[(size_t)d * size + i];
  products[((size_t)(middle + d) * count + segment) * size + i] = product(x, a, false);
  if (d > 0) products[((size_t)(middle - d) * count + segment) * size + i] = product(x, a, true);
}

// In place; the elements come in the order of registers and leave in that of bins.
template <int N, int E> __global__ void segments_inverse(complex *products) {
  extern __shared__ complex space[];
  complex v[E], f[(passes(N, E) - 1) * (E / 2)], *at = products + (size_t)blockIdx.x * N + threadIdx.x;
  all_factors<N, E>(f);
#pragma unroll
  for (int k = 0; k < E; k++) v[k] = at[k * (N / E)];
  inverse<N, E>(v, f, space, 0);
#pragma unroll
  for (int k = 0; k < E; k++) at[k * (N / E)] = v[reversed<E>(k)];
}

__global__ void powers(float *power, const complex *products, int n, int half, int count, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, segment = blockIdx.y, z = blockIdx.z;
  int r = segment * (size - 2 * half) - half + i;
  if (i < half || i >= size - half || r >= n) return;
  complex v = products[((size_t)z * count + segment) * size + i];
  power[(size_t)z * n + r] = power_of(v.x, v.y);
}

// ---- all in one kernel ---------------------------------------------------------------------------------------------

// What shared memory holds, and the numbers that a thread computes with. Segments are transformed as floats, for which
// there is room where packed numbers are held.
template <class S> struct kind_of {
  typedef complex number;
  typedef S of_segment;
  static const bool is_packed = false;
};
template <> struct kind_of<both> {
  typedef both number;
  typedef complex of_segment;
  static const bool is_packed = true;
};

// The blocks of a column of the grid share the templates of a segment, and each transforms it anew.
template <int N, int E, class S>
__global__ void __launch_bounds__(N / E, N / E >= 1024 ? 1
                                         : E == 16     ? 512 * 16 / N
                                                       : 1024 * 4 / N)
    search_fused(float *power, const complex *x, const S *spectra, int n, int half, int templates) {
  extern __shared__ complex space[];
  const bool IS_PACKED = kind_of<S>::is_packed;
  complex segment[E];
  load_segment<N, E>(segment, x, blockIdx.x, n, half);
  forward<N, E>(segment, (typename kind_of<S>::of_segment *)space);
  typename kind_of<S>::number signal[E], f[(passes(N, E) - 1) * (E / 2)], v[E];
#pragma unroll
  for (int k = 0; k < E; k++) set(signal[k], segment[k]);
  all_factors<N, E>(f);
  __syncthreads(); // the rooms are used anew
  // Drifts 0, 1, -1, 2, -2, ... in turn, or both signs at once.
  int middle = templates / 2, turns = IS_PACKED ? middle + 1 : templates, last = turns * (blockIdx.y + 1) / gridDim.y;
  for (int turn = turns * blockIdx.y / gridDim.y; turn < last; turn++) {
    int d = IS_PACKED ? turn : (turn + 1) / 2;
    bool is_negative = !IS_PACKED && turn % 2 == 0;
#pragma unroll
    for (int k = 0; k < E; k++)
      v[k] = product(signal[k], load(spectra + (size_t)d * N + k * (N / E) + threadIdx.x), is_negative);
    inverse<N, E>(v, f, (S *)space, passes(N, E) % 2 == 0 ? turn % 2 : 0);
    float *row = power + (size_t)middle * n, *opposite = row - (size_t)d * n;
    row += (size_t)d * n;
    keep<N, E>(is_negative ? opposite : row, opposite, v, blockIdx.x, n, half);
  }
}

// ---- harmonics and peaks -------------------------------------------------------------------------------------------

// A bin is taken for the highest of 1, 2, 4, ... HARMONICS harmonics of a drifting signal; the others are at its parts,
// and so are their drifts. A sum s of h powers of noise of mean 1 is above s with the probability
// exp(-s) (1 + s + ... s^(h - 1) / (h - 1)!); its logarithm, with the sign changed, is what sums of different h can be
// compared by: the surprise.
template <int HARMONICS>
__global__ void harmonic_sum(float *surprise, unsigned char *most, const float *power, int n, int templates) {
  int r = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y, middle = templates / 2;
  if (r >= n) return;
  float sum = 0, best = 0;
  int which = 0;
#pragma unroll
  for (int h = 1; h <= HARMONICS; h *= 2) {
#pragma unroll
    for (int k = 1; k <= h; k += h > 1 ? 2 : 1) { // even ones were added before
      int bin = (2 * r * k + h) / (2 * h), drift = middle + (int)floorf((z - middle) * (float)k / h + 0.5f);
      sum += power[(size_t)drift * n + min(bin, n - 1)];
    }
    float term = 1, tail = 1;
#pragma unroll
    for (int j = 1; j < h; j++) {
      term *= sum * (1.0f / j);
      tail += term;
    }
    float value = sum - logf(tail);
    if (h == 1 || value > best) {
      best = value;
      which = h;
    }
  }
  surprise[(size_t)z * n + r] = best;
  most[(size_t)z * n + r] = (unsigned char)which;
}

// Where a value is above all eight next to it; not on the edges of the plane, whose neighbours are not known, nor
// within `edge` bins of its ends, whose templates are cut off. Places in a list of any order; count[0] may exceed `size`.
__global__ void peaks(unsigned *count, int *places, float *heights, const float *surprise, int n, int templates,
                      int edge, float threshold, int size) {
  int r = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y;
  if (r < edge || r >= n - edge || z < 1 || z >= templates - 1) return;
  const float *at = surprise + (size_t)z * n + r;
  float v = *at;
  if (v < threshold) return;
  for (int dz = -1; dz <= 1; dz++)
    for (int dr = -1; dr <= 1; dr++) {
      float other = at[(long long)dz * n + dr];
      if ((dz || dr) && (other > v || (other == v && (dz < 0 || (dz == 0 && dr < 0))))) return;
    }
  unsigned i = atomicAdd(count, 1u);
  if (i < (unsigned)size) {
    places[i] = z * n + r;
    heights[i] = v;
  }
}

// ---- a series ------------------------------------------------------------------------------------------------------

// Noise and a pulsar of `harmonics` equal harmonics, whose frequency is `bins` in the middle and grows by `drift`; so
// that the powers of the noise have mean 1.
__global__ void observe(float *series, const float *noise, int length, double bins, double drift, float height,
                        int harmonics) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= length) return;
  double u = (t + 0.5) / length, turns = bins * u + drift / 2 * (u * u - u);
  float v = noise[t];
  for (int h = 1; h <= harmonics; h++) {
    double phase = h * turns;
    v += height * cospif(2 * (float)(phase - floor(phase)));
  }
  series[t] = v * rsqrtf((float)length);
}
