-- SPDX-License-Identifier: MIT
--
-- What check mode, structural counters and the CPU device's own errors say of textures and surfaces.
-- luacheck: std +busted

local support = require "tests.support"
local session = require "moonwarp.session"
local mw = support.mw

local SOURCE <const> = [=[
__global__ void sample(cudaTextureObject_t t, float *out) {
  out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f);
}
__global__ void some(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
__global__ void turn(cudaTextureObject_t t, float *a) {
  a[threadIdx.x] = 2;
  a[threadIdx.x + 32] = tex2D<float>(t, 31.5f - threadIdx.x, 0.5f);
}
__global__ void paint(cudaSurfaceObject_t s, int y) {
  surf2Dwrite((float)threadIdx.x, s, 4, y);
}
]=]

describe("check mode", function()
  session.current.settle_findings = function() end -- the mistakes are wanted: they fail no run
  local dev = mw.device("cpu", { check = true })
  local m = dev:module { source = SOURCE, name = "k.cu" }

  -- "kind: kernel, verb line, verb line" of what the launches of body have brought.
  local function found(body)
    local before, out = #dev:findings(), {}
    body()
    for i, finding in ipairs(dev:findings()) do
      local parties = {}
      for _, party in ipairs(finding.parties) do parties[#parties + 1] = party.verb .. " " .. party.line end
      if i > before then
        out[#out + 1] = ("%s: %s, %s; %s"):format(finding.kind, finding.kernel, table.concat(parties, ", "),
          finding.object)
      end
    end
    return table.concat(out, "\n")
  end

  it("finds texels that were never written", function()
    local a <close> = dev:empty("f32", 64, 1)
    local out <close> = dev:empty("f32", 32)
    local pitched <close> = dev:texture(a, { kind = "pitched" })
    m.some:launch(1, 32, a, 20)
    assert.are.equal("uninitialised: sample, read 2; byte 80 of parameter 1 't', an array of 256 bytes (offset 80)",
      found(function() m.sample:launch(1, 32, pitched, out) end))
    local copied <close> = dev:texture(a)
    assert.are.equal("", found(function() m.sample:launch(1, 20, copied, out) end))
  end)

  it("finds races with what a texture reads, and of surfaces", function()
    local a <close> = dev:zeros("f32", 64, 1)
    local t <close> = dev:texture(a, { kind = "pitched" })
    local s <close> = dev:surface(a)
    local turned = found(function() m.turn:launch(1, 32, t, a) end)
    assert.is_truthy(turned:find "^race in global memory: turn, write 6, read 7", turned)
    local painted = found(function() m.paint:launch(1, 32, s, 0) end)
    assert.is_truthy(painted:find "^race in global memory: paint, write 10", painted)
    assert.are.equal("", found(function() m.paint:launch(1, 1, s, 0) end))
  end)

  it("sees that two streams use one texture's memory", function()
    local a <close> = dev:zeros("f32", 64, 1)
    local out <close> = dev:zeros("f32", 32)
    local t <close> = dev:texture(a, { kind = "pitched" })
    local one <close> = dev:stream()
    local other <close> = dev:stream()
    m.some:prepare { grid = 1, block = 32, stream = one }(a, 32)
    m.sample:prepare { grid = 1, block = 32, stream = other }(t, out)
    local races = support.core.races()
    assert.are.equal("race between operations", races[#races].kind)
    assert.are.equal("read by kernel 'sample'", races[#races].parties[2].verb)
    dev:synchronize()
  end)
end)

describe("the CPU device", function()
  it("ends a launch that leaves a surface", function()
    local dev = mw.device "cpu"
    local m <close> = dev:module { source = SOURCE, name = "k.cu" }
    local a <close> = dev:zeros("f32", 8, 2)
    local s <close> = dev:surface(a)
    support.fails_with(function() m.paint:launch(1, 1, s, 2) end, "kernel 'paint'",
      "a place outside of the surface, with cudaBoundaryModeTrap", "k.cu:10")
  end)
end)
