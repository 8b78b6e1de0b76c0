/* SPDX-License-Identifier: MIT */
#pragma GCC system_header
#include "../cub.cuh"
