-- SPDX-License-Identifier: MIT
--
-- What kernels leave in memory, by the model's program and by an engine of the CPU device, as strings of bytes.

local mw = require "moonwarp"
local cuda = require "tests.generator.cuda"
local model = require "tests.generator.model"
local compare = {}

local SIZE = model.SIZE
local ARRAYS = { "out", "g", "h", "out, where h is g,", "g, where h is g," } -- what a kernel's bytes are
local BYTES = 4 * SIZE * #ARRAYS

local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
end

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function host_compiler()
  local found = io.popen("command -v g++ || command -v clang++"):read "l"
  return assert(found, "the model needs g++ or clang++")
end

-- What the model says, for each kernel; or nil and why it says nothing. MODEL_FLAGS: a sanitizer's, to judge the model.
function compare.expected(kernels, folder)
  local text, program, output = folder .. "/model.cpp", folder .. "/model", folder .. "/model.out"
  write(text, model.program(kernels))
  local command = ("%s -std=c++17 -O0 -w %s -o %s %s 2>%s && %s >%s 2>%s"):format(host_compiler(),
    os.getenv "MODEL_FLAGS" or "", program, text, output, program, output, folder .. "/model.err")
  if not os.execute(command) then return nil, read(output):match "[^\n]*error[^\n]*" or read(folder .. "/model.err") end
  local bytes, list = read(output), {}
  for i = 1, #kernels do list[i] = bytes:sub((i - 1) * BYTES + 1, i * BYTES) end
  return list
end

local function numbers(of)
  local list = {}
  for i = 0, SIZE - 1 do list[i + 1] = of(i) & 0xffffffff end
  return list
end

local G = numbers(function(i) return i * 40503 + 7 end)
local H = numbers(function(i) return i * 48271 + 5 end)
local IN = numbers(function(i) return (i * 2654435769 & 0xffffffff) >> 7 end)

-- As the model's run().
local function launch(dev, compiled, kernel)
  local out <close> = dev:zeros("u32", SIZE)
  local g <close> = dev:array("u32", G)
  local h <close> = dev:array("u32", H)
  local input <close> = dev:array("u32", IN)
  compiled:launch(kernel.grid, kernel.block, out, g, h, input, 3, 1)
  local first = out:bytes() .. g:bytes() .. h:bytes()
  compiled:launch(kernel.grid, kernel.block, out, g, g, input, 3, 1)
  return first .. out:bytes() .. g:bytes()
end

local function one_line(problem) return (tostring(problem):match("[^\n]*"):gsub("^%S+%.lua:%d+: ", "")) end

local function result_of(dev, module, kernel)
  local compiled, problem = select(2, pcall(module.kernel, module, kernel.name))
  if mw.type(compiled) ~= "kernel" then return { why = one_line(compiled or problem) } end
  local went, bytes = pcall(launch, dev, compiled, kernel)
  return { engine = (compiled:engine()), bytes = went and bytes, fault = not went and one_line(bytes) or nil }
end

-- Runs kernels as one module. Of each: { engine = , bytes = }, { engine = , fault = } or { why = it is not compiled }.
function compare.run(dev, kernels, engine)
  local texts, results = {}, {}
  for i, kernel in ipairs(kernels) do texts[i] = cuda.print(kernel) end
  local ok, module = pcall(dev.module, dev, { source = table.concat(texts), name = "generated.cu", engine = engine,
    cache = false, warnings = false })
  for i, kernel in ipairs(kernels) do
    results[i] = ok and result_of(dev, module, kernel) or { why = one_line(module) }
  end
  if ok then module:close() end
  return results
end

-- The first element that differs, in words.
function compare.difference(kernel, got, want)
  for i = 0, #want // 4 - 1 do
    local a, b = ("<I4"):unpack(got, 4 * i + 1), ("<I4"):unpack(want, 4 * i + 1)
    if a ~= b then
      local name, at = ARRAYS[i // SIZE + 1], i % SIZE
      local thread = name:find "^out" and at or at // kernel.stride
      return ("element %d of %s is %d, expected %d (block %d, thread %d)"):format(at, name, a, b,
        thread // kernel.threads, thread % kernel.threads)
    end
  end
end

return compare
