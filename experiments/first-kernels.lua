-- SPDX-License-Identifier: MIT
--
-- first-kernels: what does a first program need, and what is said when it is wrong?
--
-- A first kernel, the sum of two vectors by copies and by managed memory, launches that fail, lines that a kernel
-- prints and how many of them arrive, and the update that count++ loses. Nothing is timed. Sources are pages of
-- Oxford's lectures: "1, 22" is page 22 of lecture 1. See docs/studies/first-kernels.md.

local mw = require "moonwarp"
local core = require "moonwarp.core"
local has_host, host = pcall(require, "moonwarp.host") -- of the program: a stock interpreter has none

local study, p, gpu = mw.study {
  question = "what does a first program need, and what is said when it is wrong?", kernels = "first-kernels.cu",
  course = { week = 1.1, level = 1, hours = 2, about = "grids, blocks, indices, error messages",
             without_gpu = "all but the ring of `printf`" },
  seconds = false,
  params = { { "n", 1000, "elements of the vectors", min = 1, max = 1 << 24 },
             { "lines", { 1000, 100000 }, "lines that a kernel prints", min = 1, max = 1 << 24 },
             { "threads", 1 << 18, "threads that count, in blocks of 256", min = 256, max = 1 << 24 } },
}

-- ---- what goes well ---------------------------------------------------------------------------------
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
-- What is wrong, its name in the CUDA runtime, the status of the error here, and what does it: a function; or code of
-- a process of its own, because a kernel's fault ends the use of a GPU in the process.
local FAULT <const> = gpu and "lost" or "fault"
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
  { "an index beyond the array", "cudaErrorIllegalAddress, later", FAULT, "m.beyond:launch(1, 1, x, 1 << 28)" },
  { "an assertion", "cudaErrorAssert, later", FAULT, "m.doubt:launch(1, 16, x)" },
}

-- The lines that Lua code prints in a process of its own; it has the device, the module and 16 zeros in x. The kernels
-- are those of this process: by their name it might find others.
local function lines_of(id, code)
  local start = ([[local mw = require "moonwarp" local dev = mw.device(%q)
    local m = dev:module { file = %q, name = "first-kernels.cu" } local x = dev:zeros("f32", 16) ]]):format(id,
    core.files["first-kernels.cu"])
  local pipe <close> = io.popen(("'%s' -e '%s' 2>/dev/null"):format(host.program(), (start .. code):gsub("\n%s*", " ")))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  return lines
end

local function fault(one, dev)
  for _, line in ipairs(lines_of(dev:id(), ([[local ok, e = pcall(function() %s dev:synchronize() end)
    print("status " .. (ok and "none, no error" or e.status .. ", " .. e.text))]]):format(one[4]))) do
    local status, text = line:match "^status (%g+), (.*)"
    if status then return status, text end
  end
  return "none", "the process said nothing"
end

local function mistake(one, dev, m)
  local x <close> = dev:zeros("f32", 16)
  local ok, problem = pcall(one[4], dev, m, x)
  if ok then return "none", "no error" end
  return problem.status, problem.text
end

local function fail(one, dev, m)
  local status, text
  if type(one[4]) == "string" then status, text = fault(one, dev) else status, text = mistake(one, dev, m) end
  if status ~= one[3] then error(("%s: status %s: %s"):format(one[1], status, text), 0) end
  return text:match "[^\n]*"
end

-- ---- what is lost -----------------------------------------------------------------------------------
-- How many of the lines that a kernel prints arrive, and the first of them.
local function print_lines(id, count)
  local arrived, least = 0, math.huge
  for _, line in ipairs(lines_of(id, ("m.say:launch(%d, 256, %d) dev:synchronize()"):format(mw.ceil_div(count, 256),
    count))) do
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

local function run_steps(dev, m)
  for _, one in ipairs { { "a first kernel", "1, 22", first }, { "two vectors, copied", "1, 27", copied },
                         { "two vectors, managed", "1, 31", managed } } do
    one[3](dev, m)
    row(one[1], one[2], "runs")
  end
  for _, one in ipairs(MISTAKES) do
    if has_host or type(one[4]) == "function" then
      row(one[1], "1, 29", "error: " .. one[3], { runtime = one[2], said = fail(one, dev, m) })
    end
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
  local m = dev:module { file = "first-kernels.cu", templates = { "count<false>", "count<true>" } }
  run_steps(dev, m)
  run_losses(dev, m)
  mw.table { "step", "source", "result", { "runtime", title = "in the CUDA runtime" }, "wanted", "got",
             records = records, title = "first kernels, and what comes of them" }
  for _, r in ipairs(records) do
    if r.said then mw.remark("%s: %s", r.step, r.said) end
  end
end)
return study
