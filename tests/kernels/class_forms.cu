/* SPDX-License-Identifier: MIT
 *
 * Classes, functions and constants that nvcc takes (C++20): defined outside of their class, friends, guides, results, new.
 * Each kernel stores 63 - threadIdx.x, in a block of 64 threads; n is 5. */
#include <new>

#define SWAP s[threadIdx.x] = threadIdx.x; __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x];
#define TURN s[threadIdx.x] = v; __syncthreads(); const int r = s[63 - threadIdx.x]; __syncthreads(); return r;

struct G_outside1 {
  int *p;
  __device__ G_outside1(int *q);
  __device__ ~G_outside1();
};
__device__ G_outside1::G_outside1(int *q) : p(q) {}
__device__ G_outside1::~G_outside1() {
  *p += 1;
}
__global__ void outside1(int *a, int n) {
  a[threadIdx.x] = 62 - threadIdx.x;
  { G_outside1 g(a + threadIdx.x); }
}

template <class T> struct G_outside2 {
  T *p;
  __device__ ~G_outside2();
};
template <class T> __device__ G_outside2<T>::~G_outside2() {
  *p += 1;
}
__global__ void outside2(int *a, int n) {
  __shared__ int s[64];
  SWAP {
    G_outside2<int> g{a + threadIdx.x};
  }
  a[threadIdx.x] -= 1;
}

struct O_outside3 {
  struct I_outside3 {
    int x;
    __device__ int get_outside3();
    __host__ __device__ ~I_outside3();
  };
};
__device__ int O_outside3::I_outside3::get_outside3() {
  return x;
}
inline O_outside3::I_outside3::~I_outside3() = default;
__global__ void outside3(int *a, int n) {
  O_outside3::I_outside3 i{63 - (int)threadIdx.x};
  a[threadIdx.x] = i.get_outside3();
}

struct P_outside4 {
  int x;
  __device__ P_outside4 operator-(P_outside4 o) const;
  __device__ operator int() const;
};
__device__ P_outside4 P_outside4::operator-(P_outside4 o) const {
  return P_outside4{x - o.x};
}
__device__ P_outside4::operator int() const {
  return x;
}
__global__ void outside4(int *a, int n) {
  P_outside4 p{63}, q{(int)threadIdx.x};
  a[threadIdx.x] = p - q;
}

template <class T> struct V_outside5 {
  T x;
  template <class U> __device__ U operator()(U y) const;
  __device__ T &operator[](int);
  __device__ explicit operator T() const;
};
template <class T> template <class U> __device__ U V_outside5<T>::operator()(U y) const {
  return x - y;
}
template <class T> __device__ T &V_outside5<T>::operator[](int) {
  return x;
}
template <class T> __device__ V_outside5<T>::operator T() const {
  return x;
}
__global__ void outside5(int *a, int n) {
  V_outside5<int> v{0};
  v[0] = 63;
  a[threadIdx.x] = v(threadIdx.x) + (int)v - 63;
}

class P_inside1 {
  int x;

public:
  __device__ P_inside1(int v) : x(v) {}
  friend __device__ int get_inside1(const P_inside1 &);
  friend __device__ bool operator<(const P_inside1 &, const P_inside1 &);
};
__device__ int get_inside1(const P_inside1 &p) {
  return p.x;
}
__device__ bool operator<(const P_inside1 &p, const P_inside1 &q) {
  return p.x < q.x;
}
__global__ void inside1(int *a, int n) {
  P_inside1 p((int)threadIdx.x);
  a[threadIdx.x] = p < P_inside1(32) ? 63 - get_inside1(p) : 63 - get_inside1(p);
}

template <class T> class P_inside2;
template <class T> __device__ T get_inside2(const P_inside2<T> &);
template <class T> class P_inside2 {
  T x;

public:
  __device__ P_inside2(T v) : x(v) {}
  friend __device__ T get_inside2<T>(const P_inside2<T> &);
};
template <class T> __device__ T get_inside2(const P_inside2<T> &p) {
  return p.x;
}
__global__ void inside2(int *a, int n) {
  P_inside2<int> p(63 - (int)threadIdx.x);
  a[threadIdx.x] = get_inside2(p);
}

class P_inside3 {
  int x;

public:
  __device__ P_inside3(int v) : x(v) {}
  friend __device__ int down_inside3(const P_inside3 &);
};
__device__ int down_inside3(const P_inside3 &p) {
  return p.x > 0 ? 1 + down_inside3(P_inside3(p.x - 1)) : 0;
}
__global__ void inside3(int *a, int n) {
  a[threadIdx.x] = down_inside3(P_inside3(63 - (int)threadIdx.x));
}

class P_inside4 {
  int x;

public:
  __device__ P_inside4(int v) : x(v) {}
  friend __device__ int turn_inside4(const P_inside4 &);
};
__device__ int turn_inside4(const P_inside4 &p) {
  __shared__ int s[64];
  int v = p.x;
  TURN
}
__global__ void inside4(int *a, int n) {
  a[threadIdx.x] = turn_inside4(P_inside4((int)threadIdx.x));
}

__global__ void inside6(int *a, int n) {
  __device__ int later_inside6(int);
  a[threadIdx.x] = later_inside6(threadIdx.x);
}
__device__ int later_inside6(int x) {
  return 63 - x;
}

__global__ auto result1(int *a, int n) -> void {
  a[threadIdx.x] = 63 - threadIdx.x;
}

__global__ auto result2(int *a, int n) -> void {
  __shared__ int s[64];
  SWAP
}

__device__ auto one_result3(int n) {
  return n + 0.5f;
}
__device__ decltype(auto) two_result3(int &n) {
  return (n);
}
template <class T> __device__ auto three_result3(T n) -> decltype(n - 1) {
  return n - 1;
}
__global__ void result3(int *a, int n) {
  two_result3(a[threadIdx.x]) = three_result3((int)(one_result3(64 - threadIdx.x)));
}

template <class T> struct V_result4 {
  T x;
  __device__ V_result4(T v) : x(v) {}
};
template <class T> V_result4(T) -> V_result4<T>;
explicit V_result4(unsigned char)->V_result4<int>;
template <class T> struct W_result4 { T x; };
template <class T> __device__ W_result4(T)->W_result4<T>;
__global__ void result4(int *a, int n) {
  V_result4 v(63);
  W_result4 w{(int)threadIdx.x};
  V_result4 c((unsigned char)1);
  a[threadIdx.x] = v.x - w.x + c.x - 1;
}

consteval int half_result5(int n) {
  return n / 2;
}
template <class T> consteval T same_result5(T n) {
  return n;
}
consteval __device__ int one_result5() {
  return 1;
}
struct S_result5 {
  int v;
  consteval S_result5(int n) : v(n) {}
  consteval int get_result5() const { return v; }
};
__global__ void result5(int *a, int n) {
  constexpr S_result5 s(63);
  a[threadIdx.x] = half_result5(2) * same_result5(2) + s.get_result5() - one_result5() - 1 - threadIdx.x;
}

__device__ int get_result7(const int &n) {
  return n;
}
__global__ void result7(int *a, int n) {
  static constexpr int N = 63, t[2] = {1, 2};
  a[threadIdx.x] = get_result7(N) - threadIdx.x + t[n % 2] - 2;
}

struct P_result8 {
  int x;
  __device__ P_result8(int v) : x(v) {}
};
__global__ void result8(int *a, int n) {
  __shared__ int s[64];
  P_result8 *p = new (&s[threadIdx.x]) P_result8(threadIdx.x);
  __syncthreads();
  a[threadIdx.x] = s[63 - threadIdx.x] + 0 * p->x;
}

struct P_result9 {
  int x;
  __device__ P_result9(int v) : x(v) {}
};
__device__ int made_result9(int v) {
  alignas(P_result9) unsigned char room[sizeof(P_result9)];
  return (new (room) P_result9(v))->x;
}
__global__ void result9(int *a, int n) {
  a[threadIdx.x] = made_result9(63 - threadIdx.x);
}
