-- SPDX-License-Identifier: MIT
--
-- first-kernels: what does a first program need, and what is said when it is wrong?
--
-- A first kernel, the sum of two vectors by copies and by managed memory, launches that fail, lines that a kernel
-- prints and how many of them arrive, and the update that count++ loses. Nothing is timed. Sources are pages of
-- Oxford's lectures: "1, 22" is page 22 of lecture 1. See docs/studies/first-kernels.md.

local mw = require "moonwarp"
local has_host, host = pcall(require, "moonwarp.host") -- of the program: a stock interpreter has none

local study, p = mw.study {
  question = "what does a first program need, and what is said when it is wrong?", kernels = "first-kernels.cu",
  seconds = false,
  params = { { "n", 1000, "elements of the vectors", min = 1, max = 1 << 24 },
             { "lines", { 1000, 100000 }, "lines that a kernel prints", min = 1, max = 1 << 24 },
             { "threads", 1 << 18, "threads that count, in blocks of 256", min = 256, max = 1 << 24 } },
}

-- ---- what goes well ---------------------------------------------------------------------------------
local function module_of(dev)
  return dev:module { file = "first-kernels.cu", templates = { "count<false>", "count<true>" } }
end

local function first(dev, m)
  local x <close> = dev:array("f32", 16)
  m.my_first_kernel:launch(2, 8, x)
  mw.check(x, function(i) return (i - 1) % 8 end, { name = "a first kernel" })
end

local function count_up()
  local list = {}
  for i = 1, p.n do list[i] = i end
  return list
end

local function launch_add(m, z, x, y) m.add:launch(mw.ceil_div(p.n, 256), 256, z, x, y, p.n) end

local function is_sum(z, name) mw.check(z, function(i) return 2 * i end, { name = name }) end

local function copied(dev, m)
  local x <close> = dev:pageable("f32", count_up())
  local z <close> = dev:pageable("f32", p.n)
  local dx <close> = dev:array("f32", p.n)
  local dz <close> = dev:array("f32", p.n)
  dx:copy(x)
  launch_add(m, dz, dx, dx)
  z:copy(dz)
  is_sum(z, "a sum of vectors, copied")
end

-- One array for both sides: the host writes x and reads z.
local function managed(dev, m)
  local x <close> = dev:managed("f32", count_up())
  local z <close> = dev:managed("f32", p.n)
  launch_add(m, z, x, x)
  is_sum(z, "a sum of vectors, managed")
end

-- ---- what goes wrong --------------------------------------------------------------------------------
-- What is wrong, its name in the CUDA runtime, the status of the error here, and what does it. `faults`: on a GPU it
-- would end the use of the device, so it runs on the CPU device.
local MISTAKES <const> = {
  { "2000 threads in a block", "cudaErrorInvalidConfiguration", "invalid",
    function(_, m, x) m.my_first_kernel:launch(1, 2000, x) end },
  { "no block", "cudaErrorInvalidConfiguration", "invalid", function(_, m, x) m.my_first_kernel:launch(0, 8, x) end },
  { "an array of doubles", "no: a cast hides it", "invalid", function(dev, m)
    local x <close> = dev:array("f64", 16)
    m.my_first_kernel:launch(2, 8, x)
  end },
  { "an argument too few", "no: the compiler finds it", "invalid", function(_, m) m.my_first_kernel:launch(2, 8) end },
  { "more memory than there is", "cudaErrorMemoryAllocation", "no_memory",
    function(dev) dev:empty("f64", 1 << 44) end },
  { "a kernel that is not there", "cudaErrorSymbolNotFound", "not_found",
    function(_, m) m:kernel "my_frist_kernel" end },
  { "an index beyond the array", "cudaErrorIllegalAddress, later", "fault",
    function(_, m, x) m.beyond:launch(1, 1, x, 1 << 28) end, faults = true },
  { "an assertion", "cudaErrorAssert, later", "fault",
    function(_, m, x) m.doubt:launch(1, 16, x:fill(0)) end, faults = true },
}

-- The message without the script's line before it, on one line.
local function message_of(problem)
  return (tostring(problem):gsub("\n.*", ""):gsub("^[^ ]*:%d+: ", ""))
end

local function fail(one, dev, m)
  local x <close> = dev:zeros("f32", 16)
  local ok, problem = pcall(function()
    one[4](dev, m, x)
    dev:synchronize()
  end)
  mw.findings { expected = true } -- of check mode
  if ok then error(("%s: no error"):format(one[1]), 0) end
  if problem.status ~= one[3] then error(("%s: status %s: %s"):format(one[1], problem.status, problem), 0) end
  return message_of(problem)
end

-- ---- what is lost -----------------------------------------------------------------------------------
-- How many of the lines that a kernel prints arrive, and the first of them: from a process of its own.
local function print_lines(id, count)
  local code = ([[local m = require "moonwarp".device(%q):module "first-kernels.cu"
    m.say:launch(%d, 256, %d) m:device():synchronize()]]):format(id, mw.ceil_div(count, 256), count)
  local arrived, least = 0, math.huge
  local pipe <close> = io.popen(("'%s' -e '%s'"):format(host.program(), code:gsub("\n%s*", " ")))
  for line in pipe:lines() do
    local number = math.tointeger(tonumber(line:match "^line (%d+)$"))
    if not number then error("printf: " .. line, 0) end
    arrived, least = arrived + 1, math.min(least, number)
  end
  return arrived, least
end

-- What the counter has after as many threads; only the atomic one must be right.
local function update(dev, m, threads, is_atomic)
  local counter <close> = dev:zeros("i32", 1)
  m:kernel(("count<%s>"):format(is_atomic)):prepare { grid = threads // 256, block = 256 }(counter)
  local got = counter:get(1)
  if is_atomic then mw.check(counter, threads, { name = "atomicAdd" }) else mw.findings { expected = true } end
  return got
end

-- ---- the run ----------------------------------------------------------------------------------------
local records = {}

local function row(step, source, result, more)
  local values = { step = step, source = source, result = result }
  for name, value in pairs(more or {}) do values[name] = value end
  records[#records + 1] = mw.record(values)
end

local function run_steps(dev, m, cpu)
  for _, one in ipairs { { "a first kernel", "1, 22", first }, { "two vectors, copied", "1, 27", copied },
                         { "two vectors, managed", "1, 31", managed } } do
    one[3](dev, m)
    row(one[1], one[2], "runs")
  end
  for _, one in ipairs(MISTAKES) do
    local said
    if one.faults then said = fail(one, cpu, module_of(cpu)) else said = fail(one, dev, m) end
    row(one[1], "1, 29", "error: " .. one[3], { runtime = one[2], said = said })
  end
end

local function run_losses(dev, m)
  for _, count in ipairs(has_host and p.lines or {}) do
    local arrived, least = print_lines(dev:id(), count)
    row(("printf of %d lines"):format(count), "1, 30", arrived == count and "all arrive"
      or ("from line %d on"):format(least), { wanted = count, got = arrived })
  end
  local threads = p.threads // 256 * 256
  for _, one in ipairs { { "count++", "3, 16", false }, { "atomicAdd(&count, 1)", "3, 18", true } } do
    local got = update(dev, m, threads, one[3])
    row(one[1], one[2], got == threads and "all count" or "updates are lost", { wanted = threads, got = got })
  end
end

study:finally(function()
  local dev = study.dev
  local m, cpu = module_of(dev), mw.device "cpu"
  mw.device(dev:id()) -- opened last: that of the records
  run_steps(dev, m, cpu)
  run_losses(dev, m)
  mw.table { "step", "source", "result", { "runtime", title = "in the CUDA runtime" }, "wanted", "got",
             records = records, title = "first kernels, and what comes of them" }
  for _, r in ipairs(records) do
    if r.said then mw.remark("%s: %s", r.step, r.said) end
  end
end)
return study
