-- SPDX-License-Identifier: MIT
--
-- A random kernel of a seed and a number: { name, fronts, nodes, block, grid, tags }, which cuda.lua and model.lua
-- print. A thread writes elements of its own in `out`, `g` and `h`; `in` is only read; shared arrays are read between
-- barriers.

local cuda = require "tests.generator.cuda"
local locals = require "tests.generator.locals"
local nodes = require "tests.generator.nodes"
local new_context = require("tests.generator.context").new
local context = require "tests.generator.context"
local new_scope = require("tests.generator.scope").new
local any, chance, declare = context.any, context.chance, cuda.declare
local random = math.random

local BLOCKS = { { 32, 1 }, { 64, 1 }, { 64, 1 }, { 96, 1 }, { 32, 2 } }

-- The thread's index, named or by what hides it.
local INDICES = {
  function(k) return { declare("unsigned", "t", k.index) } end,
  function(k)
    local f = k:global "me"
    k:front(("__device__ unsigned %s() { return %s; }"):format(f, k.index))
    return { declare("unsigned", "t", f .. "()") }
  end,
  function(k)
    local C = k:global "Index"
    k:front(("struct %s { unsigned x; __device__ %s() : x(%s) {} };"):format(C, C, k.index))
    k:tag "constructor"
    k:tag "member initialiser"
    return { declare(C, "index", "", { form = "" }), declare("unsigned", "t", "index.x") }
  end,
  function(k)
    local C = k:global "Index"
    k:front(("struct %s { __device__ operator unsigned() const { return %s; } };"):format(C, k.index))
    k:tag "conversion"
    return { declare("unsigned", "t", C .. "{}") }
  end,
}

local function shared(k)
  local list = {}
  for i = 1, random(2) do
    local name = ("s%d_%s"):format(i, k.name)
    k.shared[i] = name
    list[#list + 1] = { kind = "shared", type = "unsigned", name = name, count = k.threads, fixed = true }
    list[#list + 1] = { kind = "text", text = ("%s[t] = in[i + %du];"):format(name, i), fixed = true }
  end
  list[#list + 1] = { kind = "shared", type = "unsigned", name = "r_" .. k.name, count = k.stride * k.threads,
    fixed = true }
  for i = 0, k.stride - 1 do
    local text = ("r_%s[%du * t + %du] = %du;"):format(k.name, k.stride, i, i + 3)
    list[#list + 1] = { kind = "text", text = text, fixed = true }
  end
  list[#list + 1] = { kind = "barrier", fixed = true }
  return list
end

-- What every kernel has: its index, three numbers, an array and a record of its own.
local function beginning(k, scope)
  local list = (k.only and INDICES[1] or any(INDICES))(k)
  list[#list + 1] = declare("unsigned", "i", ("blockIdx.x * %du + t"):format(k.threads))
  list[#list + 1] = declare("unsigned *", "m", ("h + %du * i"):format(k.stride))
  list[#list + 1] = declare("unsigned", "a", any { "in[i]", "in[0]", "5u", "t" })
  list[#list + 1] = declare("unsigned", "b", any { "w", "7u", "n * 3u" })
  list[#list + 1] = declare("unsigned", "u", any { "n", "blockIdx.x + 3u", "5u" })
  scope:add_target("u", true)
  local loc = declare("unsigned", "loc")
  loc.elements = { "1u", "2u", "n", "in[i + 1u]" }
  list[#list + 1] = loc
  scope:see("t", false)
  scope:see(function() return ("in[%du * i + %du]"):format(k.stride, random(0, k.stride - 1)) end)
  scope:see("n", true)
  for _, target in ipairs { "a", "b", chance(30) and "w" or "a" } do scope:add_target(target) end
  scope:add_target("loc[2]")
  scope.places = { { "loc[%s]", 4 }, { "m[%s]", k.stride }, { ("g[%du * i + %%s]"):format(k.stride), k.stride } }
  if k.barriers then scope.places[4] = { ("r_%s[%du * t + %%s]"):format(k.name, k.stride), k.stride } end
  scope:see(function() return scope:place() end)
  for _, node in ipairs(k.barriers and shared(k) or {}) do list[#list + 1] = node end
  return list
end

local function ending(k, scope)
  local seen, sum = {}, {}
  for _, target in ipairs(scope.targets) do
    if not seen[target] then sum[#sum + 1] = ("%s * %du"):format(target, 2 * #sum + 1) end
    seen[target] = true
  end
  for _, target in ipairs(scope.uniforms) do sum[#sum + 1] = ("%s * %du"):format(target, 2 * #sum + 1) end
  for i = 0, k.stride - 1 do
    if k.barriers then sum[#sum + 1] = ("r_%s[%du * t + %du] * %du"):format(k.name, k.stride, i, 2 * #sum + 1) end
  end
  for i = 0, 3 do sum[#sum + 1] = ("loc[%d] * %du"):format(i, 2 * #sum + 1) end
  return { kind = "text", text = ("out[i] = %s;"):format(table.concat(sum, " ^ ")), fixed = true }
end

-- Names of the file, which end in the kernel's.
local function each_name(text, kernel) return text:gmatch("[%a]+%d+_" .. kernel .. "%f[^%w_]") end

-- Leaves out of what stands in front of the kernel what nothing uses. A name stands first where it is declared.
local function prune(k)
  local owner, needed, kept = {}, {}, {}
  for i, front in ipairs(k.fronts) do
    local text = type(front) == "string" and front or cuda.print_function(front)
    for name in each_name(text, k.name) do owner[name] = owner[name] or i end
  end
  local function need(text)
    for name in each_name(text, k.name) do
      local i = owner[name]
      if i and not needed[i] then
        needed[i] = true
        local front = k.fronts[i]
        need(type(front) == "string" and front or cuda.print_function(front))
      end
    end
  end
  need(cuda.print_body(k))
  for i, front in ipairs(k.fronts) do
    if needed[i] then kept[#kept + 1] = front end
  end
  k.fronts = kept
end

local function generate(seed, number, only)
  local k = new_context(seed, number, only)
  k.block, k.grid, k.shared = any(BLOCKS), 2, {}
  k.threads, k.stride = k.block[1] * k.block[2], any { 1, 2, 2, 3, 4, 4 }
  k.index = k.block[2] > 1 and ("(threadIdx.y * %du + threadIdx.x)"):format(k.block[1]) or "threadIdx.x"
  k.barriers = chance(70)
  for _ = 1, random(2) do k:add_function(chance(60)) end
  local scope = new_scope(k)
  k.nodes = beginning(k, scope)
  for _ = 1, random(4, 6) do
    for _, node in ipairs(nodes.one(k, scope, 0)) do k.nodes[#k.nodes + 1] = node end
  end
  if k.barriers then
    for _, node in ipairs(locals.exchange(k, scope)) do k.nodes[#k.nodes + 1] = node end
  end
  k.nodes[#k.nodes + 1] = ending(k, scope)
  prune(k)
  return k
end

return { generate = generate }
