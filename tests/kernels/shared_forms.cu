/* SPDX-License-Identifier: MIT
 *
 * Shared memory that nvcc takes: its size by what the kernel declares, its type declared in the kernel, __device__ in
 * front of it. Each kernel stores 63 - threadIdx.x, in a block of 64 threads; n is 5. */

#define SWAP s[threadIdx.x] = threadIdx.x; __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x];
#define SWAP_MEMBERS s[threadIdx.x].x = threadIdx.x; __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x].x;
#define TURN s[threadIdx.x] = v; __syncthreads(); const int r = s[63 - threadIdx.x]; __syncthreads(); return r;

/* ---- sizes */

__global__ void size1(int *a, int n) {
  static constexpr int N = 64;
  __shared__ int s[N];
  SWAP
}

__global__ void size2(int *a, int n) {
  constexpr static int N = 64;
  __shared__ int s[N];
  SWAP
}

__global__ void size3(int *a, int n) {
  static const int N = 64;
  __shared__ int s[N];
  SWAP
}

__global__ void size4(int *a, int n) {
  constexpr int m = 8, l = m * 8;
  __shared__ int s[l];
  SWAP
}

__global__ void size5(int *a, int n) {
  enum {
    A = 4,
    N = A * 16,
  };
  __shared__ int s[N], t[A][N];
  t[0][threadIdx.x] = 1;
  SWAP
}

__global__ void size6(int *a, int n) {
  typedef enum { N = 64 } E;
  __shared__ int s[N];
  __shared__ E t[N];
  t[threadIdx.x] = N;
  SWAP
}

__global__ void size7(int *a, int n) {
  enum class E { N = 64 };
  __shared__ int s[(int)E::N];
  SWAP
}

enum class E_size8 { N = 64 };
__global__ void size8(int *a, int n) {
  using enum E_size8;
  __shared__ int s[(int)N];
  SWAP
}

__global__ void size9(int *a, int n) {
  struct C {
    enum { N = 64 };
  };
  __shared__ int s[C::N];
  SWAP
}

__global__ void size10(int *a, int n) {
  struct alignas(32) C {
    int x;
  };
  __shared__ int s[alignof(C) * 2];
  SWAP
}

__global__ void size11(int *a, int n) {
  typedef int row[64];
  __shared__ int s[sizeof(row) / sizeof(int)];
  SWAP
}

__global__ void size12(int *a, int n) {
  __shared__ int s[sizeof(n) * 16];
  SWAP
}

__global__ void size13(int *a, int n) {
  constexpr auto twice = [](int x) { return x * 2; };
  __shared__ int s[twice(32)];
  SWAP
}

__global__ void size14(int *a, int n) {
  {
    constexpr int N = 2;
    __shared__ int t[64][N];
    t[threadIdx.x][0] = N;
  }
  constexpr int N = 64;
  __shared__ int s[N];
  SWAP
}

__global__ void size15(int *a, int n) {
  constexpr int N = 4, M = N * 16;
  __shared__ int s[M];
  {
    constexpr int N = 2;
    __shared__ int t[N][M];
    t[0][threadIdx.x] = N;
  }
  SWAP
}

struct C_size16 {
  static constexpr int N = 64;
};
__global__ void size16(int *a, int n) {
  using D = C_size16;
  D d;
  __shared__ int s[D::N], t[decltype(d)::N];
  t[threadIdx.x] = 0;
  SWAP
}

template <int N> struct A_size17 {
  template <int M> struct B_size17 {
    enum { v = N * M };
  };
};
__global__ void size17(int *a, int n) {
  __shared__ int s[A_size17<8>::B_size17<8>::v];
  SWAP
}

__host__ __device__ constexpr int twice_size18(int n) {
  return 2 * n;
}
template <int N> constexpr int half_size18 = N / 2;
__global__ void size18(int *a, int n) {
  constexpr int M = twice_size18(16);
  __shared__ int s[twice_size18(M)], t[half_size18<128>];
  t[threadIdx.x] = 0;
  SWAP
}

template <int W_size19, int H> struct Shape_size19 {
  __host__ __device__ constexpr int size() const { return W_size19 * H; }
};
__global__ void size19(int *a, int n) {
  constexpr Shape_size19<8, 8> c{};
  __shared__ int s[c.size()];
  SWAP
}

struct Cfg_size20 {
  int m, n;
  __host__ __device__ constexpr int size() const { return m * n; }
};
__global__ void size20(int *a, int n) {
  static constexpr Cfg_size20 c{8, 8};
  __shared__ int s[c.size()];
  SWAP
}

struct Cfg_size21 {
  int m, n;
  __host__ __device__ constexpr int size() const { return m * n; }
};
template <int N> struct Tile_size21 {
  int v[N];
  __device__ int &operator[](int i) { return v[i]; }
};
__global__ void size21(int *a, int n) {
  constexpr Cfg_size21 c{8, 8};
  __shared__ Tile_size21<c.size()> s;
  SWAP
}

template <int N, class T> struct Tile_size22 {
  T v[N];
  __device__ T &operator[](int i) { return v[i]; }
};
__global__ void size22(int *a, int n) {
  constexpr int N = 32;
  __shared__ Tile_size22<(N * 2), int> s;
  SWAP
}

namespace q {
constexpr int N = 64;
}
__global__ void size23(int *a, int n) {
  namespace z = q;
  using q::N;
  __shared__ int s[z::N], t[N];
  t[threadIdx.x] = 0;
  SWAP
}

consteval int half_size24(int n) {
  return n / 2;
}
__global__ void size24(int *a, int n) {
  __shared__ int s[half_size24(128)];
  SWAP
}

/* ---- types */

__global__ void type1(int *a, int n) {
  struct L {
    int x, y;
  };
  __shared__ L s[64];
  SWAP_MEMBERS
}

__global__ void type2(int *a, int n) {
  class L {
  public:
    int x;
  };
  volatile __shared__ L s[64];
  SWAP_MEMBERS
}

__global__ void type3(int *a, int n) {
  union L {
    int x;
    float y;
  };
  using T = L;
  __shared__ T s[64];
  SWAP_MEMBERS
}

__global__ void type4(int *a, int n) {
  constexpr int N = 4;
  struct I {
    int x[N];
  };
  struct L {
    I i;
    int x;
  };
  __shared__ L s[64];
  SWAP_MEMBERS
}

__global__ void type5(int *a, int n) {
  struct __align__(16) L {
    int x;
  };
  __shared__ L s[sizeof(L) * 4];
  SWAP_MEMBERS
}

__global__ void type6(int *a, int n) {
  __shared__ struct __align__(16) L {
    int x;
    __device__ int get() const {
      return x;
    }
  }
  s[64];
  L mine{(int)threadIdx.x};
  s[threadIdx.x] = mine;
  __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x].get() + sizeof(L) - 16;
}

__global__ void type7(int *a, int n) {
  enum E { ONE = 1, TWO };
  __shared__ E e[64];
  __shared__ int s[64];
  e[threadIdx.x] = TWO;
  SWAP
}

__device__ int turn_type8(int v) {
  struct L_type8 {
    int x, y;
  };
  __shared__ L_type8 s[64];
  s[threadIdx.x].x = v;
  __syncthreads();
  int r = s[63 - threadIdx.x].x;
  __syncthreads();
  return r;
}
__global__ void type8(int *a, int n) {
  a[threadIdx.x] = turn_type8(threadIdx.x);
}

template <class T> __device__ T turn_type9(T v) {
  struct L_type9 {
    T x;
  };
  __shared__ L_type9 s[64];
  s[threadIdx.x].x = v;
  __syncthreads();
  return s[63 - threadIdx.x].x;
}
__global__ void type9(int *a, int n) {
  a[threadIdx.x] = turn_type9((int)threadIdx.x);
}

__global__ void type10(int *a, int n) {
  __shared__ decltype(n) s[64];
  SWAP
}

__global__ void type11(int *a, int n) {
  __shared__ decltype(n) t;
  __shared__ decltype(t) s[64];
  if (threadIdx.x == 0) t = 0;
  SWAP
}

__global__ void type12(int *a, int n) {
  auto x = threadIdx.x + 0;
  __shared__ decltype(x) s[64];
  SWAP
}

struct P_type13 {
  int x, y;
};
__global__ void type13(int *a, int n) {
  auto [u, v] = P_type13{1, 2};
  __shared__ decltype(u) s[64];
  SWAP
}

__global__ void type14(int *a, int n) {
  for (int i = 0; i < 1; i++) {
    __shared__ decltype(i) s[64];
    SWAP
  }
}

template <class T> __device__ T turn_type15(T v) {
  __shared__ decltype(v + v) s[64];
  TURN
}
__global__ void type15(int *a, int n) {
  a[threadIdx.x] = turn_type15((int)threadIdx.x);
}

__global__ void type17(int *a, int n) {
  constexpr int N = 64;
  __shared__ int *p[N], s[N], *q;
  p[threadIdx.x] = s;
  if (threadIdx.x == 0) q = s;
  SWAP
}

__global__ void type18(int *a, int n) {
  constexpr int A = 64;
  alignas(A) __shared__ int s[64];
  [[maybe_unused]] __shared__ int t[64];
  t[threadIdx.x] = 0;
  SWAP a[threadIdx.x] += (unsigned long long)s % A != 0;
}

struct B_type19 {
  using T = int;
  static constexpr int N = 64;
  __device__ int turn_type19(T v);
};
__device__ int B_type19::turn_type19(T v) {
  __shared__ T s[N];
  TURN
}
__global__ void type19(int *a, int n) {
  B_type19 b;
  a[threadIdx.x] = b.turn_type19(threadIdx.x);
}

__device__ int turn_type20(int v) {
  __shared__ int s[64];
  TURN
}
__device__ int turn_type20(float v) {
  __shared__ float s[64];
  TURN
}
__global__ void type20(int *a, int n) {
  a[threadIdx.x] = (turn_type20((int)threadIdx.x) + turn_type20((float)threadIdx.x)) / 2;
}

/* ---- __device__ __shared__ */

/* Other kernels have an s of their own. */
__device__ __shared__ int s[64];
static __device__ __shared__ int t[64];
__global__ void both1(int *a, int n) {
  t[threadIdx.x] = 0;
  SWAP
}

__global__ void both2(int *a, int n) {
  __device__ __shared__ int s[64];
  SWAP
}

__device__ int turn_both3(int v) {
  __shared__ __device__ int s[64];
  TURN
}
__global__ void both3(int *a, int n) {
  a[threadIdx.x] = turn_both3(threadIdx.x);
}

extern __device__ __shared__ int dynamic[];
__global__ void both4(int *a, int n) {
  int *s = dynamic;
  SWAP
}
