/* SPDX-License-Identifier: MIT
 *
 * Loads and stores with cache hints (the hint is dropped), memcpy and memset, and what is rejected by name.
 * Included by moonwarp.h only. */

#define MW_LOAD(name)                                                                                                  \
  template <class T> MW_FN T name(const T *p) { return *p; }
MW_LOAD(__ldg)
MW_LOAD(__ldca)
MW_LOAD(__ldcg)
MW_LOAD(__ldcs)
MW_LOAD(__ldlu)
MW_LOAD(__ldcv)

template <class T> struct mw_self_of { typedef T type; };
template <class T> using mw_itself = typename mw_self_of<T>::type; /* not deduced: a value is converted */

#define MW_STORE(name)                                                                                                 \
  template <class T> MW_FN void name(T *p, mw_itself<T> value) { *p = value; }
MW_STORE(__stwb)
MW_STORE(__stcg)
MW_STORE(__stcs)
MW_STORE(__stwt)

extern "C" void *memcpy(void *, const void *, size_t);
extern "C" void *memmove(void *, const void *, size_t);
extern "C" void *memset(void *, int, size_t);
extern "C" int memcmp(const void *, const void *, size_t);

/* Everything is in one address space. */
MW_FN unsigned __isGlobal(const void *p) { return p != nullptr; }
MW_FN size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
MW_FN size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }

/* In one address space these cannot be answered. */
#define MW_NO_SPACE(name)                                                                                              \
  template <class T> unsigned name(T) __attribute__((error(#name " needs the CUDA device: the CPU has one address space")));
MW_NO_SPACE(__isShared)
MW_NO_SPACE(__isConstant)
MW_NO_SPACE(__isLocal)
MW_NO_SPACE(__isGridConstant)

/* Templates, so that only a use is an error, and one that carries this text. */
template <class T> void *malloc(T) __attribute__((error("malloc in a kernel needs the CUDA device")));
template <class T> void free(T *) __attribute__((error("free in a kernel needs the CUDA device")));
