/* SPDX-License-Identifier: MIT
 *
 * NULL and offsetof; size_t and ptrdiff_t are built in. */
#ifndef MW_STDDEF_H
#define MW_STDDEF_H

#if !defined(NULL)
#define NULL __null
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)

#endif
