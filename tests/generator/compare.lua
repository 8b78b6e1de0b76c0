-- SPDX-License-Identifier: MIT
--
-- What kernels leave in memory, by the model's program and by an engine of the CPU device, as strings of bytes.

local mw = require "moonwarp"
local cuda = require "tests.generator.cuda"
local model = require "tests.generator.model"
local compare = {}

local SIZE = model.SIZE
local BYTES = 4 * SIZE

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
  for i = 1, #kernels do list[i] = bytes:sub((i - 1) * 2 * BYTES + 1, i * 2 * BYTES) end
  return list
end

local function inputs()
  local g, input = {}, {}
  for i = 0, SIZE - 1 do
    g[i + 1] = (i * 40503 + 7) & 0xffffffff
    input[i + 1] = ((i * 2654435769) & 0xffffffff) >> 7
  end
  return g, input
end

local G, IN = inputs()

local function launch(dev, compiled, kernel)
  local out <close> = dev:zeros("u32", SIZE)
  local g <close> = dev:array("u32", G)
  local input <close> = dev:array("u32", IN)
  compiled:launch(kernel.grid, kernel.block, out, g, input, 3, 1)
  return out:bytes() .. g:bytes()
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
  for i, kernel in ipairs(kernels) do results[i] = ok and result_of(dev, module, kernel) or { why = one_line(module) } end
  if ok then module:close() end
  return results
end

-- The first element that differs, in words.
function compare.difference(kernel, got, want)
  for i = 0, 2 * SIZE - 1 do
    local a, b = ("<I4"):unpack(got, 4 * i + 1), ("<I4"):unpack(want, 4 * i + 1)
    if a ~= b then
      local name, at, each = "out", i, 1
      if i >= SIZE then name, at, each = "g", i - SIZE, 4 end
      return ("%s[%d] is %d, expected %d (block %d, thread %d)"):format(name, at, a, b,
        at // each // kernel.threads, at // each % kernel.threads)
    end
  end
end

return compare
