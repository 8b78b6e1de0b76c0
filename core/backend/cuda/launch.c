/* SPDX-License-Identifier: MIT
 *
 * The hot path: one call of the driver for a launch in the common case, nothing allocated. */
#include "core/backend/cuda/objects.h"

static cuda_result launch_now(cuda_stream *stream, const mw_launch *l, cuda_function function) {
  const uint32_t *g = l->grid, *b = l->block;
  unsigned shared = (unsigned)l->shared;
  if (l->cooperative)
    return cuda_driver.cuLaunchCooperativeKernel(function, g[0], g[1], g[2], b[0], b[1], b[2], shared, stream->queue,
                                                 l->params);
  return cuda_driver.cuLaunchKernel(function, g[0], g[1], g[2], b[0], b[1], b[2], shared, stream->queue, l->params,
                                    NULL);
}

static mw_status fail_launch(cuda_device *device, const mw_launch *l, cuda_result code, mw_error *err) {
  mw_error cause = {.status = MW_OK};
  mw_status status = cuda_failed(device, code, l->cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel", &cause);
  if (status == MW_LOST) return mw_fail(err, status, "%s", cause.text);
  return mw_fail(err, status, "launching '%.128s': %.800s", l->kernel->name, cause.text);
}

mw_status cuda_launch(mw_stream *base, const mw_launch *l, mw_error *err) {
  cuda_device *device = cuda_device_of(base->device);
  cuda_stream *stream = (cuda_stream *)base;
  cuda_kernel *kernel = (cuda_kernel *)l->kernel;
  mw_status status = cuda_enter(device, err);
  if (status == MW_OK && l->shared > kernel->dynamic_limit) status = cuda_allow_shared(kernel, l->shared, err);
  if (status == MW_OK) status = cuda_divide_cache(kernel, l->carveout, l->prefer, err);
  if (status != MW_OK) return status;
  cuda_result code = launch_now(stream, l, kernel->function);
  if (code != CUDA_OK) return fail_launch(device, l, code, err);
  device->last = kernel;
  if (base->capturing) return cuda_capture_note(stream, l, err);
  return device->sync_each ? cuda_wait(stream, err) : MW_OK;
}
