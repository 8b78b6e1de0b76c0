-- SPDX-License-Identifier: MIT
--
-- What the numbers say, in words: a list of paragraphs. Every claim that numbers could contradict is
-- chosen by them. A chunk that is called with the study's settings and returns say(results).

local study = ...
local n, dtype, few = study.n, study.types[1], study.few

local function find(records, wanted)
  for _, r in ipairs(records) do
    local fits = true
    for field, value in pairs(wanted) do fits = fits and r[field] == value end
    if fits then return r end
  end
end

local function only(records, wanted)
  local list = {}
  for _, r in ipairs(records) do
    if find({ r }, wanted) then list[#list + 1] = r end
  end
  return list
end

local function fastest_and_slowest(records)
  local best, worst = records[1], records[1]
  for _, r in ipairs(records) do
    if r.t.median < best.t.median then best = r end
    if r.t.median > worst.t.median then worst = r end
  end
  return best, worst
end

-- Why the kernels differ less from the smaller grid, if they do.
local function trees(m)
  local function time(kernel, grid)
    return find(m.within, { type = dtype, method = kernel, grid = grid }).t.median
  end
  local tree_alone, tree_few = time("reduce_tree", study.alone), time("reduce_tree", few)
  local strided_alone = time("reduce_strided", study.alone) / tree_alone
  local strided_few = time("reduce_strided", few) / tree_few
  local shuffle_alone = time("reduce_shuffle", study.alone) / tree_alone
  local shuffle_few = time("reduce_shuffle", few) / tree_few
  local apart = math.abs(math.log(strided_alone)) + math.abs(math.log(shuffle_alone))
  local closer = math.abs(math.log(strided_few)) + math.abs(math.log(shuffle_few)) < 0.8 * apart
  local each = n // (study.blocks * 256)
  return ("Within a block (%s): with an element a thread the strided tree takes %.2f times the "
    .. "halving tree's time, and shuffles with one shared stage %.2f times; with %s the same two "
    .. "take %.2f and %.2f times%s. From the smaller grid the halving tree takes %.2f of its time."):format(dtype,
    strided_alone, shuffle_alone, few, strided_few, shuffle_few, closer and each >= 2
    and (", for the tree is climbed once a block and each thread has added %d elements before"):format(each)
    or "", tree_few / tree_alone)
end

local function finishes(m)
  local small = only(m.sweeps.size, { n = m.sweeps.size[1].n })
  local large = only(m.grid, { type = dtype, op = study.operations[1] })
  local quick, late = fastest_and_slowest(small)
  local best, worst = fastest_and_slowest(large)
  local reading = small[1].bytes / m.top.value
  return ("Over the grid: of %d elements%s '%s' is the quickest with %.1f us, '%s' the slowest with %.1f us. "
    .. "Of %d elements '%s' is the best (%s of %s) with %.0f GB/s, %.0f %% of the %s; '%s' takes %.2f times as "
    .. "long."):format(small[1].n, reading < 0.1 * quick.t.median
    and ", whose reading would take next to no time," or "", quick.method, quick.t.median * 1e6, late.method,
    late.t.median * 1e6, n, best.method, best.op, best.type, best.T_tot / 1e9, 100 * best.share, m.top.label,
    worst.method, worst.t.median / best.t.median)
end

local function bits(m)
  local moved = {}
  for _, r in ipairs(m.grid) do
    if r.results > 1 then
      moved[#moved + 1] = ("%s (%s, %s: %d)"):format(r.method, r.op, r.type, r.results)
    end
  end
  if #moved == 0 then
    return ("Same bits: of %d runs each, every method gave one result. Only those that join in the order of "
      .. "the blocks, and minimum and maximum, promise that."):format(study.repeats)
  end
  return ("Same bits: of %d runs each, more than one result came from %s. Joined in the order of the "
    .. "blocks a sum is the same every time; what takes the blocks as they come adds in another order, and "
    .. "that rounds otherwise. A minimum or maximum does not round, so there the order does not show."):format(
    study.repeats, table.concat(moved, ", "))
end

--- The paragraphs.
---@param m table  within and grid (lists of records), sweeps (threads, blocks, size: such lists), top
---@return string[]
return function(m)
  return { trees(m), finishes(m), bits(m) }
end
