-- SPDX-License-Identifier: MIT
--
-- A kernel of kernel.lua as CUDA: NAME(x, total, out). out has each thread's v at the end.

local TYPES <const> = { u8 = "unsigned char", u16 = "unsigned short", u32 = "unsigned", f64 = "double", pair = "pair" }
local LANES <const> = {
  xor = "__shfl_xor_sync(~0u, v, %d)", down = "__shfl_down_sync(~0u, v, %d)",
  ballot = "__popc(__ballot_sync(~0u, v & 1))",
}

local cuda = {
  head = [[
struct pair { unsigned a; unsigned short b; double d; };
template <class T> __device__ void put(T &to, unsigned v) { to = (T)v; }
__device__ void put(double &to, unsigned v) { to = v & 0xfffff; }
template <class T> __device__ T odd(T t, T c) { return t * 5 + c; }
]],
}

local function index_text(index, size)
  local c = index.by == 0 and tostring(index.c) or ("(%d + k * %d)"):format(index.c, index.by)
  local forms = {
    shift = ("(t + %s) %% %d"):format(c, size), odd = ("odd(t, %s) %% %d"):format(c, size),
    reverse = ("(255 - t + %s) %% %d"):format(c, size), xor = ("(t ^ %s %% 32) %% %d"):format(c, size),
    half = ("(t / 2 + %s) %% %d"):format(c, size), fixed = ("%s %% %d"):format(c, size),
  }
  return forms[index.form]
end

local function element_text(kernel, step)
  local memory = kernel.memories[step.memory]
  local i = index_text(step.index, memory.size)
  if step.memory == "x" then
    i = ("%s * %d + %s"):format(step.index.next and "(b + 1) % int(gridDim.x)" or "b", memory.size, i)
  end
  return ("%s[%s]%s"):format(step.memory, i, step.member and "." .. step.member or "")
end

local function guard_text(guard)
  if not guard then return "" end
  if guard[1] == "even" then return "if (t % 2 == 0) " end
  return ("if (t %s %d) "):format(guard[1] == "below" and "<" or "==", guard[2])
end

local function fill_text(kernel, step)
  local memory = kernel.memories[step.memory]
  local value = step.memory == "count" and "0" or ("i + %d"):format(step.add)
  local targets = { "" }
  if memory.type == "pair" then targets = { ".a", ".b", ".d" } end
  for i, member in ipairs(targets) do targets[i] = ("put(%s[i]%s, %s);"):format(step.memory, member, value) end
  return ("for (int i = t; i < %d; i += %d) { %s }"):format(memory.size, kernel.threads, table.concat(targets, " "))
end

local steps_text

local writers = {
  fill = fill_text,
  put = function(kernel, step) return ("put(%s, v + %d);"):format(element_text(kernel, step), step.add) end,
  get = function(kernel, step) return ("v = v * 5 + (unsigned)%s;"):format(element_text(kernel, step)) end,
  add = function(kernel, step) return ("atomicAdd(&%s, t + %d);"):format(element_text(kernel, step), step.add) end,
  bump = function(kernel, step) return ("%s += t + %d;"):format(element_text(kernel, step), step.add) end,
  lanes = function(_, step) return ("v += " .. LANES[step.how] .. ";"):format(step.mask) end,
  sync = function(_, step) return step.warp and "__syncwarp();" or "__syncthreads();" end,
  loop = function(kernel, step)
    return ("for (int k = 0; k < %d; k++) {\n%s  }"):format(step.count, steps_text(kernel, step.steps, "    "))
  end,
}

function steps_text(kernel, steps, indent)
  local lines = {}
  for i, step in ipairs(steps) do
    lines[i] = indent .. guard_text(step.guard) .. writers[step.op](kernel, step) .. "\n"
  end
  return table.concat(lines)
end

--- The text of a kernel.
---@param kernel table
---@param name string
---@return string
function cuda.print(kernel, name)
  local lines = { ("__global__ void %s(%s *x, unsigned *total, unsigned *out) {"):format(name,
    TYPES[kernel.memories.x.type]) }
  for _, memory in ipairs(kernel.list) do
    if memory.shared then
      lines[#lines + 1] = ("  __shared__ %s %s[%d];"):format(TYPES[memory.type], memory.name, memory.size)
    end
  end
  lines[#lines + 1] = "  const int t = threadIdx.y * blockDim.x + threadIdx.x, b = blockIdx.x;"
  lines[#lines + 1] = "  unsigned v = b * 1000 + t;"
  lines[#lines + 1] = steps_text(kernel, kernel.steps, "  ") .. ("  out[b * %d + t] = v;\n}\n"):format(kernel.threads)
  return table.concat(lines, "\n")
end

return cuda
