/* SPDX-License-Identifier: MIT
 *
 * The host part of a program names the groups at most. */
#ifndef MW_HOST_COOPERATIVE_GROUPS_H
#define MW_HOST_COOPERATIVE_GROUPS_H

namespace cooperative_groups {
class thread_group;
class thread_block;
class grid_group;
class coalesced_group;
template <unsigned Size, class Parent = void> class thread_block_tile;
}

#endif
