/* SPDX-License-Identifier: MIT
 *
 * clock and clock_t are built in. */
