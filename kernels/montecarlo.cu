// SPDX-License-Identifier: MIT
//
// montecarlo: what an option is worth, as the mean over random paths of two prices; and where the normals come from.
//
// Two prices follow geometric Brownian motions with correlated increments; the option pays max(first - second, 0) at
// the end. Its value is known (W. Margrabe, 1978), so the error of a mean is known too.
//
// The ladders
//   normals   BOX_MULLER            two normals of two uniforms: log, root, sine, cosine
//             BOX_MULLER_FAST       the same by the special function units
//             INVERSE               the inverse of the distribution: one of one, by polynomials (M. Giles, 2010)
//             ZIGGURAT              a comparison and a product for 99 of 100; the others go on drawing
//   paths     stored_by_path        the normals of a path lie one after the other: lanes read far apart
//             stored_by_step        those of a step lie one after the other: a warp reads whole lines
//             fused<METHOD>         drawn where they are used, never stored
//   points    sobol                 points that fill the square evenly, each run of them shifted at random
//
// Path p draws from Philox's subsequence p, four words at a draw: which normal is whose depends on no launch, so all
// three have the same paths, and the host computes any of them.
// Bounds: of stored normals the store of 4 bytes; of fused instructions: a multiprocessor issues 128 per cycle (4
// warps), does 64 integer ones and 16 special functions.
// Sources: M. Giles and W. Armour, "CUDA Programming on NVIDIA GPUs" (Oxford), practical 2: paths, constants in
// constant memory. J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): Philox. G. Box and M.
// Muller (1958). M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2010). G. Marsaglia and W.
// Tsang, "The ziggurat method" (J. Stat. Software 5, 2000). I. Sobol (1967).

enum { BOX_MULLER, BOX_MULLER_FAST, INVERSE, ZIGGURAT };
enum { BY_STEP, BY_PATH };

const int LAYERS = 128;
const unsigned SEED = 2026;

enum { DRIFT, VOLATILITY, RHO, ALPHA, DISCOUNT }; // mean, deviation of a price's logarithm at the end; correlation, ...
__constant__ float option[5];          // sqrt(1 - rho^2); what 1 paid at the end is worth now
// Of the ziggurat's layers, the widest first, then 0; and exp(-width^2 / 2). Not in constant memory, which serves one
// address at a time: lanes look at different layers.
__device__ float width[LAYERS + 1], height[LAYERS + 1];

// ---- device helpers -------------------------------------------------------------------------------------------------

// Four words: draw `draw` of subsequence `path` (Philox4x32-10). `extra`: further ones of the same draw.
__device__ uint4 philox(unsigned draw, unsigned path, unsigned extra = 0) {
  uint4 c = make_uint4(draw, extra, path, 0);
  unsigned key = SEED, other = 0;
#pragma unroll
  for (int round = 0; round < 10; round++) {
    unsigned high = __umulhi(0xD2511F53u, c.x), low = 0xD2511F53u * c.x;
    unsigned up = __umulhi(0xCD9E8D57u, c.z), down = 0xCD9E8D57u * c.z;
    c = make_uint4(up ^ c.y ^ key, down, high ^ c.w ^ other, low);
    key += 0x9E3779B9u, other += 0xBB67AE85u;
  }
  return c;
}

const float CELL = 1 / 4294967296.0f;

// In (0, 1]: the middle of the word's cell.
__device__ float uniform(unsigned word) { return word * CELL + CELL / 2; }

// FAST: fused to as few instructions as there are; compile it with fast mathematics, or each function is mended for
// numbers below 2^-126.
template <bool FAST> __device__ float2 box_muller(unsigned a, unsigned b) {
  float r, sine, cosine;
  if (FAST) {
    r = sqrtf(-2 * 0.69314718f * __log2f(uniform(a)));
    __sincosf(b * (6.2831853f * CELL) + 6.2831853f * CELL / 2, &sine, &cosine);
  } else {
    r = sqrtf(-2 * logf(uniform(a)));
    sincospif(2 * uniform(b), &sine, &cosine);
  }
  return make_float2(r * sine, r * cosine);
}

// sqrt(2) erfinv(x), x = 2 (word + 1/2) / 2^32 - 1. From the nearer end, or nothing is left of the tails.
__device__ float inverse(unsigned word) {
  bool is_upper = word >> 31;
  float below = uniform(is_upper ? ~word : word); // in (0, 1/2]
  float w = -__logf(4 * below * (1 - below)), p;
  if (w < 5) {
    w -= 2.5f;
    p = 2.81022636e-08f;
    p = p * w + 3.43273939e-07f;
    p = p * w - 3.5233877e-06f;
    p = p * w - 4.39150654e-06f;
    p = p * w + 0.00021858087f;
    p = p * w - 0.00125372503f;
    p = p * w - 0.00417768164f;
    p = p * w + 0.246640727f;
    p = p * w + 1.50140941f;
  } else {
    w = sqrtf(w) - 3;
    p = -0.000200214257f;
    p = p * w + 0.000100950558f;
    p = p * w + 0.00134934322f;
    p = p * w - 0.00367342844f;
    p = p * w + 0.00573950773f;
    p = p * w - 0.0076224613f;
    p = p * w + 0.00943887047f;
    p = p * w + 1.00167406f;
    p = p * w + 2.83297682f;
  }
  float value = 1.41421356f * p * (1 - 2 * below);
  return is_upper ? value : -value;
}

// Layer k is as wide as width[k], and under the curve up to width[k + 1]; layer 0 stands for the tail too. `word` tries,
// its low bits choose the layer; what it needs beyond it finds in the draw's extra words: extra, extra + 4, ...
__device__ float ziggurat(unsigned word, unsigned draw, unsigned path, unsigned extra) {
  for (;; extra += 4) {
    int k = word % LAYERS;
    float x = (int)(word - k + LAYERS / 2) * (2 * CELL) * width[k];
    if (fabsf(x) < width[k + 1]) return x;
    uint4 next = philox(draw, path, extra);
    if (k > 0) {
      if (height[k] + uniform(next.x) * (height[k + 1] - height[k]) < expf(-0.5f * x * x)) return x;
      word = next.y;
    } else {
      for (;; next = philox(draw, path, extra += 4)) {
        float beyond = -logf(uniform(next.x)) / width[1];
        if (-2 * logf(uniform(next.y)) > beyond * beyond) return copysignf(width[1] + beyond, x);
      }
    }
  }
}

// Four normals of a draw.
template <int METHOD> __device__ float4 draw_normals(unsigned draw, unsigned path) {
  uint4 w = philox(draw, path);
  if (METHOD == INVERSE) return make_float4(inverse(w.x), inverse(w.y), inverse(w.z), inverse(w.w));
  if (METHOD == ZIGGURAT)
    return make_float4(ziggurat(w.x, draw, path, 1), ziggurat(w.y, draw, path, 2),
                       ziggurat(w.z, draw, path, 3), ziggurat(w.w, draw, path, 4));
  float2 a = box_muller<METHOD == BOX_MULLER_FAST>(w.x, w.y), b = box_muller<METHOD == BOX_MULLER_FAST>(w.z, w.w);
  return make_float4(a.x, a.y, b.x, b.y);
}

// The logarithms of two prices that begin at 1. What is the same for all paths is added once, before the steps.
struct prices {
  float first, second, spread, common, own; // deviation of a step; its parts in the second price
  __device__ prices(int steps) : first(option[DRIFT]), second(option[DRIFT]) {
    spread = option[VOLATILITY] / sqrtf(steps);
    common = spread * option[RHO];
    own = spread * option[ALPHA];
  }
  __device__ void step(float y, float z) {
    first = spread * y + first;
    second = common * y + (own * z + second);
  }
  __device__ float value() const { return option[DISCOUNT] * fmaxf(expf(first) - expf(second), 0.0f); }
};

// ---- kernels --------------------------------------------------------------------------------------------------------

// What memory takes: 16 bytes per thread.
__global__ void store(float4 *z, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) z[i] = make_float4(0, 0, 0, 0);
}

// Two normals for each step of each path, an even number of steps. z: {paths, 2 steps} or, of BY_PATH, {2 steps, paths};
// the first side is the fastest. BY_STEP: the grid's second side shares the draws of a path.
template <int METHOD, int LAYOUT> __global__ void normals(float *z, int paths, int steps) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, draws = steps / 2;
  if (LAYOUT == BY_PATH) {
    if (i / draws < paths) ((float4 *)z)[i] = draw_normals<METHOD>(i % draws, i / draws);
  } else if (i < paths) {
    size_t side = paths;
    float *to = z + 4 * blockIdx.y * side + i;
    for (unsigned draw = blockIdx.y; draw < draws; draw += gridDim.y, to += 4 * gridDim.y * side) {
      float4 four = draw_normals<METHOD>(draw, i);
      to[0] = four.x, to[side] = four.y, to[2 * side] = four.z, to[3 * side] = four.w;
    }
  }
}

__global__ void stored_by_step(float *value, const float *z, int paths, int steps) {
  int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  prices p(steps);
  for (int s = 0; s < steps; s++) p.step(z[(size_t)2 * s * paths + path], z[(size_t)(2 * s + 1) * paths + path]);
  value[path] = p.value();
}

__global__ void stored_by_path(float *value, const float *z, int paths, int steps) {
  int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  prices p(steps);
  for (int s = 0; s < steps; s++) p.step(z[(size_t)2 * steps * path + 2 * s], z[(size_t)2 * steps * path + 2 * s + 1]);
  value[path] = p.value();
}

template <int METHOD> __global__ void fused(float *value, int paths, int steps) {
  int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  prices p(steps);
  for (int draw = 0; draw < steps / 2; draw++) {
    float4 four = draw_normals<METHOD>(draw, path);
    p.step(four.x, four.y);
    p.step(four.z, four.w);
  }
  value[path] = p.value();
}

// One step to the end, by points of the square. Each run of `run` paths has the first points of Sobol's sequence in Gray
// code's order, shifted by two words of its own: its mean is one of several, whose spread is the error.
__global__ void sobol(float *value, int paths, int run) {
  int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  unsigned index = path % run, gray = index ^ index >> 1, first = __brev(gray), second = 0;
  for (unsigned direction = 1u << 31; gray; gray >>= 1, direction ^= direction >> 1)
    if (gray & 1) second ^= direction;
  uint4 shift = philox(0, path / run);
  prices p(1);
  p.step(inverse(first ^ shift.x), inverse(second ^ shift.y));
  value[path] = p.value();
}

// ---- host notes -----------------------------------------------------------------------------------------------------
//
// Blocks of 256 threads, one for each draw (normals) or path. Upload `option`, and for ZIGGURAT width and height.
