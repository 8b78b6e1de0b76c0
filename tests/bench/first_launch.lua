-- SPDX-License-Identifier: MIT
--
-- The first launch of a new kernel of 20 lines: compiled, loaded, launched, finished; and the same again from the
-- cache on disk. To reach: 120 ms and 5 ms, on the CPU device with g++ and on CUDA. On the CPU device it is also held
-- against the compiler run alone on the same generated file with the same options, in turn; to reach: 1.15 of it.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"
local files = require "moonwarp.base.files"
local path = require "moonwarp.base.path"

local rounds = mw.arg("rounds", 7, "kernels compiled")

-- %s: a number that no kernel had before, so that nothing is found in the cache.
local SOURCE = [[
// kernel %s
__device__ float weight(float distance) {
  return 1.0f / (1.0f + distance * distance);
}

__global__ void smooth(float *out, const float *in, int n, float scale) {
  __shared__ float tile[258];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = threadIdx.x + 1;
  tile[at] = i < n ? in[i] : 0.0f;
  if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
  if (threadIdx.x == blockDim.x - 1) tile[at + 1] = i + 1 < n ? in[i + 1] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int k = -1; k <= 1; k++) {
    sum += weight((float)k) * tile[at + k];
  }
  if (i < n) out[i] = scale * sum;
}
// end of kernel %s
]]

local function new_source(round)
  local mark = ("%d-%d-%d"):format(os.time(), math.floor(core.clock() * 1e9), round)
  return (SOURCE:gsub("%%s", mark))
end

-- Seconds to the end of the kernel, whether the code came from the cache, and its C++ on the CPU device.
local function launch_seconds(dev, source, x, y)
  local start = core.clock()
  local module <close> = dev:module { source = source, name = "smooth.cu" }
  module:kernel("smooth"):launch(4, 256, y, x, 1024, 0.5)
  dev:synchronize()
  return core.clock() - start, module:from_cache(), dev:id() == "cpu" and module:cpp() or nil
end

-- ---- the compiler alone -------------------------------------------------------------------------

-- Stands in for the compiler: keeps the words and the input of the call that makes the shared object.
local RECORDER = [[
#!/bin/sh
case " $* " in
  *" -shared "*|*" -c "*) for word; do printf '%%s\n' "$word"; done > %s; tee %s | exec %s "$@" ;;
  *) exec %s "$@" ;;
esac
]]

-- How the CPU device calls a compiler, as a shell command that reads `input` and writes `output`.
local function compile_command(dev, compiler, input, output)
  local recorder, words, text = os.tmpname(), os.tmpname(), os.tmpname()
  local x, y = dev:zeros("f32", 1024), dev:zeros("f32", 1024)
  files.replace(recorder, RECORDER:format(path.quote(words), path.quote(text), compiler, compiler))
  os.execute("chmod +x " .. path.quote(recorder))
  lab.setenv("MOONWARP_CXX", recorder)
  local _, _, generated = launch_seconds(dev, new_source(-1), x, y)
  assert(files.read(text) == generated, "what was compiled is not what mod:cpp() tells")
  local command = { "exec", compiler }
  for word in files.read(words):gmatch "[^\n]+" do
    if word == "-c" then word = "-shared" end -- clang++ is left out of linking
    command[#command + 1] = path.quote(command[#command] == "'-o'" and output or word)
  end
  command[#command + 1] = "-nostartfiles -nodefaultlibs -lm -lgcc"
  for _, name in ipairs { recorder, words, text } do os.remove(name) end
  lab.setenv("MOONWARP_CXX", compiler)
  return ("%s < %s"):format(table.concat(command, " "), path.quote(input))
end

local function alone_seconds(command)
  local start = core.clock()
  assert(os.execute(command))
  return core.clock() - start
end

-- ---- measuring ----------------------------------------------------------------------------------

-- compiler: "g++" on the CPU device, nil on others.
local function measure(dev, name, compiler)
  local x, y = dev:array("f32", 1024):fill(1), dev:array("f32", 1024)
  local input, output = os.tmpname(), os.tmpname()
  local command = compiler and compile_command(dev, compiler, input, output)
  local new, cached, alone = {}, {}, {}
  for i = 0, rounds do -- round 0 also loads the compiler and is not counted
    local source = new_source(i)
    local first, _, generated = launch_seconds(dev, source, x, y)
    local again, hit = launch_seconds(dev, source, x, y)
    new[i], cached[i] = first, again
    if not hit then print("  note: the second compilation did not come from the cache") end
    if command then
      files.replace(input, generated)
      alone[i] = alone_seconds(command)
    end
  end
  os.remove(input)
  os.remove(output)
  lab.bound("first launch, " .. name, lab.median(new), 0.120, "s")
  lab.bound("from the cache, " .. name, lab.median(cached), 0.005, "s")
  if not command then return end
  local ours, other = lab.median(new), lab.median(alone)
  lab.compare { name = "first launch, " .. name, ours = ours, other = other, other_name = compiler .. " alone",
                ratio = ours / other, most = 1.15 }
end

for _, compiler in ipairs { "g++", "clang++" } do
  if os.execute("command -v " .. compiler .. " >/dev/null") then
    lab.setenv("MOONWARP_CXX", compiler)
    measure(mw.device "cpu", "CPU device, " .. compiler, compiler)
  end
end
local cuda = lab.device(mw, "cuda")
if cuda then measure(cuda, cuda:name()) end
