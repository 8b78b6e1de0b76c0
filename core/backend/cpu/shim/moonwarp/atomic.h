/* SPDX-License-Identifier: MIT
 *
 * Atomics on global and shared memory. Relaxed order, as CUDA's; all scopes are the system's, since blocks run on
 * several CPU threads. */
#ifndef MW_ATOMIC_H
#define MW_ATOMIC_H

/* Tells check mode what the next operation is: 1: its scope is the block; 2: a compare-and-swap; 4: its scope is the
 * thread. */
#if defined(MW_CHECK)
extern "C" __attribute__((visibility("hidden"))) void mw_check_next(int what);
#define MW_NEXT_IS(what) mw_check_next(what);
#else
#define MW_NEXT_IS(what)
#endif

/* Such a loop is one atomic operation: its first load has no hook. */
#if defined(MW_CHECK)
#define MW_CAS_FIRST(Bits, p) mw_quiet(*(const Bits *)(p))
#else
#define MW_CAS_FIRST(Bits, p) __atomic_load_n((Bits *)(p), __ATOMIC_RELAXED)
#endif

/* One compare-and-swap loop for what the CPU has no instruction for. `next` is computed from `old`. */
#define MW_CAS_LOOP(T, Bits, p, old, next)                                                                             \
  Bits mw_bits_now = MW_CAS_FIRST(Bits, p);                                                                            \
  T old;                                                                                                               \
  do {                                                                                                                 \
    old = mw_bits<T>(mw_bits_now);                                                                                     \
  } while (!__atomic_compare_exchange_n((Bits *)(p), &mw_bits_now, mw_bits<Bits>((T)(next)), 1, __ATOMIC_RELAXED,      \
                                        __ATOMIC_RELAXED));                                                            \
  return old

/* The bits of a number in memory, exempt from the aliasing rules. */
typedef unsigned short __attribute__((may_alias)) mw_bits16;
typedef unsigned __attribute__((may_alias)) mw_bits32;
typedef unsigned long long __attribute__((may_alias)) mw_bits64;

/* Each operation under its three names. */
#define MW_ATOMIC(name, T, body)                                                                                       \
  MW_FN T name(T *p, T v) { body; }                                                                                    \
  MW_FN T name##_block(T *p, T v) { MW_NEXT_IS(1) body; }                                                              \
  MW_FN T name##_system(T *p, T v) { body; }

#define MW_ATOMIC_ARITHMETIC(T)                                                                                        \
  MW_ATOMIC(atomicAdd, T, return __atomic_fetch_add(p, v, __ATOMIC_RELAXED))                                           \
  MW_ATOMIC(atomicMin, T, MW_CAS_LOOP(T, T, p, old, v < old ? v : old))                                                \
  MW_ATOMIC(atomicMax, T, MW_CAS_LOOP(T, T, p, old, v > old ? v : old))                                                \
  MW_ATOMIC(atomicAnd, T, return __atomic_fetch_and(p, v, __ATOMIC_RELAXED))                                           \
  MW_ATOMIC(atomicOr, T, return __atomic_fetch_or(p, v, __ATOMIC_RELAXED))                                             \
  MW_ATOMIC(atomicXor, T, return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED))                                           \
  MW_ATOMIC(atomicExch, T, return mw_exchange(p, v))                                                                   \
  MW_COMPARE_AND_SWAP(T)

#define MW_COMPARE_AND_SWAP(T)                                                                                         \
  MW_FN T atomicCAS(T *p, T compare, T v) { return mw_compare_and_swap(p, compare, v); }                               \
  MW_FN T atomicCAS_block(T *p, T compare, T v) { MW_NEXT_IS(1) return mw_compare_and_swap(p, compare, v); }           \
  MW_FN T atomicCAS_system(T *p, T compare, T v) { return mw_compare_and_swap(p, compare, v); }

/* An exchange that changes nothing and a failed swap are how a thread waits for a lock: its holder may be another
 * fiber of the same CPU thread, so let it run. */
template <class T> MW_FN T mw_exchange(T *p, T v) {
  T old = __atomic_exchange_n(p, v, __ATOMIC_RELAXED);
  if (old == v) mw_yield();
  return old;
}

template <class T> MW_FN T mw_compare_and_swap(T *p, T compare, T v) {
  MW_NEXT_IS(2)
  if (!__atomic_compare_exchange_n(p, &compare, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) mw_yield();
  return compare;
}

MW_ATOMIC_ARITHMETIC(int)
MW_ATOMIC_ARITHMETIC(unsigned)
MW_ATOMIC_ARITHMETIC(unsigned long long)
MW_ATOMIC_ARITHMETIC(long long)
MW_COMPARE_AND_SWAP(unsigned short)

MW_ATOMIC(atomicSub, int, return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED))
MW_ATOMIC(atomicSub, unsigned, return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED))
MW_ATOMIC(atomicInc, unsigned, MW_CAS_LOOP(unsigned, unsigned, p, old, old >= v ? 0 : old + 1))
MW_ATOMIC(atomicDec, unsigned, MW_CAS_LOOP(unsigned, unsigned, p, old, old == 0 || old > v ? v : old - 1))
MW_ATOMIC(atomicAdd, float, MW_CAS_LOOP(float, mw_bits32, p, old, old + v))
MW_ATOMIC(atomicAdd, double, MW_CAS_LOOP(double, mw_bits64, p, old, old + v))
MW_ATOMIC(atomicExch, float, return mw_bits<float>(mw_exchange((mw_bits32 *)p, mw_bits<mw_bits32>(v))))

#define MW_ATOMIC_VECTOR(name, T, Part)                                                                                \
  MW_FN T name(T *p, T v) {                                                                                            \
    Part *part = &p->x;                                                                                                \
    T old = v;                                                                                                         \
    for (unsigned i = 0; i < sizeof(T) / sizeof(Part); i++) (&old.x)[i] = atomicAdd(part + i, (&v.x)[i]);              \
    return old;                                                                                                        \
  }
#define MW_ATOMIC_VECTOR_SCOPES(T, Part)                                                                               \
  MW_ATOMIC_VECTOR(atomicAdd, T, Part)                                                                                 \
  MW_ATOMIC_VECTOR(atomicAdd_block, T, Part)                                                                           \
  MW_ATOMIC_VECTOR(atomicAdd_system, T, Part)
MW_ATOMIC_VECTOR_SCOPES(float2, float)
MW_ATOMIC_VECTOR_SCOPES(float4, float)

/* {== The compiler's own: __nv_atomic_*, of any type of 2, 4 or 8 bytes; of every scope as of the system ============ */

enum {
  __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

MW_FN bool mw_of_block(int scope) { return scope <= __NV_THREAD_SCOPE_BLOCK; }
MW_FN int mw_scope_bits(int scope) { return scope == __NV_THREAD_SCOPE_THREAD ? 4 : scope == __NV_THREAD_SCOPE_BLOCK; }

MW_FN void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __ATOMIC_RELAXED) mw_of_block(scope) ? __threadfence_block() : __threadfence();
}

/* What an operation of that order does before it, to publish, and after it, to see what others have published. */
MW_FN void mw_fence_before(int order, int scope) {
  if (order != __ATOMIC_ACQUIRE && order != __ATOMIC_CONSUME) __nv_atomic_thread_fence(order, scope);
}
MW_FN void mw_fence_after(int order, int scope) {
  if (order != __ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}

template <size_t Bytes> struct mw_atomic_bits;
template <> struct mw_atomic_bits<2> { typedef mw_bits16 type; };
template <> struct mw_atomic_bits<4> { typedef mw_bits32 type; };
template <> struct mw_atomic_bits<8> { typedef mw_bits64 type; };

/* Each as an operation on values, and on what pointers point to. */
#define MW_SCOPE int scope = __NV_THREAD_SCOPE_SYSTEM
template <class T> MW_FN T __nv_atomic_load_n(const T *p, int order, MW_SCOPE) {
  T value;
  MW_NEXT_IS(mw_scope_bits(scope))
  __atomic_load(p, &value, __ATOMIC_RELAXED);
  mw_fence_after(order, scope);
  return value;
}
template <class T> MW_FN void __nv_atomic_load(const T *p, T *value, int order, MW_SCOPE) {
  *value = __nv_atomic_load_n(p, order, scope);
}
template <class T> MW_FN void __nv_atomic_store_n(T *p, mw_itself<T> value, int order, MW_SCOPE) {
  mw_fence_before(order, scope);
  MW_NEXT_IS(mw_scope_bits(scope))
  __atomic_store(p, &value, __ATOMIC_RELAXED);
}
template <class T> MW_FN void __nv_atomic_store(T *p, T *value, int order, MW_SCOPE) {
  __nv_atomic_store_n(p, *value, order, scope);
}
template <class T> MW_FN T __nv_atomic_exchange_n(T *p, mw_itself<T> value, int order, MW_SCOPE) {
  typedef typename mw_atomic_bits<sizeof(T)>::type Bits;
  mw_fence_before(order, scope);
  MW_NEXT_IS(mw_scope_bits(scope))
  const T old = mw_bits<T>(mw_exchange((Bits *)p, mw_bits<Bits>(value)));
  mw_fence_after(order, scope);
  return old;
}
template <class T> MW_FN void __nv_atomic_exchange(T *p, T *value, T *old, int order, MW_SCOPE) {
  *old = __nv_atomic_exchange_n(p, *value, order, scope);
}
template <class T>
MW_FN bool __nv_atomic_compare_exchange_n(T *p, T *expected, mw_itself<T> value, bool, int order, int failed,
                                          MW_SCOPE) {
  typedef typename mw_atomic_bits<sizeof(T)>::type Bits;
  mw_fence_before(order, scope);
  MW_NEXT_IS(mw_scope_bits(scope))
  const Bits wanted = mw_bits<Bits>(*expected), old = mw_compare_and_swap((Bits *)p, wanted, mw_bits<Bits>(value));
  mw_fence_after(old == wanted ? order : failed, scope);
  if (old != wanted) *expected = mw_bits<T>(old);
  return old == wanted;
}
template <class T>
MW_FN bool __nv_atomic_compare_exchange(T *p, T *expected, T *value, bool weak, int order, int failed, MW_SCOPE) {
  return __nv_atomic_compare_exchange_n(p, expected, *value, weak, order, failed, scope);
}

#define MW_NV_ATOMIC(name, e)                                                                                          \
  template <class T> MW_FN T mw_fetch_##name(T *p, T v) {                                                              \
    typedef typename mw_atomic_bits<sizeof(T)>::type Bits;                                                             \
    MW_CAS_LOOP(T, Bits, p, old, e);                                                                                   \
  }                                                                                                                    \
  template <class T> MW_FN T __nv_atomic_fetch_##name(T *p, mw_itself<T> v, int order, MW_SCOPE) {                     \
    mw_fence_before(order, scope);                                                                                     \
    MW_NEXT_IS(mw_scope_bits(scope))                                                                                     \
    const T old = mw_fetch_##name(p, v);                                                                               \
    mw_fence_after(order, scope);                                                                                      \
    return old;                                                                                                        \
  }                                                                                                                    \
  template <class T> MW_FN void __nv_atomic_##name(T *p, mw_itself<T> v, int order, MW_SCOPE) {                        \
    __nv_atomic_fetch_##name(p, v, order, scope);                                                                      \
  }
MW_NV_ATOMIC(add, old + v)
MW_NV_ATOMIC(sub, old - v)
MW_NV_ATOMIC(and, old & v)
MW_NV_ATOMIC(or, old | v)
MW_NV_ATOMIC(xor, old ^ v)
MW_NV_ATOMIC(min, v < old ? v : old)
MW_NV_ATOMIC(max, v > old ? v : old)
#undef MW_SCOPE

/* ==} */

#endif
