-- SPDX-License-Identifier: MIT
--
-- A smaller kernel that an engine still computes wrongly: nodes and pieces in front of it are left out one by one.

local compare = require "tests.generator.compare"

-- All lists of nodes in a tree, inner ones last.
local function lists_of(nodes, found)
  found[#found + 1] = nodes
  for _, node in ipairs(nodes) do
    for _, name in ipairs { "nodes", "yes", "no" } do
      if node[name] then lists_of(node[name], found) end
    end
    for _, case in ipairs(node.cases or {}) do lists_of(case.nodes, found) end
    if node.callee then lists_of(node.callee.nodes, found) end
  end
  return found
end

local function still_wrong(dev, kernel, engine, folder)
  local want = compare.expected({ kernel }, folder)
  if not want then return false end
  local got = compare.run(dev, { kernel }, engine)[1]
  return not got.why and got.bytes ~= want[1]
end

-- Leaves out of a list what is not needed; says whether anything was.
local function thin(list, is_needed, tries)
  local thinner = false
  for i = #list, 1, -1 do
    local item = list[i]
    if tries.left > 0 and not (type(item) == "table" and item.fixed) then
      tries.left = tries.left - 1
      table.remove(list, i)
      if is_needed() then table.insert(list, i, item) else thinner = true end
    end
  end
  return thinner
end

-- Changes the kernel. At most 150 compilations.
return function(dev, kernel, engine, folder)
  local tries = { left = 150 }
  local function is_needed() return not still_wrong(dev, kernel, engine, folder) end
  repeat
    local thinner = false
    for _, list in ipairs(lists_of(kernel.nodes, {})) do thinner = thin(list, is_needed, tries) or thinner end
    thinner = thin(kernel.fronts, is_needed, tries) or thinner
  until not thinner or tries.left == 0
  return kernel
end
