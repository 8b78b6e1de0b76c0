-- SPDX-License-Identifier: MIT
--
-- Two GPUs from Lua over bare calls in C loops of the same process, in turn: copies of 1 GiB by cuMemcpyPeerAsync, one
-- way and both ways, to reach: at least 0.98 of the rate; ncclAllReduce of f32, 1 GiB and 4 KiB, to reach: at most 1.02
-- and 1.10 of the time.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local rounds = mw.arg("rounds", 9, "samples of each contender")
local floats = mw.arg("floats", 1 << 28, "of a copy, and of the large sum")

local a = lab.device(mw, "cuda")
local peer = a and a:peers()[1]
if not (peer and peer.access) then mw.skip "it needs two GPUs that reach each other" end
local b = mw.device(peer.id)
local s, t = a:stream { blocking = false }, b:stream { blocking = false }
local x, y = { a:array("f32", floats):random(1), b:array("f32", floats):random(2) },
  { a:zeros("f32", floats), b:zeros("f32", floats) }

a:synchronize()
b:synchronize()

local function wait()
  s:synchronize()
  t:synchronize()
end

local function timed(count, body)
  wait()
  local start = core.clock()
  for _ = 1, count do body() end
  wait()
  return (core.clock() - start) / count
end

-- Medians of both, in turn; the first round warms up.
local function in_turn(ours, other)
  local mine, least = {}, {}
  for i = 0, rounds do mine[i], least[i] = ours(), other() end
  return lab.median(mine), lab.median(least)
end

local bare = assert(lab.library "bare_peers")
bare.peers()

local on_s, on_t = { stream = s }, { stream = t }
for _, both in ipairs { false, true } do
  local ours, other = in_turn(function()
    return timed(8, function()
      y[2]:copy(x[1], on_s)
      if both then y[1]:copy(x[2], on_t) end
    end)
  end, function()
    return bare.copies(4 * floats, 8, y[2]:address(), x[1]:address(), both and y[1]:address() or 0, x[2]:address())
  end)
  lab.compare { name = both and "copies both ways" or "copy one way", ours = ours, other_name = "cuMemcpyPeerAsync",
                other = other, ratio = other / ours, least = 0.98 }
end
mw.check(y[2], x[1], { exact = true, name = "copied" })

local nccl = require "moonwarp.nccl"
local comm <close> = nccl.communicator { a, b }
local o = { streams = { s, t } }
bare.nccl(select(2, core.shared "libnccl.so.2"))
for _, one in ipairs { { floats, 4, 1.02 }, { 1024, 200, 1.10 } } do
  local n = one[1]
  local ins = { x[1]:view(1, n), x[2]:view(1, n) }
  local outs = { y[1]:view(1, n), y[2]:view(1, n) }
  local ours, other = in_turn(function()
    return timed(one[2], function() comm:all_reduce(outs, ins, o) end)
  end, function()
    return bare.all_reduces(n, one[2], outs[1]:address(), ins[1]:address(), outs[2]:address(), ins[2]:address())
  end)
  lab.compare { name = ("all-reduce, %d floats"):format(n), ours = ours, other_name = "ncclAllReduce", other = other,
                ratio = ours / other, most = one[3] }
end
