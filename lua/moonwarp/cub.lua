-- SPDX-License-Identifier: MIT
--
-- CUB and Thrust for whole arrays, on CUDA devices: kernels/moonwarp/cub.cu, compiled by nvcc at the first call and
-- kept in the cache's folder. CUB's results stay on the device, and its calls may be captured. Thrust's are numbers of
-- the host: thrust_reduce waits for all work before it, so that it ends a burst of launches, and cannot be captured.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local library = require "moonwarp.library"
local path = require "moonwarp.base.path"
local tool = require "moonwarp.tools.tool"

local PATIENCE <const> = 600 -- seconds of nvcc

-- Of the first GPU, as in "90".
local function capability()
  local mw = require "moonwarp"
  for _, one in ipairs(mw.devices()) do
    local found = one.usable and mw.device(one.id):properties().compute_capability
    if found then return (found:gsub("%.", "")) end
  end
end

-- The library's file, made if it is not there; under its own name when it is whole.
local function compiled()
  local nvcc = tool.program "nvcc"
  if not nvcc then
    failure.raise_as("unsupported", "moonwarp.cub: nvcc, which compiles CUB and Thrust, is neither on $PATH nor in bin "
      .. "of $CUDA_HOME, $CUDA_PATH or /usr/local/cuda: install the CUDA toolkit")
  end
  local cache, sm = core.cache_stat(), capability()
  if cache.problem then
    failure.raise_as("io", "moonwarp.cub: the cache, where it is kept, cannot be used: %s", cache.problem)
  end
  local name = ("%s/cub-%s-sm_%s.so"):format(cache.folder, core.version, sm)
  if require("lfs").attributes(name) then return name end
  path.make(cache.folder)
  local part = path.make_new(cache.folder, "cub")
  local status, output = core.process({ nvcc, "-std=c++17", "-O3", "-arch=sm_" .. sm, "-shared", "-Xcompiler",
    "-fPIC,-fvisibility=hidden", core.home() .. "/kernels/moonwarp/cub.cu", "-o", part .. "/cub.so" }, PATIENCE)
  local is_made = status == 0 and os.rename(part .. "/cub.so", name)
  os.remove(part .. "/cub.so")
  os.remove(part)
  if not is_made then failure.raise_as("compile", "moonwarp.cub: nvcc failed (%s): %s", status or "not run", output) end
  return name
end

local function numbers(letters)
  local types = {}
  for letter in letters:gmatch "%w+" do types[letter .. " " .. letter] = { letter = letter } end
  return types
end

return library.new {
  name = "moonwarp.cub",
  cuda = { library = compiled, explain = "explain", install = "nvcc of the CUDA toolkit makes it" },
  functions = {
    sort_keys = {
      help = "y = the elements of x, from the least to the greatest",
      arrays = { { "y", "n", writes = true, wide = true }, { "x", "n", wide = true } }, types = numbers "u32 f32",
      cuda = { size = "sort_keys_?(0, &size, y, x, n, queue)", unit = 1,
               one = "sort_keys_?(work, &size, y, x, n, queue)" },
    },
    reduce = {
      help = "sum = the sum of the elements of x",
      arrays = { { "sum", "1", writes = true }, { "x", "n", wide = true } }, types = numbers "f32 f64 u32",
      cuda = { size = "reduce_?(0, &size, sum, x, n, queue)", unit = 1,
               one = "reduce_?(work, &size, sum, x, n, queue)" },
    },
    max = {
      help = "most = the greatest of the elements of x",
      arrays = { { "most", "1", writes = true }, { "x", "n", wide = true } }, types = numbers "f32 f64 u32",
      cuda = { size = "max_?(0, &size, most, x, n, queue)", unit = 1, one = "max_?(work, &size, most, x, n, queue)" },
    },
    thrust_max = {
      help = "the same by Thrust, which waits for the result on the host",
      arrays = { { "most", "1", writes = true }, { "x", "n", wide = true } }, types = numbers "f32 f64 u32",
      cuda = "thrust_max_?(most, x, n, queue)",
    },
    thrust_reduce = {
      help = "the same by Thrust, which waits for the result on the host",
      arrays = { { "sum", "1", writes = true }, { "x", "n", wide = true } }, types = numbers "f32 f64 u32",
      cuda = "thrust_reduce_?(sum, x, n, queue)",
    },
  },
}
