/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cuda_device_runtime_api.h> needs the CUDA device"
