-- SPDX-License-Identifier: MIT
--
-- Compilations that took for ever, or the process with them, and those that Ctrl-C did not end in order.

local support = require "tests.support"
local has_nvrtc = support.has_nvrtc()

-- Loops around a statement: %d of them.
local function nested(depth)
  local source = { "__global__ void k(int *x) {" }
  for i = 1, depth do source[#source + 1] = ("for (int i%d = 0; i%d < 1; i%d++)"):format(i, i, i) end
  return table.concat(source, "\n") .. "{ x[0]++; __syncthreads(); } }"
end

-- Takes half a minute where it is not ended.
local LARGE = [[
  local source = {}
  for i = 1, 3000 do
    source[i] = ("__global__ void k%d(int *x) { for (int i = 0; i < x[2]; i++) x[0] = x[1] * %d + i; }"):format(i, i)
  end
  source = table.concat(source, "\n")
]]

describe("a kernel of loops in each other", function()
  it("runs on fibers from a depth on", function()
    local dev = support.mw.device "cpu"
    local m <close> = dev:module { source = nested(300) }
    local engine, why = m.k:engine()
    assert.are.equal("fiber", engine)
    assert.is_truthy(why:find("statements nest deeper than 256", 1, true), why)
    local less <close> = dev:module { source = nested(100) }
    assert.are.equal("split", (less.k:engine()))
  end)

  -- The translator took minutes and Ctrl-C waited for it. The compiler's words stand in for its work.
  it("may be thousands deep", function()
    support.with_folder(function(folder)
      support.write(folder .. "/compiler", '#!/bin/sh\ncase "$*" in *unit.so*) echo "error: it is here" >&2; exit 1;; '
        .. 'esac\nexec c++ "$@"\n')
      os.execute(("chmod +x '%s/compiler'"):format(folder))
      local script = ('require "moonwarp".device "cpu":module { source = %q }'):format(nested(5000))
      local status, output = support.child(script, { env = { MOONWARP_CXX = folder .. "/compiler" } })
      assert.are.equal(1, status)
      assert.is_truthy(output:find("it is here", 1, true), output:sub(1, 500))
    end)
  end)
end)

describe("a long kernel", function()
  -- The translator went on for minutes. In seconds of processor time, which do not depend on other processes; with
  -- AddressSanitizer everything takes many times as long.
  it("is not translated to the end after Ctrl-C", function()
    local limit = os.getenv "SANITIZED" and 60 or 10
    local _, output = support.child(("local limit = %d\n"):format(limit) .. [[
      local source = { "__global__ void k(float *x) { float s = x[0];" }
      for i = 1, 30000 do
        source[i + 1] = ("for (int i = 0; i < 4; i++) { s += x[i + %d]; __syncthreads(); }"):format(i)
      end
      source = table.concat(source, "\n") .. "x[0] = s; }"
      local dev = require "moonwarp".device "cpu"
      local killer = io.popen "sleep 0.5; kill -INT $PPID" -- os.execute would ignore the signal meanwhile
      local _ <close> = setmetatable({}, { __close = function() print(os.clock() < limit) end })
      dev:module { source = source }]], { limit = 1200 })
    assert.is_truthy(output:find("interrupted", 1, true), output:sub(1, 500))
    assert.is_truthy(output:find("true\n", 1, true), output:sub(1, 500))
  end)
end)

describe("a compilation by NVRTC", function()
  local run = has_nvrtc and it or pending

  -- NVRTC's own handler ended the process with status 4.
  run("ends at Ctrl-C with status 130", function()
    local status, output = support.child(LARGE .. [[
      local dev = require "moonwarp".device "cuda:sm_90"
      local killer = io.popen "sleep 0.2; kill -INT $PPID" -- os.execute would ignore the signal meanwhile
      dev:module { source = source, cache = false }]])
    if support.program() then assert.are.equal(130, status, output) end
    assert.is_truthy(output:find "interrupted", output)
  end)

  run("ends at its limit of processor time", function()
    local status, output = support.child(LARGE .. [[
      local dev = require "moonwarp".device "cuda:sm_90"
      print(pcall(dev.module, dev, { source = source, cache = false, name = "large.cu" }))
      print(dev:module { source = "__global__ void k() {}", cache = false })]],
      { env = { MOONWARP_COMPILE_SECONDS = "1" } })
    assert.are.equal(0, status, output)
    assert.is_truthy(output:find("NVRTC used more than 1 s of processor time for 'large.cu'; MOONWARP_COMPILE_SECONDS "
      .. "sets the limit", 1, true), output)
    assert.is_truthy(output:find "module 'source' cuda:sm_90", output)
  end)
end)
