/* SPDX-License-Identifier: MIT
 *
 * CUDA C++ for an ordinary C++ compiler (g++ >= 11, clang++ >= 14, C++14 to C++20): included first by every unit that
 * core/backend/cpu generates from a .cu file. No standard header is included, here or below: parsing them would take
 * longer than everything else a first launch does.
 *
 * The unit defines MW_FAST or MW_FIBER as 1 before this. FAST: built-in coordinates are plain thread-local variables
 * set by the launcher's loops; barriers and warp operations may only be reached in kernels that run elsewhere. FIBER:
 * coordinates are read through mw_self, barriers and warp operations call the host. See README.md next to this file. */
#ifndef MW_MOONWARP_H
#define MW_MOONWARP_H

#if !defined(MW_FAST) && !defined(MW_FIBER)
#error "a unit defines MW_FAST or MW_FIBER before it includes moonwarp.h"
#endif

#pragma GCC system_header

extern "C" {
#include "../abi.h"
}

/* Every function of the shim. Not constexpr: C++14 has no constexpr built-ins to make them of. */
#define MW_FN static inline __attribute__((always_inline))
/* Check mode calls nothing for it; for a function that becomes part of a checked one, only its rules are left out. */
#if defined(MW_CHECK)
#define MW_UNCHECKED __attribute__((no_sanitize("thread", "alignment", "bounds")))
#if defined(__clang__)
#define MW_UNHOOKED __attribute__((disable_sanitizer_instrumentation)) /* nor that it is called */
#else
#define MW_UNHOOKED MW_UNCHECKED
#endif
#define MW_UNRULED   __attribute__((no_sanitize("alignment", "bounds")))
#else
#define MW_UNCHECKED
#define MW_UNHOOKED
#define MW_UNRULED
#endif
/* Hidden last parameters of what may fail: where the user's call stands. */
#define MW_HERE const char *mw_file = __builtin_FILE(), int mw_line = __builtin_LINE()

static const mw_runtime *mw_runtime_now; /* stored by mw_unit_table.bind before anything runs */

/* Called where a function returns and the canary above its arrays is gone (-fstack-protector-strong). */
extern "C" __attribute__((noreturn, used, visibility("hidden"))) void __stack_chk_fail(void) {
  mw_runtime_now->overrun();
}

/* What ends a process ends the launch here. Labels instead of names: a user's text may declare those, or use them for
 * something else. */
#define MW_ENDING(name, arguments, what)                                                                               \
  extern "C" __attribute__((noreturn, used, visibility("hidden"))) void mw_##name arguments __asm__(#name);           \
  void mw_##name arguments { mw_runtime_now->fail(what, nullptr, 0); }
MW_ENDING(abort, (), "abort() was called")
MW_ENDING(exit, (int), "exit() was called")
MW_ENDING(_exit, (int), "_exit() was called")
MW_ENDING(_Exit, (int), "_Exit() was called")
/* Classes with virtual functions refer to these. */
MW_ENDING(__cxa_pure_virtual, (), "a pure virtual function was called")
MW_ENDING(_ZdlPv, (void *), "delete was called, which needs the CUDA device")
MW_ENDING(_ZdlPvm, (void *, __SIZE_TYPE__), "delete was called, which needs the CUDA device")

/* Ends the launch with a message; in kernels that were to run in another flavor too. */
#define MW_FAIL(what) mw_runtime_now->fail(what, mw_file, mw_line)

#include "moonwarp/types.h"

#include "moonwarp/thread.h"

#include "moonwarp/integer.h"

#include "moonwarp/math.h"

#include "moonwarp/memory.h"

/* Of atomic.h, convert.h, packed.h, rounded.h and special.h a unit includes only those that it mentions: see
 * translate/emit.c. */

#endif
