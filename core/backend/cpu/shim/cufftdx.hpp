/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cufftdx.hpp> needs the CUDA device"
