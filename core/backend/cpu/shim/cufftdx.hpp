/* SPDX-License-Identifier: MIT
 *
 * Refused by name. */
#error "<cufftdx.hpp> needs the CUDA device"
