-- SPDX-License-Identifier: MIT
--
-- What OP2 tells of a plan (op_rt_support.cpp): blocks, colours, shared memory, how often staged data are used, and
-- the bytes of a call, those that are used and those of the cache lines that hold them, for both layouts. Of
-- mini-partitions with coloured blocks. MB and KB are 2^20 and 2^10 bytes, as there.

local LINE <const>, MB <const>, KB <const> = 128, 1 << 20, 1 << 10

local function bytes_of(dat) return dat.dim * (dat.type == "f64" and 8 or 4) end

-- The bytes of cache lines that a sorted list of elements of `width` bytes needs.
local function lines(list, width)
  local total, last = 0, -1
  for _, element in ipairs(list) do
    local from, to = element * width // LINE, ((element + 1) * width - 1) // LINE
    if from > last then total = total + 1 end
    total, last = total + to - from, to
  end
  return total * LINE
end

--- The diagnostics of a loop.
---@param loop table   of mesh:loop, by "staged"
---@return table
return function(loop)
  local p, pattern = loop.plan, loop.pattern
  local n, staged, per_element, fixed = pattern.set.n, {}, 0, 0
  for _, a in ipairs(pattern.args) do
    if a.map then
      per_element, fixed = per_element + bytes_of(a.dat), fixed + 2 * n -- a place of 16 bits
    elseif not a.dat.is_global then
      fixed = fixed + bytes_of(a.dat) * n * (a.access == "rw" and 2 or 1)
    end
  end
  local used, aos, soa, colours, all, most = fixed, fixed, fixed, 0, 0, 0
  for b = 1, p.blocks do staged[b] = 0 end
  for map, l in pairs(p.lists) do
    local list, counts = l.list:totable(), l.count:totable()
    for b, count in ipairs(counts) do
      local first = (b - 1) * l.stride + 1
      local sorted = table.move(list, first, first + count - 1, 1, {})
      table.sort(sorted)
      for _, dat in ipairs(pattern.staged[map]) do
        local bytes, factor = bytes_of(dat), 1
        for _, added in ipairs(pattern.added) do factor = added == dat and 2 or factor end
        staged[b] = staged[b] + (count * bytes + 63) // 64 * 64
        used = used + count * (factor * bytes + 4)
        aos = aos + count * 4 + factor * lines(sorted, bytes)
        soa = soa + count * 4 + factor * dat.dim * lines(sorted, bytes // dat.dim)
      end
    end
  end
  for _, of_block in ipairs(p.used:totable()) do colours = colours + of_block end
  for _, bytes in ipairs(staged) do all, most = all + bytes, math.max(most, bytes) end
  return { blocks = p.blocks, block_colours = #p.first - 1, largest = p.longest, thread_colours = colours / p.blocks,
           shared_KB = most / KB, reuse = per_element * n / all, used_MB = used / MB, total_MB = aos / MB,
           soa_over_aos = soa / aos }
end
