/* SPDX-License-Identifier: MIT
 *
 * Loads and stores with cache hints (the hint is dropped), memcpy and memset, and what is rejected by name.
 * Included by moonwarp.h only. */

#if defined(MW_CHECK)
/* Whole vectors and structures of a pointer. clang++ does not test where they are: see check/mark/aligned.c. */
#define MW_TESTED_MEMBER inline __attribute__((always_inline, no_sanitize("alignment")))
#define MW_TESTED        static MW_TESTED_MEMBER
extern "C" __attribute__((visibility("hidden"))) void mw_check_misaligned(const void *, size_t alignment,
                                                                          const char *function, const char *file,
                                                                          int line);
#if defined(MW_COUNT)
/* Its members' accesses are one, as far as its alignment permits. Depends on nothing but what it is given, so that the
 * compiler moves it with the accesses, which need its result. */
extern "C" __attribute__((const, visibility("hidden"))) const void *mw_count_whole(const void *, size_t bytes,
                                                                                   size_t alignment);
template <class T> MW_TESTED T &mw_whole(T *at) {
  return __is_class(T) ? *(T *)mw_count_whole((const void *)at, sizeof(T), alignof(T)) : *at;
}
#else
template <class T> MW_TESTED T &mw_whole(T *at) { return *at; }
#endif
template <class T> MW_TESTED T &mw_tested(T *at, const char *file, int line) {
  if (__is_class(T) && (size_t)at % alignof(T)) mw_check_misaligned(at, alignof(T), __PRETTY_FUNCTION__, file, line);
  return mw_whole(at);
}
/* A pointer that is dereferenced; noexcept(*p) is as without check mode. */
template <class T> struct mw_aligned {
  T *at;
  const char *file;
  int line;
  template <class From> MW_TESTED_MEMBER mw_aligned(From from, MW_HERE) noexcept
      : at((T *)from), file(mw_file), line(mw_line) {}
  template <class N> MW_TESTED_MEMBER mw_aligned operator+(N count) const noexcept {
    return mw_aligned(at + count, file, line);
  }
#if defined(__clang__)
  MW_TESTED_MEMBER T &operator*() const noexcept { return mw_tested(at, file, line); }
  template <class N> MW_TESTED_MEMBER T &operator[](N i) const noexcept { return mw_tested(at + i, file, line); }
#else
  MW_TESTED_MEMBER T &operator*() const noexcept { return mw_whole(at); }
  template <class N> MW_TESTED_MEMBER T &operator[](N i) const noexcept { return mw_whole(at + i); }
#endif
};
/* mw_at: of a pointer to a class an mw_aligned, of anything else itself. */
template <class T, class Same, bool = __is_class(T)> struct mw_pointer_to { typedef mw_aligned<T> aligned; };
template <class T, class Same> struct mw_pointer_to<T, Same, false> { typedef Same same; };
template <class P, class Same> struct mw_pointer { typedef Same same; };
template <class P, class Same> struct mw_pointer<P &, Same> : mw_pointer<P, Same> {};
#define MW_POINTER(how)                                                                                                \
  template <class T, class Same> struct mw_pointer<T *how, Same> : mw_pointer_to<T, Same> {};
MW_POINTER()
MW_POINTER(const)
MW_POINTER(__restrict__)
MW_POINTER(const __restrict__)
template <class P> MW_TESTED typename mw_pointer<P, P &&>::aligned mw_at(P &&from, MW_HERE) noexcept {
  return {from, mw_file, mw_line};
}
template <class P> MW_TESTED typename mw_pointer<P, P &&>::same mw_at(P &&from) noexcept { return (P &&)from; }
#define MW_AT(p) mw_tested(p, mw_file, mw_line)
#define MW_FROM , MW_HERE
#else
#define MW_TESTED MW_FN
#define MW_AT(p) *p
#define MW_FROM
#endif

#define MW_LOAD(name)                                                                                                  \
  template <class T> MW_TESTED T name(const T *p MW_FROM) { return MW_AT(p); }
MW_LOAD(__ldg)
MW_LOAD(__ldca)
MW_LOAD(__ldcg)
MW_LOAD(__ldcs)
MW_LOAD(__ldlu)
MW_LOAD(__ldcv)

template <class T> struct mw_self_of { typedef T type; };
template <class T> using mw_itself = typename mw_self_of<T>::type; /* not deduced: a value is converted */

#define MW_STORE(name)                                                                                                 \
  template <class T> MW_TESTED void name(T *p, mw_itself<T> value MW_FROM) { MW_AT(p) = value; }
MW_STORE(__stwb)
MW_STORE(__stcg)
MW_STORE(__stcs)
MW_STORE(__stwt)

#if defined(MW_CHECK) /* the compilers call the plain names to copy structures */
#define MW_OF_KERNEL(name) __asm__("mw_check_" #name) __attribute__((visibility("hidden")))
#else
#define MW_OF_KERNEL(name)
#endif
extern "C" void *memcpy(void *, const void *, size_t) MW_OF_KERNEL(memcpy);
extern "C" void *memmove(void *, const void *, size_t) MW_OF_KERNEL(memmove);
extern "C" void *memset(void *, int, size_t);
extern "C" int memcmp(const void *, const void *, size_t);

/* Placement new, as nvcc has it without a header; a program's own comes first. */
template <class T> inline void *operator new(size_t, T *at) noexcept { return (void *)at; }
template <class T> inline void *operator new[](size_t, T *at) noexcept { return (void *)at; }

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
