/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend's table, and the folder's page of contents:
 *   driver.h, driver.c              the driver and NVRTC: types, entry points, loading
 *   objects.h, status.c             the backend's objects; the driver's results as messages, lost devices
 *   probe.c, device.c, offline.c    is it usable; a GPU; an architecture without one
 *   nvml.h, nvml.c                  clocks, temperature, power: read, never set
 *   memory.c, pages.c, copy.c       arrays; where their pages are; copies and fills
 *   peer.c                          other GPUs, and access to their memory
 *   texture.c                       textures and surfaces
 *   nvrtc.c, headers.c              compiling and the cache; the headers NVRTC lacks
 *   binary.c                        cubins, PTX and fat binaries that nvcc made
 *   cubin.c, ptx.c, params.c        what compiled code says of its kernels; their parameters
 *   module.c, kernel.c, text.c      modules, kernels by name, PTX and SASS
 *   launch.c, occupancy.c           the hot path; how many blocks fit
 *   wait.c                          waiting for streams, and ordering them
 *   stream.c, event.c, graph.c      queues, time, replay */
#include "core/backend/cuda/objects.h"

const mw_backend mw_cuda_backend = {
    .name = "cuda",
    .kind = "gpu",
    .numbered = true,
    .offline = "sm_",
    .checks = "check",
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .memory = cuda_memory,
    .synchronize = cuda_synchronize,
    .peer = cuda_peer,
    .reaches = cuda_reaches,
    .state = cuda_state,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .prefetch = cuda_prefetch,
    .advise = cuda_advise,
    .pin = cuda_pin,
    .texels = cuda_texels,
    .texels_copy = cuda_texels_copy,
    .image = cuda_texture_make,
    .compile = cuda_compile,
    .unload = cuda_unload,
    .kernel = cuda_kernel_get,
    .variable = cuda_variable,
    .text = cuda_text,
    .occupancy = cuda_occupancy,
    .launch = cuda_launch,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .stream_per_thread = cuda_stream_per_thread,
    .stream_wait = cuda_stream_wait,
    .stream_callback = cuda_stream_callback,
    .call = cuda_stream_call,
    .stream_query = cuda_stream_query,
    .stream_synchronize = cuda_stream_synchronize,
    .check_mode = cuda_check_mode,
    .findings = cuda_findings,
    .counters = cuda_counters,
    .touched = cuda_touched,
    .priorities = cuda_priorities,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_query = cuda_event_query,
    .event_synchronize = cuda_event_synchronize,
    .event_elapsed = cuda_event_elapsed,
    .capture_begin = cuda_capture_begin,
    .capture_end = cuda_capture_end,
    .graph_launch = cuda_graph_launch,
    .graph_update = cuda_graph_update,
    .graph_dot = cuda_graph_dot,
    .graph_destroy = cuda_graph_destroy,
};
