/* SPDX-License-Identifier: MIT
 *
 * Rejected by name. */
#error "<cublasdx.hpp> needs the CUDA device"
