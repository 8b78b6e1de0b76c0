-- SPDX-License-Identifier: MIT
--
-- What the parts of a random kernel share: its dice, its names, what stands in front of it, which constructs it has.

local random = math.random
local context = {}
context.__index = context

-- What makes other engines than fibers rare, and with device variables for a whole module, is in few kernels, and there
-- more than once.
local RARE = { { "goto", 14 }, { "lambda", 14 }, { "local class", 12 }, { "device object", 15 } }

-- Kernel `number` of a seed. only: a construct; the kernel has no other than that one (and what it needs).
function context.new(seed, number, only)
  math.randomseed(seed, number)
  local k = { name = "k" .. number, only = only, used = 0, fronts = {}, tags = {}, functions = {}, classes = {},
    rare = {} }
  for _, rare in ipairs(RARE) do
    local construct, percent = table.unpack(rare)
    k.rare[construct] = random(100) <= percent or construct == only
  end
  return setmetatable(k, context)
end

function context.any(list) return list[random(#list)] end

function context.chance(percent) return random(100) <= percent end

-- Whether a kernel gets a construct here.
function context:may(construct, percent)
  if self.only then return construct == self.only end
  return random(100) <= percent
end

-- The candidate of a list whose turn it is, by weights. always: constructs that any kernel may have.
function context:choose(candidates, always)
  local function weight(candidate)
    local construct = candidate.construct
    if candidate.barriers and not self.barriers then return 0 end
    if self.rare[construct] == false then return 0 end
    if self.only and not always[construct or ""] then return construct == self.only and 40 or 0 end
    return candidate.weight * (self.rare[construct] and 4 or 1)
  end
  local sum = 0
  for _, candidate in ipairs(candidates) do sum = sum + weight(candidate) end
  local at = random() * sum
  for _, candidate in ipairs(candidates) do
    at = at - weight(candidate)
    if at < 0 then return candidate end
  end
end

function context:tag(construct)
  if construct then self.tags[construct] = true end
end

-- A name of the file, and one of a function's or class's own.
function context:global(stem)
  self.used = self.used + 1
  return ("%s%d_%s"):format(stem, self.used, self.name)
end

function context:name_of(stem)
  self.used = self.used + 1
  return stem .. self.used
end

function context:front(text) self.fronts[#self.fronts + 1] = text end

-- ---- expressions --------------------------------------------------------------------------------
-- A value is { text = , uniform = , construct = }: text is of type unsigned, changes nothing, and is the same for all
-- threads of a block if it is uniform.

local OPERATORS = { "+", "-", "*", "^", "&", "|" }
local THREAD = { "threadIdx.x", "threadIdx.x", "(threadIdx.x + 3u * threadIdx.y)",
  "(blockIdx.x * blockDim.x + threadIdx.x)" }

local function constant() return random(1, 29) .. "u" end

function context:leaf(values, uniform)
  local kind = random(10)
  if kind <= 2 then return constant() end
  if not uniform and kind <= 5 then return self:thread() end
  if kind == 6 then return "blockIdx.x" end
  for _ = 1, 4 do
    local value = values[random(math.max(#values, 1))]
    if value and (value.uniform or not uniform) then
      self:tag(value.construct)
      return type(value.text) == "function" and value.text() or value.text
    end
  end
  return constant()
end

-- What differs from thread to thread, by name or by a function.
function context:thread()
  local f = #self.functions > 0 and random(3) == 1 and context.any(self.functions)
  if f and f.thread then return ("%s(%s)"):format(f.name, constant()) end
  return context.any(THREAD)
end

function context:expression(values, uniform, depth)
  depth = depth or 0
  local kind = random(depth < 2 and 8 or 4)
  if kind <= 4 then return self:leaf(values, uniform) end
  local a, b = self:expression(values, uniform, depth + 1), self:expression(values, uniform, depth + 1)
  if kind == 5 then return ("((%s & 1u) ? %s : %s)"):format(self:leaf(values, uniform), a, b) end
  if kind == 6 then return ("((%s %s %du) ^ %s)"):format(a, context.any { ">>", "<<" }, random(1, 7), b) end
  return ("(%s %s %s)"):format(a, context.any(OPERATORS), b)
end

-- A condition of plain numbers.
function context:condition(values, uniform)
  return ("(%s %% %du) < %du"):format(self:expression(values, uniform, 1), random(3, 7), random(1, 3))
end

-- A function of the file. It reads the thread's index, itself or by another, or is pure.
function context:add_function(thread)
  local name, parameter = self:global "f", self:name_of "p"
  local inner, construct = context.any(self.functions)
  local body = self:expression({ { text = parameter, uniform = true } }, true, 1)
  if thread then
    local by = inner and inner.thread and random(2) == 1
    construct = by and "nested helper" or nil
    body = by and ("(%s ^ %s(%s))"):format(body, inner.name, parameter)
      or ("(%s + %s)"):format(body, context.any(THREAD))
  end
  local default = ""
  if self:may("default argument", 30) then
    construct = "default argument"
    default = " = " .. (thread and random(2) == 1 and context.any(THREAD) or constant())
  end
  local text = "__device__ unsigned %s(unsigned %s%s) { return %s; }"
  self:front(text:format(name, parameter, default, body))
  self.functions[#self.functions + 1] = { name = name, thread = thread, construct = construct,
    call = name .. (default ~= "" and "()" or "(2u)") }
end

-- The values that every piece of code of a file has.
function context:globals()
  local values = {}
  for _, f in ipairs(self.functions) do
    values[#values + 1] = { uniform = not f.thread, text = f.call, construct = f.construct }
  end
  return values
end

return context
