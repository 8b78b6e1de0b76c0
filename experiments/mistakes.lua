-- SPDX-License-Identifier: MIT
--
-- mistakes: which mistakes does a check of the result find, and which only check mode?
--
-- Each mistake runs on the device of the study, where its result is compared with the right one, and on the CPU device
-- in check mode. Its mended twin must be right on both, without a finding. Kernels and sources: kernels/mistakes.cu.
-- "Oxford 3, 34" is page 34 of lecture 3. See docs/studies/mistakes.md.

local mw = require "moonwarp"
local study, p, gpu = mw.study {
  question = "which mistakes does a check of the result find, and which only check mode?", kernels = "mistakes.cu",
  course = { week = 2.2, level = 1, hours = 2, about = "races, barriers, bounds; what a right result hides",
             without_gpu = "all" },
  seconds = false, params = { { "only", "", "a part of the names of the mistakes to run; else all" } },
}

-- ---- the runs ---------------------------------------------------------------------------------------
local list, modules, templates = {}, {}, {}
-- Name, source, kernel ("?" is whether it is mended), grid, block, shared; args(c): its arguments, first the result;
-- right: each element or a function of its index. Or run(c), which returns result and right. faults: left out on a GPU.
local function mistake(one)
  list[#list + 1] = one
  for _, is_mended in ipairs { "false", "true" } do templates[#templates + 1] = one.kernel:gsub("?", is_mended) end
end

local function run(one, c)
  if one.run then return one.run(c) end
  local args = one.args(c)
  c.launch({ grid = one.grid or 1, block = one.block, shared = one.shared }, table.unpack(args))
  return args[1], one.right
end

local function is_right(got, right)
  for i, value in ipairs(got:totable()) do
    local wanted = type(right) == "number" and right or right(i)
    if value ~= value or math.abs(value - wanted) > 1e-5 * math.abs(wanted) then return false end
  end
  return true
end

-- A module for the mistakes and one for their twins, which get no device variables as a mistake has left them.
local function module_of(dev, is_mended)
  local key = dev:id() .. tostring(is_mended)
  modules[key] = modules[key] or dev:module { file = "mistakes.cu", templates = templates }
  return modules[key]
end

-- What a run comes to, in a word, and the kinds of what was found.
local function outcome(dev, one, is_mended)
  local kernel = module_of(dev, is_mended):kernel((one.kernel:gsub("?", tostring(is_mended))))
  local c = { dev = dev, is_mended = is_mended, ones = function(n) return dev:full(1, "f32", n) end }
  function c.launch(how, ...) kernel:prepare(how)(...) end -- moonwarp: race-ok a mistake that is shown
  local ok, got, right = pcall(run, one, c)
  local found, kinds = mw.findings { expected = true }, {}
  if is_mended then
    if not ok or #found > 0 then error(("%s, mended: %s"):format(one[1], ok and found or got), 0) end
    mw.check(got, right, { name = one[1] .. ", mended", relative = 1e-5 })
  end
  for _, finding in ipairs(found) do
    if not kinds[finding.kind] then kinds[finding.kind], kinds[#kinds + 1] = true, finding.kind end
  end
  return not ok and "error" or is_right(got, right) and "right" or "wrong", table.concat(kinds, ", ")
end

local function compare(one, dev, checking)
  local result, at_once = "not run", "" -- races of copies are found in any run
  if dev ~= checking and not (gpu and one.faults) then result, at_once = outcome(dev, one, false) end
  result = result .. (at_once ~= "" and ", found" or "")
  local word, kinds = outcome(checking, one, false)
  if kinds == "" then kinds = word == "error" and word or "none" end
  for _, device in ipairs { dev, checking } do outcome(device, one, true) end
  local is_seen, is_found = result ~= "right" and result ~= "not run", kinds ~= "none"
  return { mistake = one[1], source = one[2], result = result, check_mode = kinds,
           found_by = is_seen and (is_found and "both" or "normal run") or is_found and "check mode" or "neither" }
end

study:finally(function()
  local id, records, checking = study.dev:id(), {}, mw.device("cpu", { check = true })
  local dev = mw.device(id) -- opened last: that of the records
  for _, one in ipairs(list) do
    if one[1]:find(p.only, 1, true) then records[#records + 1] = mw.record(compare(one, dev, checking)) end
  end
  if #records == 0 then mw.skip(("no mistake has '%s' in its name"):format(p.only)) end
  mw.table { "mistake", "source", { "result", title = "normal run" }, { "check_mode", title = "check mode" },
             { "found_by", title = "found by" }, records = records, title = "mistakes, and what finds them" }
end)

-- ---- within a block ---------------------------------------------------------------------------------
mistake { "one barrier of two", "Oxford 4, 24", kernel = "scan<?>", block = 256, shared = 1024,
  args = function(c) return { c.ones(256) } end, right = function(i) return i end }
mistake { "count++ by all threads", "Oxford 3, 16", kernel = "count<?>", block = 128,
  args = function(c) return { c.dev:zeros("i32", 1), c.ones(128) } end, right = 128 }
mistake { "what an earlier launch left", "report, shidden", kernel = "hidden<?>", grid = 4, block = 64,
  args = function(c) return { c.dev:array("f32", 256), c.ones(256) } end, right = 2 }
mistake { "sizes of a halo exchanged", "report, shmem", kernel = "halo<?>", block = { 8, 8 },
  args = function(c) return { c.dev:array("f32", 64), c.ones(64) } end,
  right = function(i) return (i <= 8 or i > 56) and 1 or 2 end }
mistake { "a barrier in a branch", "Oxford 3, 12", kernel = "reverse<?>", block = 64, faults = true,
  args = function(c) return { c.dev:array("f32", 50):linspace(1, 50), 50 } end, right = function(i) return 51 - i end }
mistake { "a tree over 96 threads", "Kiel, Reduction", kernel = "tree<?>", block = 96, shared = 384,
  args = function(c) return { c.dev:zeros("f32", 1), c.ones(96) } end, right = 96 }

-- ---- arrays -----------------------------------------------------------------------------------------
mistake { "a sum that is not set to 0", "Oxford 4, 18", kernel = "sum<?>", block = 64,
  args = function(c) return { c.dev:array("f32", 1), c.ones(64) } end, right = 64 }
mistake { "bodies beyond the last one", "Kiel, Gravitation", kernel = "gravity<?>", grid = 2, block = 64, faults = true,
  args = function(c) return { c.dev:array("f32", 100), c.ones(100), 100 } end, right = 0 }
mistake { "float4 at the second float", "report, roae", kernel = "inner<?>", block = 16, faults = true,
  args = function(c) return { c.dev:array("f32", 16), c.ones(66) } end, right = 4 }
mistake { "a guard behind the boundary", "Oxford 3, 34", kernel = "laplace<?>", grid = { 2, 2 }, block = { 32, 8 },
  args = function(c) return { c.dev:array("f32", 297), c.dev:array("f32", 297):linspace(1, 297), 33, 9 } end,
  faults = true, right = function(i) return i end } -- linear: a step changes nothing
mistake { "0.25 is a double", "Oxford 3, 31", kernel = "quarter<?>", grid = 2, block = 64,
  args = function(c) return { c.dev:array("f32", 128), c.ones(128) } end, right = 0.5 }

-- ---- blocks and launches ----------------------------------------------------------------------------
mistake { "corners read the edges", "report, set_bnd", kernel = "edges<?,true>", grid = 2, block = 32,
  args = function(c) return { c.ones(66 * 66), 64 } end, right = 1 }
mistake { "the sign of a corner", "report, set_bnd", kernel = "edges<true,?>", grid = 2, block = 32,
  args = function(c) return { c.ones(66 * 66), 64 } end, right = 1 }
mistake { "a lock without a fence", "Oxford 4, 19", kernel = "lock<?>", grid = 64, block = 32,
  args = function(c) return { c.dev:zeros("f32", 1) } end, right = 64 }
mistake { "a wait without a fence", "Oxford 4, 33", kernel = "in_order<true,?>", grid = 16, block = 32,
  args = function(c) return { c.dev:array("f32", 16), c.ones(16) } end, right = function(i) return i end }
mistake { "counters that stay", "Oxford 4, 31", kernel = "in_order<?,true>", run = function(c)
  local x, y = c.ones(32), c.dev:array("f32", 32) -- room for twice as many blocks
  for _ = 1, 2 do c.launch({ grid = 16, block = 32 }, y:fill(0), x) end
  return y:view(1, 16), function(i) return i end
end }

-- Four rounds of red and black cells, each from the cells next to it.
local function red_black(c, black)
  local squares, u = {}, c.dev:array("f32", 256)
  for i = 1, 256 do squares[i] = i * i end
  u:upload(squares)
  c.launch({ grid = 4, block = 64, cooperative = true }, u, 256, 0, black)
  for half = 0, 7 do
    for i = 2 + (half + 1) % 2, 255, 2 do squares[i] = 0.5 * (squares[i - 1] + squares[i + 1]) end
  end
  return u, function(i) return squares[i] end
end
mistake { "no barrier after red", "report, onekernel", kernel = "red_black<?>",
  run = function(c) return red_black(c, 1) end }
mistake { "red twice", "report, tex", kernel = "red_black<true>",
  run = function(c) return red_black(c, c.is_mended and 1 or 0) end }

-- ---- streams ----------------------------------------------------------------------------------------
-- 1200 elements in pieces of 300, in two streams by turns.
local function pieces(c, wrong)
  local x, y, streams, input, output = c.dev:pinned("f32", 1200):fill(1), c.dev:pinned("f32", 1200):fill(0), {}, {}, {}
  for k = 1, 2 do
    streams[k] = c.dev:stream { blocking = false }
    input[k] = wrong == "buffers" and input[1] or c.dev:array("f32", 300)
    output[k] = wrong == "buffers" and output[1] or c.dev:array("f32", 300)
  end
  local k, how = 1, { grid = wrong == "grid" and 300 // 256 or mw.ceil_div(300, 256), block = 256 }
  for first = 1, wrong == "bound" and 1200 // 300 or 1200, 300 do
    how.stream = streams[k]
    input[k]:copy(x, { from = first, count = 300, stream = how.stream }) -- moonwarp: race-ok a mistake that is shown
    c.launch(how, output[k], input[k], 300)
    y:copy(output[k], { to = first, count = 300, stream = how.stream }) -- moonwarp: race-ok a mistake that is shown
    k = 3 - k
    streams[k]:synchronize()
  end
  c.dev:synchronize()
  return y, 2
end
for _, one in ipairs { { "one buffer for two streams", "buffers" }, { "a grid that is rounded down", "grid" },
                       { "as many elements as pieces", "bound" } } do
  mistake { one[1], "Kiel, Interlaced", kernel = "twice<?>",
            run = function(c) return pieces(c, not c.is_mended and one[2]) end }
end

mistake { "a stream for each launch", "report, streamburst", kernel = "twice<?>", run = function(c)
  local x, y, z = c.ones(4096), c.dev:zeros("f32", 4096), c.dev:zeros("f32", 4096)
  local first, second = c.dev:stream { blocking = false }, c.dev:stream { blocking = false }
  c.dev:synchronize()
  c.launch({ grid = 16, block = 256, stream = first }, y, x, 4096)
  if c.is_mended then second:wait(first:record()) end
  c.launch({ grid = 16, block = 256, stream = second }, z, y, 4096)
  c.dev:synchronize()
  return z, 4
end }
return study
