-- SPDX-License-Identifier: MIT
--
-- Check mode's shadow of memory: given back with an array, and followed by copies of any bytes.
-- luacheck: std +busted

local support = require "tests.support"
local mw = support.mw
local session = require "moonwarp.session"

local function resident()
  local file <close> = assert(io.open "/proc/self/statm")
  return tonumber(file:read("a"):match "%d+ (%d+)") * 4096
end

describe("check mode's shadow of memory", function()
  session.current.settle_findings = function() end -- the finding is wanted: it fails no run

  it("is given back with its array", function()
    local dev <close> = mw.device("cpu", { check = true })
    local function once() dev:zeros("f32", 4 << 20):close() end
    once()
    local before = resident()
    for _ = 1, 16 do once() end
    assert.is_true(resident() - before < 128 << 20) -- one of them has 64 MiB of it
  end)

  -- An array that fitted without it filled the machine's memory.
  it("counts with its array", function()
    local dev <close>, plain = mw.device("cpu", { check = true }), mw.device "cpu"
    local total = dev:properties().memory_total
    assert.are.equal(plain:properties().memory_total // 5, total)
    support.fails_like(function() dev:empty("u8", total + 1) end, "out of memory on cpu:check: wanted")
  end)

  -- Bytes 5 to 12 are written, copied to 2 to 9 of another array, and read there: all that is beside them is not.
  it("is copied by bytes, from any to any", function()
    local dev <close> = mw.device("cpu", { check = true })
    local m <close> = dev:module { source = [=[
__global__ void write_bytes(unsigned char *a, int from, int n) { if (threadIdx.x < n) a[from + threadIdx.x] = 7; }
__global__ void read_byte(int *sum, const unsigned char *a, int i) { *sum = a[i]; }]=] }
    local a, b <close> = dev:empty("u8", 16), dev:empty("u8", 16)
    local sum <close> = dev:zeros("i32", 1)
    m.write_bytes:prepare { grid = 1, block = 32 } (a, 5, 8)
    b:view(3, 8):copy(a:view(6, 8))
    local read = m.read_byte:prepare { grid = 1, block = 1 }
    local missing = {}
    for i = 0, 15 do
      local count = #mw.findings()
      local before = count > 0 and mw.findings()[count].count or 0
      read(sum, b, i)
      local now = mw.findings()
      if #now > count or (now[#now] and now[#now].count > before) then missing[#missing + 1] = i end
    end
    a:close()
    assert.are.same({ 0, 1, 10, 11, 12, 13, 14, 15 }, missing)
  end)

  -- A copy in a stream of the device that is read left the array that is written without values, so that reads of it
  -- were found to be wrong.
  it("is written by copies in other devices' streams", function()
    local dev <close>, plain = mw.device("cpu", { check = true }), mw.device "cpu"
    local m <close> = dev:module { source = "__global__ void read(int *y, const int *x) { y[0] = x[0]; }" }
    local x, sum <close> = plain:zeros("i32", 4), dev:zeros("i32", 1)
    local before = #mw.findings()
    for _, stream in ipairs { plain:stream(), dev:stream(), false } do
      local y <close> = dev:empty("i32", 4)
      y:copy(x, { stream = stream or nil })
      plain:synchronize()
      m.read:launch(1, 1, sum, y)
    end
    assert.are.equal(before, #mw.findings())
  end)
end)
