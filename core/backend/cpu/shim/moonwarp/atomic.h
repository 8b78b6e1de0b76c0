/* SPDX-License-Identifier: MIT
 *
 * Atomics on global and shared memory. Relaxed order, as CUDA's; all scopes are the system's, since blocks run on
 * several CPU threads. */
#ifndef MW_ATOMIC_H
#define MW_ATOMIC_H

/* Tells check mode what the next operation is: 1: its scope is the block; 2: a compare-and-swap. */
#if defined(MW_CHECK)
extern "C" __attribute__((visibility("hidden"))) void mw_check_next(int what);
#define MW_NEXT_IS(what) mw_check_next(what);
#else
#define MW_NEXT_IS(what)
#endif

/* One compare-and-swap loop for what the CPU has no instruction for. `next` is computed from `old`. */
#define MW_CAS_LOOP(T, Bits, p, old, next)                                                                             \
  Bits mw_bits_now = __atomic_load_n((Bits *)(p), __ATOMIC_RELAXED);                                                   \
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

#endif
