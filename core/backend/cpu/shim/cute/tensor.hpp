/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cute/tensor.hpp> needs the CUDA device"
