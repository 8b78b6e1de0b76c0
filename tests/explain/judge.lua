-- SPDX-License-Identifier: MIT
--
-- judge.lua -- EXPERIMENTS KERNELS: what the experiments of a run of set.lua show, beside the first cause that explain
-- names of a run of its kernels: whether they agree, and how often.

local causes = require "moonwarp.results.causes"
local store = require "moonwarp.results.store"
local work = require "moonwarp.results.work"
require "moonwarp.plot.kinds" -- whose charts a record may have

local shown, right, count = {}, 0, 0
for _, record in ipairs(assert(store.read(arg[1])).records) do shown[record.name] = record end
for _, one in ipairs(work.of { assert(store.read(arg[2])) }) do
  local record, found = one.record and shown[one.name], one.record and causes.of(one)
  if record then
    local first, second = found[1] or { cause = "none", share = 0 }, found[2]
    count, right = count + 1, right + (first.cause == record.cause and 1 or 0)
    print(("%-13s %-11s %5.2f %-9s %-11s %4.0f %%  %-22s %s"):format(one.name, record.cause, record.falls,
      record.shown and "shown" or "NOT SHOWN", first.cause, 100 * first.share,
      second and ("%s %.0f %%"):format(second.cause, 100 * second.share) or "",
      first.cause == record.cause and "right" or "WRONG"))
  end
end
print(("%d of %d right"):format(right, count))
