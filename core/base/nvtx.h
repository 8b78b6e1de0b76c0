/* SPDX-License-Identifier: MIT
 *
 * Named ranges of time for profilers, by NVIDIA's NVTX protocol. A profiler starts the process with its library's path in
 * $NVTX_INJECTION64_PATH; the first range loads it. Without one nothing happens. */
#ifndef MW_NVTX_H
#define MW_NVTX_H

/* NvtxExportTableID, NvtxCallbackModule and NvtxCallbackIdCore, those that the program uses. */
enum {
  NVTX_TABLE_CALLBACKS = 1,
  NVTX_TABLE_VERSION = 3,
  NVTX_MODULES = 7,
  NVTX_CORE = 1,
  NVTX_CORE_PUSH = 9,
  NVTX_CORE_POP = 11,
};

/* Ranges nest: a pop ends the last one that was pushed on this thread. */
void mw_range_push(const char *name);
void mw_range_pop(void);

#endif
