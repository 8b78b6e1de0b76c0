/* SPDX-License-Identifier: MIT
 *
 * assert is built in; this header takes it away where NDEBUG is defined. */
#ifndef MW_ASSERT_H
#define MW_ASSERT_H

#if defined(NDEBUG)
#undef assert
#define assert(e) ((void)0)
#endif

#endif
