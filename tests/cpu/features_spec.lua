-- SPDX-License-Identifier: MIT
--
-- docs/what-runs-where.md: the tables are what the devices give for the cases of features.lua. The CPU device runs a
-- case; for sm_90 NVRTC compiles it, without a GPU, and on a GPU of that kind as well; every fifth case in
-- `make check`, all in `make stress`. After a change, `make docs-features` writes the tables.

local support = require "tests.support"
local core, mw = support.core, support.mw

local PAGE <const> = core.home() .. "/docs/what-runs-where.md"
local groups = dofile(core.home() .. "/tests/support/features.lua")

-- ---- trying a case ------------------------------------------------------------------------------

local function source(case)
  return case[4] and ("%s\n__global__ void k(int *out) {\n%s\n}\n"):format(case[3], case[4]) or case[3] .. "\n"
end

local function number_of(kernel, case, dev)
  local out <close> = dev:zeros("i32", 32)
  kernel:prepare { grid = case.cooperative and 2 or 1, block = 32, shared = 1024, cooperative = case.cooperative }(out)
  return out:get(2)
end

-- "yes", or "refused" and the words of the message.
local function tried(dev, case, words, runs)
  local ok, result = pcall(function()
    local m <close> = dev:module { source = source(case), name = "case.cu" }
    local kernel = m:kernel "k"
    return runs and case[2] and number_of(kernel, case, dev)
  end)
  if ok then return result == (runs and case[2]) and "yes" or "wrong: " .. result end
  local message = tostring(result)
  words = words and message:find(words, 1, true) and words or message:match "[^\n]*"
  return "refused: " .. words:gsub("__[%w_]+", "`%0`") -- else Markdown takes them for emphasis
end

local function on_cpu(case) return tried(mw.device "cpu", case, case.cpu, true) end
local function on_cuda(dev, case) return tried(dev, case, case.cuda, false) end

-- ---- the page -----------------------------------------------------------------------------------

local function each_case(every, visit)
  local number = 0
  for _, group in ipairs(groups) do
    for i = 2, #group do
      number = number + 1
      if number % every == 0 then visit(group[i], group[1]) end
    end
  end
end

local HEAD <const> = "\n## %s\n\n| what | runs on the CPU device | compiles for the CUDA device |\n|---|---|---|"

-- The tables with the cells that a function gives for a case.
local function tables(cells)
  local lines = {}
  for _, group in ipairs(groups) do
    lines[#lines + 1] = HEAD:format(group[1])
    for i = 2, #group do lines[#lines + 1] = ("| %s | %s | %s |"):format(group[i][1], cells(group[i])) end
  end
  return table.concat(lines, "\n") .. "\n"
end

-- What stands in front of the tables, and the tables.
local function halves()
  local page = support.read(PAGE)
  local from = page:find("\n\n## ", 1, true) or #page
  return page:sub(1, from), page:sub(from + 1)
end

local function written_cells()
  local _, text = halves()
  local cells = {}
  for name, cpu, cuda in text:gmatch "\n| ([^\n]-) | ([^\n]-) | ([^\n]-) |" do cells[name] = { cpu, cuda } end
  return function(case) return table.unpack(cells[case[1]] or { "missing", "missing" }) end
end

-- The devices that compile for sm_90.
local function cuda_devices()
  local list = { mw.device "cuda:sm_90" }
  for _, dev in ipairs(support.devices()) do
    if dev:properties().compute_capability == "9.0" then list[#list + 1] = dev end
  end
  return list
end

describe("docs/what-runs-where.md", function()
  local has, why = support.has_nvrtc()
  if os.getenv "UPDATE" then
    assert(has, why)
    local dev = mw.device "cuda:sm_90"
    support.write(PAGE, halves() .. tables(function(case) return on_cpu(case), on_cuda(dev, case) end))
  end
  support.no_leaks()
  local written = written_cells()

  it("has a row for each case, and no other", function()
    local _, text = halves()
    assert.are.equal(tables(written), text)
  end)

  -- By the other compiler a sample; all in `make stress`.
  each_case(os.getenv "CXX_O0" and not support.whole and 4 or 1, function(case, group)
    it(("is true of the CPU device: %s: %s"):format(group, case[1]), function()
      assert.are.equal((written(case)), on_cpu(case))
    end)
  end)

  if os.getenv "CXX_O0" then return end -- by the other compiler of the CPU device: NVRTC would say the same
  if not has then return pending("is not tried for a GPU: " .. tostring(why):match "[^\n]*") end
  for _, dev in ipairs(cuda_devices()) do
    each_case(support.whole and 1 or 5, function(case, group)
      it(("is true of %s: %s: %s"):format(dev:id(), group, case[1]), function()
        local cell = on_cuda(dev, case)
        if cell:find("could not open source file", 1, true) then pending "needs NVIDIA's headers" end
        assert.are.equal(select(2, written(case)), cell)
      end)
    end)
  end
end)
