-- SPDX-License-Identifier: MIT
--
-- probes.lua: makes kernels of the cases of the files beside it, and runs them.
--
-- A case is { name, in front of the kernel, beginning of its body, n as a Lua expression of t }: the body gives `int n`
-- a value of each thread's own, for thread t of 64; w is 1. A body that has a kernel is whole, and its expression is
-- element a[t], of all blocks; such a case may say its grid, block, dynamic shared memory (shared), array's size,
-- whether it is cooperative and, if its second parameter is a structure, the bytes of that (argument).
-- alone: it can't stand in a namespace, or fails together with what is in the same file. refused: words of the error
-- where the device does not take it. engine: the one that "auto" chooses; "fast": any but fibers. std: "c++20". kernel:
-- "k<3>" or "m::k"; with either it is alone.

local probes = {}

--- The files of cases.
probes.FILES = { "values", "references", "language", "barriers", "constness", "helpers", "addresses", "objects",
                 "names", "blocks", "sizes", "constants", "forms" }

local KERNEL = "__global__ void k(int *a, int w) { "
local TURN = "__shared__ int turned[64]; turned[threadIdx.x] = n; __syncthreads(); int seen = turned[63 - threadIdx.x];"
  .. " __syncthreads(); if (n > 5) seen += 100; __syncthreads();"

-- What stands around a case: engine "loop" is for those without barriers, "split" for those with.
local FRAMES = {
  plain = { "", KERNEL .. "%s\n a[threadIdx.x] = n; }" },
  barriers = { "", KERNEL .. "%s\n " .. TURN .. " a[threadIdx.x] = seen + n; }" },
  helper = { "__device__ int probe(int *a, int w) { %s\n return n; }",
    KERNEL .. "int n = probe(a, w); a[threadIdx.x] = n; }" },
  turning = { "__device__ int probe(int *a, int w) { %s\n " .. TURN .. " return seen + n; }",
    KERNEL .. "a[threadIdx.x] = probe(a, w); }" },
}

local function is_whole(case) return case.whole or case[3]:find "__global__" end

-- Coordinates that stand on one side of the barriers only are those of the other thread on the other side.
local function value(case, frame, t)
  local n = load("local t = ... return " .. case[4])
  if frame == "barriers" or frame == "turning" then return n(63 - t) + (n(t) > 5 and 100 or 0) + n(t) end
  return n(t)
end

local function product(block)
  if type(block) == "number" then return block end
  return block[1] * block[2] * (block[3] or 1)
end

--- The kernels of a case: what stands in front of each and its text, launch and expected elements.
---@param case table
---@param frames string[]  of those that are not whole
---@return table[]
function probes.kernels(case, frames)
  local list = {}
  for _, frame in ipairs(is_whole(case) and { "whole" } or frames) do
    local kernel = { case = case, frame = frame, grid = case.grid or 1, block = case.block or 64, want = {} }
    local form = FRAMES[frame] or { "", "%s" }
    local body = case[3]:gsub("%%", "%%%%")
    kernel.front = case[2] .. "\n" .. form[1]:gsub("%%s", body) .. "\n"
    kernel.text = form[2]:gsub("%%s", body) .. "\n"
    for i = 1, case.size or product(kernel.grid) * product(kernel.block) do
      kernel.want[i] = math.tointeger(value(case, frame, i - 1))
    end
    list[#list + 1] = kernel
  end
  return list
end

-- Helpers of one name in several namespaces are not told apart: `probe` of a frame, and those of helpers.lua's own.
local function renamed(front, text, number, has_own)
  local names = { "probe" }
  for name in (has_own and front or ""):gmatch "__device__ [^;{}()]-([%a_][%w_]*)%(" do names[#names + 1] = name end
  for _, name in ipairs(names) do
    local word = ("%%f[%%w_]%s%%f[^%%w_]"):format(name)
    local own = ("%s_%d"):format(name, number)
    front, text = front:gsub(word, own), text:gsub(word, own)
  end
  return front, text
end

-- A kernel as "k<number>" in a namespace of its own, without its macros behind it; and what it includes.
local function enclosed(kernel, number)
  local includes, macros = {}, {}
  local front = kernel.front:gsub("#include [^\n]*\n", function(line) includes[#includes + 1] = line return "" end)
  for macro in front:gmatch "#define ([%w_]+)" do macros[#macros + 1] = "#undef " .. macro .. "\n" end
  local text = kernel.text:gsub("%f[%w_]k%(int %*", ("k%d(int *"):format(number))
  front, text = renamed(front, text, number, kernel.file == "helpers")
  return table.concat(includes), ("namespace probe%d {\n%s%s}\n%s"):format(number, front, text, table.concat(macros))
end

--- One file of several kernels, or of one as it is.
---@param kernels table[]
---@return string
function probes.source(kernels)
  if #kernels == 1 then return kernels[1].front .. kernels[1].text end
  local includes, texts = {}, {}
  for i, kernel in ipairs(kernels) do includes[i], texts[i] = enclosed(kernel, i) end
  return table.concat(includes) .. table.concat(texts)
end

local function elements(dev, module, name, kernel)
  local out <close> = dev:zeros("i32", #kernel.want)
  local entry = module:kernel(kernel.case.kernel or name)
  local launch = entry:prepare { grid = kernel.grid, block = kernel.block, shared = kernel.case.shared,
    cooperative = kernel.case.cooperative }
  launch(out, kernel.case.argument or 1)
  return out:totable(), (entry:engine())
end

local function difference(values, want)
  for i = 1, #want do
    if values[i] ~= want[i] then return ("element %d: %d, expected %d"):format(i - 1, values[i], want[i]) end
  end
end

--- What an error makes of a kernel: "refused" as it may be, or "broken".
---@return string verdict
---@return string why
function probes.failed(kernel, message)
  local text = tostring(message)
  local words = kernel.case.refused
  return words and text:find(words, 1, true) and "refused" or "broken", text:match "[^\n]*"
end

--- What became of a kernel: "right", "wrong" or as failed says, and why; and the engine that ran it.
---@return string verdict
---@return string? why
---@return string? engine
function probes.judge(dev, module, name, kernel, asked)
  local ok, values, engine = pcall(elements, dev, module, name, kernel)
  if not ok then return probes.failed(kernel, values) end
  local why = difference(values, kernel.want)
  local wanted = asked == "auto" and kernel.case.engine
  local fits = not wanted or engine == wanted or (wanted == "fast" and engine ~= "fiber")
  if not why and not fits then return "broken", select(2, module:kernel(name):engine()), engine end
  return why and "wrong" or "right", why, engine
end

--- What probed_kernels.lua prints, in a process of its own, with a compiler that does not optimise. Its cache is its
--- own: what is stored of a compiler goes by its path, which is the same for all.
---@param compiler string
---@param words string  probed_kernels.lua's own
---@return string output
function probes.run(compiler, words)
  local support = require "tests.support"
  local script = support.core.home() .. "/tests/regress/classes/probed_kernels.lua"
  local code = ("arg = {}\nfor word in (%q):gmatch '%%S+' do arg[#arg + 1] = word end\ndofile(%q)\n")
  local output
  support.with_folder(function(folder)
    output = support.child_passes(code:format(words, script), { limit = 800,
      env = { MOONWARP_CXX = support.core.home() .. "/tests/cxx-o0", CXX_O0 = compiler, MOONWARP_CACHE = folder } })
  end)
  return output
end

return probes
