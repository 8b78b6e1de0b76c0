-- SPDX-License-Identifier: MIT
--
-- What the numbers say, in words: a list of paragraphs, of which those about rungs that were not
-- measured are left out. Every claim that numbers could contradict is chosen by them.
-- A chunk that is called with the study's settings and returns say(results).

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

local TREES = { reduce_strided = "the strided tree takes", reduce_dynamic = "the tree in dynamic shared memory takes",
                reduce_down = "summing by shuffles down takes", reduce_butterfly = "summing by shuffles across takes",
                reduce_shuffle = "summing by shuffles with one shared stage takes" }
local FEW_WORDS = { "the same takes", "the same two take", "the same three take" }

-- What the halving tree is compared with: two of another idea, or else what there is.
local function others(m)
  local list = {}
  for _, kernels in ipairs { { "reduce_strided", "reduce_shuffle" },
                             { "reduce_dynamic", "reduce_down", "reduce_butterfly" } } do
    for _, kernel in ipairs(#list == 0 and kernels or {}) do
      if find(m.within, { type = dtype, method = kernel }) then list[#list + 1] = kernel end
    end
  end
  return list
end

local function listed(texts)
  if #texts < 2 then return texts[1] end
  return table.concat(texts, ", ", 1, #texts - 1) .. " and " .. texts[#texts]
end

-- Each of the kernels over the halving tree in one of the grids, as texts; and how far they are apart.
local function over_tree(m, kernels, grid)
  local function time(kernel)
    return find(m.within, { type = dtype, method = kernel, grid = grid }).t.median
  end
  local ratios, apart = {}, 0.0
  for i, kernel in ipairs(kernels) do
    local ratio = time(kernel) / time "reduce_tree"
    ratios[i], apart = ("%.2f"):format(ratio), apart + math.abs(math.log(ratio))
  end
  return ratios, apart, time "reduce_tree"
end

-- Why the kernels differ less from the smaller grid, if they do.
local function trees(m)
  if #m.within == 0 then return nil end
  local kernels, texts = others(m), {}
  local alone_ratios, apart, tree_alone = over_tree(m, kernels, study.alone)
  local few_ratios, still_apart, tree_few = over_tree(m, kernels, few)
  if #kernels == 0 then
    return ("Within a block (%s): with %s the halving tree takes %.2f of its time with an element a thread."):format(
      dtype, few, tree_few / tree_alone)
  end
  for i, kernel in ipairs(kernels) do
    texts[i] = ("%s %s times%s"):format(TREES[kernel], alone_ratios[i], i == 1 and " the halving tree's time" or "")
  end
  local each = n // (study.blocks * 256)
  return ("Within a block (%s): with an element a thread %s; with %s %s %s times%s. There the halving tree "
    .. "takes %.2f of its time with an element a thread."):format(dtype, listed(texts), few,
     FEW_WORDS[#kernels], listed(few_ratios), still_apart < 0.8 * apart and each >= 2
    and (", for the tree is climbed once a block and each thread has added %d elements before"):format(each) or "",
    tree_few / tree_alone)
end

-- The least size of the sweep: what a method costs by itself.
local function few_elements(m)
  if #m.sweeps.size == 0 then return nil end
  local small = only(m.sweeps.size, { n = m.sweeps.size[1].n })
  local quick, late = fastest_and_slowest(small)
  local reading = small[1].bytes / m.top.value
  local comma = reading < 0.1 * quick.t.median and ", whose reading would take next to no time," or ""
  local text = ("Over the grid: of %d elements%s '%s' %s %.1f us"):format(small[1].n, comma, quick.method,
    #small == 1 and "takes" or "is the quickest with", quick.t.median * 1e6)
  return #small == 1 and text .. "." or ("%s, '%s' the slowest with %.1f us."):format(text, late.method,
    late.t.median * 1e6)
end

local function many_elements(m)
  local large = only(m.grid, { type = dtype, op = study.operations[1] })
  if #large == 0 then return nil end
  local best, worst = fastest_and_slowest(large)
  local text = ("Of %d elements '%s' (%s of %s) %s %.0f GB/s, %.0f %% of the %s"):format(n, best.method,
    best.op, best.type, #large == 1 and "has" or "is the best with", best.T_tot / 1e9, 100 * best.share, m.top.label)
  if #large == 1 then return text .. "." end
  return ("%s; '%s' takes %.2f times as long."):format(text, worst.method, worst.t.median / best.t.median)
end

local function finishes(m)
  local small, large = few_elements(m), many_elements(m)
  return small and large and small .. " " .. large or small or large
end

local function bits(m)
  if #m.grid == 0 then return nil end
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
  local list = {}
  for _, say in ipairs { trees, finishes, bits } do list[#list + 1] = say(m) end
  return list
end
