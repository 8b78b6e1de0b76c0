/* SPDX-License-Identifier: MIT
 *
 * The CPU device's table: the contents page of this folder. unit.h (source text to loaded code) and abi.h (what that
 * code and this program share) are its other half. */
#include "core/backend/cpu/device.h"
#include "core/backend/cpu/event.h"
#include "core/backend/cpu/graph.h"
#include "core/backend/cpu/memory.h"
#include "core/backend/cpu/module.h"
#include "core/backend/cpu/stream.h"

const mw_backend mw_cpu_backend = {
    .name = "cpu",
    .kind = "cpu",

    .probe = cpu_probe,
    .open = cpu_device_open,
    .close = cpu_device_close,
    .memory = cpu_memory_tell,
    .synchronize = cpu_device_synchronize,
    .state = cpu_probe_state,

    .alloc = cpu_memory_alloc,
    .free = cpu_memory_free,
    .copy = cpu_transfer_copy,
    .fill = cpu_transfer_fill,

    .compile = cpu_module_compile,
    .unload = cpu_module_unload,
    .kernel = cpu_module_kernel,
    .variable = cpu_module_variable,
    .text = cpu_module_text,

    .occupancy = cpu_kernel_occupancy,
    .launch = cpu_stream_launch,

    .stream_create = cpu_stream_make,
    .stream_destroy = cpu_stream_destroy,
    .stream_per_thread = cpu_stream_per_thread,
    .stream_wait = cpu_stream_wait,
    .stream_callback = cpu_stream_callback,
    .stream_query = cpu_stream_query,
    .stream_synchronize = cpu_stream_synchronize,
    .priorities = cpu_stream_priorities,

    .event_create = cpu_event_make,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_query = cpu_event_query,
    .event_synchronize = cpu_event_synchronize,
    .event_elapsed = cpu_event_elapsed,

    .capture_begin = cpu_graph_begin,
    .capture_end = cpu_graph_end,
    .graph_launch = cpu_graph_launch,
    .graph_update = cpu_graph_update,
    .graph_dot = cpu_graph_dot,
    .graph_destroy = cpu_graph_destroy,
};
