/* SPDX-License-Identifier: MIT
 *
 * The CPU backend's table, and the folder's page of contents. The upper layer, one file per noun of backend.h:
 *   objects.h                       the backend's objects
 *   probe.c, device.c               what this machine is; opening and closing
 *   peer.c                          other CPU devices
 *   memory.c, copy.c                arrays between inaccessible areas; copies and fills
 *   texture.c                       textures and surfaces
 *   module.c, kernel.c              loaded code, one or more units per module; kernels as the binding sees them
 *   launch.c, explain.c             the hot path; a fault in words
 *   compare.c                       a launch by its own engine and by fibers
 *   state.c, twin.c, element.c      what kernels can write; addresses in the other form; equal results
 *   occupancy.c                     how many blocks fit
 *   stream.c, event.c, graph.c      order, time, replay
 * The lower layer: run/machine.h. What compiled code and this program share: abi.h. From source
 * text to loaded code: translate/unit.h. */
#include "core/backend/cpu/objects.h"

const mw_backend mw_cpu_backend = {
    .name = "cpu",
    .kind = "cpu",
    .sized = true,
    .parted = true,
    .calls_later = true,
    .checks = "check",
    .compares = "engines",

    .probe = cpu_probe,
    .open = cpu_device_open,
    .close = cpu_device_close,
    .memory = cpu_memory_info,
    .synchronize = cpu_device_synchronize,
    .peer = cpu_peer,
    .reaches = cpu_reaches,
    .state = cpu_probe_state,

    .alloc = cpu_memory_alloc,
    .free = cpu_memory_free,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .prefetch = cpu_prefetch,
    .advise = cpu_advise,
    .pin = cpu_pin,
    .texels = cpu_texels,
    .texels_copy = cpu_texels_copy,
    .image = cpu_texture_make,

    .compile = cpu_module_compile,
    .unload = cpu_module_unload,
    .kernel = cpu_module_kernel,
    .variable = cpu_module_variable,
    .text = cpu_module_text,

    .occupancy = cpu_occupancy,
    .launch = cpu_launch,
    .check_mode = cpu_device_check_mode,
    .findings = cpu_device_findings,
    .counters = cpu_device_counters,
    .touched = cpu_device_touched,

    .stream_create = cpu_stream_make,
    .stream_destroy = cpu_stream_destroy,
    .stream_per_thread = cpu_stream_per_thread,
    .stream_wait = cpu_stream_wait,
    .stream_callback = cpu_stream_callback,
    .call = cpu_stream_call,
    .stream_query = cpu_stream_query,
    .stream_synchronize = cpu_stream_synchronize,
    .priorities = cpu_stream_priorities,

    .event_create = cpu_event_make,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_query = cpu_event_query,
    .event_synchronize = cpu_event_synchronize,
    .event_elapsed = cpu_event_elapsed,

    .capture_begin = cpu_capture_begin,
    .capture_end = cpu_capture_end,
    .graph_launch = cpu_graph_launch,
    .graph_update = cpu_graph_update,
    .graph_dot = cpu_graph_dot,
    .graph_destroy = cpu_graph_release,
};
