-- SPDX-License-Identifier: MIT
--
-- differential.lua SEED COUNT: random kernels through the automatic choice of engine and through fibers, which must
-- agree in every bit; prints what does not, and "done COUNT wrong N".
-- Threads touch elements of their own between barriers (records of 1 to 4 numbers, local arrays by data), so that every
-- result is defined. differential_spec.lua starts it once for each compiler.

local mw = require "moonwarp"
local seed, count = math.tointeger(tonumber(arg[1])), math.tointeger(tonumber(arg[2]))
local random = math.random
local THREADS, EACH = 64, 8
local dev = mw.device "cpu"

local function any(list) return list[random(#list)] end

local NUMBERS = { "a", "b", "c", "t", "(unsigned)n" }

-- A kernel: what stands for a record's size, for the arrays that a thread may write, and whether barriers may be.
local function kernel(name)
  local stride = any { 1, 2, 2, 3, 4, 4 }
  local barriers, depth = random(2) == 1, 0
  local arrays = { "m[%s]", "loc[%s]", ("g[%d * t + %%s]"):format(stride) }
  if barriers then arrays[#arrays + 1] = ("s[%d * t + %%s]"):format(stride) end
  local expression

  local function place(array)
    local size = array == "loc[%s]" and 4 or stride
    local at = random(3) == 1 and ("(%s %% %du)"):format(expression(2), size) or tostring(random(0, size - 1))
    return array:format(at)
  end

  function expression(level)
    local kind = random(level < 2 and 9 or 5)
    if kind == 1 then return random(1, 29) .. "u" end
    if kind == 2 then return any(NUMBERS) end
    if kind == 3 then return ("in[%d * t + %d]"):format(stride, random(0, stride - 1)) end
    if kind <= 6 then return place(any(arrays)) end
    if kind == 7 then return ("(%s ? %s : %s)"):format(expression(level + 1) .. " & 1",
      expression(level + 1), expression(level + 1)) end
    return ("(%s %s %s)"):format(expression(level + 1), any { "+", "-", "*", "^", "&", "|" }, expression(level + 1))
  end

  local statements
  local function statement(uniform)
    local kind = random(12)
    if kind <= 4 then return ("%s %s %s;"):format(place(any(arrays)), any { "=", "=", "+=", "^=" }, expression(0)) end
    if kind <= 7 then return ("%s %s %s;"):format(any { "a", "b", "c" }, any { "=", "+=", "^=" }, expression(0)) end
    if kind == 8 then
      local array = any(arrays)
      return ("%s = t; a = %s;"):format(array:format(("(%s %% %du)"):format(place(array), array == "loc[%s]" and 4
        or stride)), place(array))
    end
    if depth > 1 then return "b += 3u;" end
    if kind == 9 then return ("if (%s & 1) { %s }"):format(expression(1), statements(2, false)) end
    if kind == 10 then return ("for (int i = 0; i < %s; i++) { a += i; %s }"):format(any { "n", "3" },
      statements(2, uniform)) end
    if not (barriers and uniform) then return "c ^= b;" end
    if kind == 11 then return ("__syncthreads(); b += x[(t + %d) %% 64]; __syncthreads(); x[t] = %s;"):format(
      random(63), expression(1)) end
    return ("a += __shfl_xor_sync(~0u, %s, %d);"):format(expression(1), random(31))
  end

  function statements(number, uniform)
    local list = {}
    depth = depth + 1
    for i = 1, number do list[i] = statement(uniform) end
    depth = depth - 1
    return table.concat(list, "\n  ")
  end

  local shared = ""
  if barriers then
    local rest = {}
    for i = 1, stride - 1 do rest[i] = ("s[t + 64 * %d] = 7u;"):format(i) end
    local text = "__shared__ unsigned s[64 * %d], x[64];\n  s[t] = in[t]; x[t] = in[t]; %s __syncthreads();"
    shared = text:format(stride, table.concat(rest, " "))
  end
  depth = -1
  return ([[
__global__ void %s(unsigned *out, unsigned *g, unsigned *h, const unsigned *in, int n) {
  int t = threadIdx.x;
  unsigned *m = h + %d * t;
  unsigned a = in[t], b = t, c = 5u, loc[4] = {1u, 2u, 3u, in[t]};
  %s
  %s
  out[t] = a ^ (b * 3) ^ (c * 5) ^ loc[0] ^ (loc[1] * 3) ^ (loc[2] * 5) ^ (loc[3] * 7);
}
]]):format(name, stride, shared, statements(8, true))
end

local function results(module, name)
  local out <close> = dev:zeros("u32", THREADS)
  local g <close> = dev:array("u32", 4 * THREADS):random(1)
  local h <close> = dev:array("u32", 4 * THREADS):random(2)
  local input <close> = dev:array("u32", 4 * THREADS):random(3)
  local function run(second)
    module:kernel(name):launch(1, THREADS, out, g, second, input, 3)
    return out:bytes() .. g:bytes() .. second:bytes()
  end
  return run(h) .. run(g) -- one array under two names, too
end

local wrong, engines = 0, {}
for batch = 1, count // EACH do
  math.randomseed(seed * 1000 + batch)
  local texts = {}
  for i = 1, EACH do texts[i] = kernel("k" .. i) end
  local source = table.concat(texts)
  local right <close> = dev:module { source = source, name = "right.cu", engine = "fiber" }
  local fast <close> = dev:module { source = source, name = "fast.cu" }
  for i = 1, EACH do
    local name = "k" .. i
    local engine = fast:kernel(name):engine()
    engines[engine] = (engines[engine] or 0) + 1
    if results(right, name) ~= results(fast, name) then
      wrong = wrong + 1
      print(("batch %d, %s differs:\n%s"):format(batch, engine, texts[i]))
    end
  end
end
print(("loop %d, split %d, fiber %d"):format(engines.loop or 0, engines.split or 0, engines.fiber or 0))
print(("done %d wrong %d"):format(count // EACH * EACH, wrong))
