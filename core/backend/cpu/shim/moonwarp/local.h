/* SPDX-License-Identifier: MIT
 *
 * Local variables that check mode follows: see check/mark/locals.c. The checker knows a followed variable from its
 * declaration to the end of its scope, by the address. Included by generated code. */
extern "C" {
#include "../check/cell.h"
__attribute__((visibility("hidden"))) void mw_check_local(mw_local *, int begins);
__attribute__((visibility("hidden"))) void mw_check_used(const void *, const char *file, int line);
}

template <class T> struct mw_element_of { typedef T type; };
template <class T, size_t N> struct mw_element_of<T[N]> : mw_element_of<T> {};

struct mw_followed {
  mw_local it;
  MW_TESTED_MEMBER mw_followed(const char *name, const void *from, const void *at, size_t bytes, const void *end,
                               size_t element, mw_local_kind kind)
      : it{name, (size_t)from, (size_t)at, bytes, (size_t)end, (unsigned)element, kind, nullptr} {
    mw_check_local(&it, 1);
  }
  MW_TESTED_MEMBER ~mw_followed() { mw_check_local(&it, 0); }
};

struct mw_zone { /* next to an array; nothing is written there */
  char at[128];
  MW_TESTED_MEMBER mw_zone() {}
};

template <class T, bool IsSet> struct mw_fenced {
  typedef typename mw_element_of<T>::type element;
  const char *name;
  mw_zone front;
  T at;
  mw_zone back;
  mw_followed followed{name, &front, &at, sizeof at, &back + 1, sizeof(element),
                       IsSet || __is_class(element) ? MW_LOCAL_SET : MW_LOCAL_ARRAY};
  /* clang++ calls no hook where it sees that an address is that of an element of a local variable. */
  MW_TESTED_MEMBER T &get() {
    T *array = &at;
    asm("" : "+r"(array));
    return *array;
  }
};

template <class T> struct mw_unset {
  mw_followed followed;
  MW_TESTED_MEMBER mw_unset(T &it, const char *name)
      : followed{name, &it, &it, sizeof it, &it + 1, sizeof it, __is_class(T) ? MW_LOCAL_SET : MW_LOCAL_SCALAR} {}
};

template <class T> MW_TESTED T &mw_used(T &it, MW_HERE) {
  mw_check_used(&it, mw_file, mw_line);
  return it;
}
