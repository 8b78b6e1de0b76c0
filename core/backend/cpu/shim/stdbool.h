/* SPDX-License-Identifier: MIT
 *
 * bool is a word of C++. */
