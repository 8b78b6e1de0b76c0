/* SPDX-License-Identifier: MIT
 *
 * Results of the driver as statuses and messages. Some errors end the context: those mark the device lost, and every
 * later call is rejected with the story of the first one. */
#include "core/backend/cuda/objects.h"

#include <stdio.h>
#include <string.h>

_Thread_local cuda_context cuda_current;

/* Errors after which "the process must be terminated and relaunched", by the CUDA driver API's list of results, and
 * what a kernel did that ended with one; NULL: that is not known. */
static const struct ending {
  cuda_result code;
  const char *kernel_did;
} endings[] = {
    {CUDA_DEINITIALIZED, NULL},
    {CUDA_ECC_UNCORRECTABLE, NULL},
    {CUDA_NVLINK_UNCORRECTABLE, NULL},
    {CUDA_ILLEGAL_ADDRESS, "accessed memory outside its arrays"},
    {CUDA_LAUNCH_TIMEOUT, "ran longer than the display's watchdog allows"},
    {CUDA_CONTEXT_IS_DESTROYED, NULL},
    {CUDA_ASSERT, "failed an assert"},
    {CUDA_HARDWARE_STACK_ERROR, NULL},
    {CUDA_ILLEGAL_INSTRUCTION, NULL},
    {CUDA_MISALIGNED_ADDRESS, "accessed memory at an address that is not a multiple of the element's size"},
    {CUDA_INVALID_ADDRESS_SPACE,
     "used a local or shared address where only one of global memory will do, as in __ldcs and __stcs"},
    {CUDA_INVALID_PC, NULL},
    {CUDA_LAUNCH_FAILED, NULL},
    {CUDA_TENSOR_MEMORY_LEAK, NULL},
};

/* NULL: the context lives on. */
static const struct ending *ending_of(cuda_result code) {
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (endings[i].code == code) return &endings[i];
  return NULL;
}

/* cuMemAlloc_v2 -> cuMemAlloc */
static int call_length(const char *call) {
  const char *version = strstr(call, "_v");
  return version ? (int)(version - call) : (int)strlen(call);
}

static void lose(cuda_device *device, const struct ending *ending, const char *call, const char *name) {
  char kernel[200] = "";
  const char *last = device->last ? device->last->base.name : NULL;
  if (last && device->sync_each)
    snprintf(kernel, sizeof kernel, "kernel '%.120s'", last);
  else if (last)
    snprintf(kernel, sizeof kernel, "an earlier kernel ('%.120s' was the last launched)", last);
  else
    snprintf(kernel, sizeof kernel, "an earlier kernel");
  snprintf(device->lost_why, sizeof device->lost_why, "since %.*s: %.64s (%u): %s %s; start a new process; %s",
           call_length(call), call, name, ending->code, kernel,
           ending->kernel_did ? ending->kernel_did : "ended with an error",
           device->sync_each
               ? "compute-sanitizer and the CPU device find the access"
               : "MOONWARP_SYNC=1 names the kernel, compute-sanitizer and the CPU device find the access");
  device->lost = true;
}

mw_status cuda_reject_lost(const cuda_device *device, mw_error *err) {
  return mw_fail(err, MW_LOST, "device %s is lost for this process %s", device->base.info.id, device->lost_why);
}

/* Results 900 to 908: calls that a capture does not allow. */
static bool is_capture_error(cuda_result code) {
  return code >= 900 && code <= 908;
}

static const char *way_out(cuda_result code) {
  if (is_capture_error(code)) return "; while a graph is captured only work on the capturing stream is allowed";
  if (code == CUDA_COOPERATIVE_TOO_LARGE) return "; a cooperative grid must fit on the device at once: see k:occupancy";
  if (code == CUDA_LAUNCH_OUT_OF_RESOURCES)
    return "; the block needs more registers or shared memory than there are: use a smaller block or max_registers";
  return "";
}

mw_status cuda_failed(cuda_device *device, cuda_result code, const char *call, mw_error *err) {
  const char *name = NULL, *meaning = NULL;
  if (code == CUDA_NOT_READY) return MW_NOT_READY;
  cuda_driver.cuGetErrorName(code, &name);
  cuda_driver.cuGetErrorString(code, &meaning);
  if (!name) name = "unknown error";
  const struct ending *ending = ending_of(code);
  if (ending && !device->lost) {
    lose(device, ending, call, name);
    return cuda_reject_lost(device, err);
  }
  mw_status status = code == CUDA_OUT_OF_MEMORY ? MW_NO_MEMORY : is_capture_error(code) ? MW_INVALID : MW_DRIVER;
  return mw_fail(err, status, "%.*s: %s (%u): %s%s", call_length(call), call, name, code, meaning ? meaning : "",
                 way_out(code));
}

mw_status cuda_make_current(cuda_device *device, mw_error *err) {
  mw_status status = CUDA_TRY(device, err, cuCtxSetCurrent, device->context);
  if (status == MW_OK) cuda_current = device->context;
  return status;
}
