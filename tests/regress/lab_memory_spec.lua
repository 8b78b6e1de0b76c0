-- SPDX-License-Identifier: MIT
--
-- Labs with a memory limit in check mode, whose arrays counted as 256 MiB each, of any size: a lab that opened such a
-- device itself ended with "out of memory", and one with check = true had no limit of what it asks for.

local support = require "tests.support"
local labs = require "tests.support.labs"

if not support.program() then
  describe("a lab's memory in check mode", function() pending "needs the program" end)
  return
end

local FILL <const> = [[
local function fill(dev, count)
  local k = dev:module { source = [=[
__device__ float more[3];
__global__ void fill(float *a) { more[threadIdx.x] = 7; a[threadIdx.x] = more[threadIdx.x]; }]=] }
  local list = {}
  for i = 1, count do
    list[i] = dev:zeros("f32", 3)
    k.fill:launch(1, 3, list[i])
  end
  for _, a in ipairs(list) do mw.check(a, 7) end
end
]]
local OWN <const> = 'local dev = mw.device("cpu", { check = true })\n'

-- Arrays of 16 MiB have 64 MiB of cells: together more than the limit, one after the other less.
local FREED <const> = FILL .. OWN .. [[
for _ = 1, 40 do dev:empty("u8", 16 << 20):close() end
fill(dev, 40)]]

-- Each would fit but for its cells.
local TOO_LARGE <const> = FILL .. OWN .. [[
local function fails(body, text)
  local ok, problem = pcall(body)
  assert(not ok and problem.status == "no_memory" and problem.text:find(text, 1, true), problem)
end
fails(function() dev:empty("u8", 600 << 20) end, "out of memory on cpu:check: wanted 600.0 MiB")
fails(function()
  dev:module { source = "__device__ char small, large[600 << 20]; __global__ void f(char *a) { *a = large[*a]; }" }
end, "out of memory for check mode's shadow of its device variables")
fill(dev, 40)]]

describe("a lab's memory in check mode", function()
  -- The sanitizer maps more than any limit of data lets it.
  local limited = os.getenv "SANITIZED" and pending or it

  limited("is what its arrays use", function()
    local LIMIT <const> = 'memory_limit = "256 MiB"'
    local list = { { "own", LIMIT, FILL .. OWN .. "fill(dev, 40)" },
                   { "asked", LIMIT .. ", check = true", FILL .. "fill(mw.device(), 40)" },
                   { "freed", LIMIT, FREED }, { "too_large", LIMIT, TOO_LARGE } }
    labs.with(list, function(_, batch)
      local status, output, result = batch()
      assert.are.equal(0, status, output)
      assert.are.equal(#list + 1, #result.labs) -- one has a pass in check mode
    end)
  end)

  limited("bounds what its pass in check mode asks for", function()
    labs.with({ { "asked", 'memory_limit = "64 MiB", check = true', 'mw.device():empty("u8", 600 << 20)' } },
      function(_, batch)
        local status, output, result = batch()
        assert.are.equal(1, status, output)
        assert.is_truthy(result.labs[1].message:find("out of memory on cpu:check: wanted 600.0 MiB", 1, true), output)
      end)
  end)
end)
