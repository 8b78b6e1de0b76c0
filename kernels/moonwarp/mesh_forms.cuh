// SPDX-License-Identifier: MIT
//
// The forms of the kernels of moonwarp.mesh, with $holes that lua/moonwarp/mesh/source.lua fills. (void): a loop may have no use for it.

//- elements: a thread for each
const int i = blockIdx.x * blockDim.x + threadIdx.x;
$begin
if (i < many) {
  const int e = $e;
  (void)e;
  $body
}
$finish

//- owner: a thread for each target
const int t = blockIdx.x * blockDim.x + threadIdx.x;
if (t >= many) return;
$begin
$body

//- side: the elements that a column leads from to target t, all at once
#pragma unroll
for (int k = 0; k < $rows; k++) {
  const int $places;
  (void)$first;
  $stop
  $body
}

//- more: the others
$more for (int k = $rows; k < most_$c; k++) {
  const int $places;
  (void)$first;
  $stop
  $body
}

//- staged: a block for each mini-partition
extern __shared__ double pool[];
(void)pool;
$begin
__syncthreads();
$body
$finish

//- targets: all that a block has of a map
for (int k = threadIdx.x, end = $end; k < end; k += blockDim.x) {
  const int t = $t;
  (void)t;
  $body
}

//- rounds: the elements of a block
for (int round = 0; round < rounds; round++) {
  const int i = round * blockDim.x + threadIdx.x, p = b * part + i;
  const bool is_here = i < $here;
  $before
  if (is_here) {
    const int e = $e;
    (void)e;
    $body
  }
  $add
}

//- colours: increments, one colour of threads after the other
const int mine = is_here ? colour[p] : -1;
for (int c = 0; c < colours; c++) {
  if (mine == c) {
    $add
  }
  __syncthreads();
}

