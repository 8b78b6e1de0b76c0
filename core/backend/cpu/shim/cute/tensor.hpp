/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cute/tensor.hpp> needs the CUDA device"
