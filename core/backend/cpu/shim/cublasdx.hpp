/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cublasdx.hpp> needs the CUDA device"
