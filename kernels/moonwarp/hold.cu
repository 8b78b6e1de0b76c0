// SPDX-License-Identifier: MIT
//
// hold: keeps a stream back until the host opens a gate.
//
// mw.bench launches it before a sample, queues the sample behind it and opens the gate, so that the device finds
// its work waiting and the time between two events holds no launch of the host. nvbench does the same
// (NVIDIA, github.com/NVIDIA/nvbench, blocking_kernel). It lets go by itself after a while: a function that waits for
// the device while the gate is shut would wait for ever otherwise.

__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

namespace moonwarp {

// gate: pinned host memory; [0] is the ticket that the host lets through, [1] the last one that ran out of time.
__global__ void hold(unsigned *gate, unsigned ticket, unsigned long long limit) {
  volatile unsigned *seen = gate;
  const unsigned long long start = nanoseconds();
  while (seen[0] != ticket) {
    if (nanoseconds() - start < limit) continue;
    seen[1] = ticket;
    break;
  }
  __threadfence_system();
}

} // namespace moonwarp
