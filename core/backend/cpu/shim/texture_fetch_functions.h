/* SPDX-License-Identifier: MIT
 *
 * Everything that a kernel may use of this header is built in. */
