-- SPDX-License-Identifier: MIT
--
-- The example that the help of each command shows: it works when it is pasted into a shell, in an empty folder.
-- luacheck: std +busted

local cjson = require "cjson"
local support = require "tests.support"
local core = require "moonwarp.core"

-- Exit statuses that depend on what is measured: compare found something slower.
local ALSO_FINE = { compare = 5 }

local program, commands = support.program(), {}

-- A shell in a folder, in which moonwarp is the program, which does not measure for longer than it must.
-- A file in which all ceilings of the CPU device are kept: to measure them takes minutes.
local function keep_ceilings(path)
  local dev, values = support.mw.device "cpu", {}
  for _, one in ipairs(require("moonwarp.measure.ceiling_kinds").list) do values[one.name] = 1e9 end
  support.write(path, cjson.encode { schema = "moonwarp-ceilings/1", ceilings = { {
    device = dev:name(), driver = tostring(dev:properties().driver), moonwarp = core.version,
    multiprocessors = dev:properties().multiprocessors, date = "2026-01-01T00:00:00Z", values = values } } })
end

local function shell(folder, script)
  keep_ceilings(folder .. "/ceilings.json")
  local text = ([[
cd '%s' || exit
moonwarp() {
  case "$1 $2" in
    "run memcopy") set -- "$@" -p seconds=0 -p rungs=1,2 ;;
    "run balance") set -- "$@" -p seconds=0 -p n=4096 -p side=64 -p length=16 -p steps=1,10 ;;
    "tune stencil") set -- "$@" -p n=96 --most 2 ;;
  esac
  '%s' "$@"
}
export MOONWARP_DEVICE=cpu MOONWARP_CXX='%s/tests/cxx-o0' MOONWARP_TUNED='%s/tuned.json'
export MOONWARP_CEILINGS='%s/ceilings.json'
%s]]):format(folder, program, core.home(), folder, folder, script)
  support.write(folder .. "/pasted", text)
  local pipe <close> = assert(io.popen(("sh '%s/pasted' 2>&1 </dev/null; echo status $?"):format(folder)))
  local output, status = pipe:read "a":match "^(.*)status (%d+)\n$"
  return tonumber(status), output
end

-- What the example of port reads.
local PROGRAM <const> = [[
__global__ void fill(int *x) { x[threadIdx.x] = 1; }
int main() {
  int *x;
  cudaMalloc(&x, 32 * sizeof(int));
  fill<<<1, 32>>>(x);
  return cudaDeviceSynchronize();
}
]]

local function example_of(help)
  local lines = {}
  for line in (help:match "\nexample:\n(.-)\n\n" or help:match "\nexample:\n(.*)" or ""):gmatch "  ([^\n]+)" do
    lines[#lines + 1] = line
  end
  return lines
end

describe("help", function()
  if not program then return pending "needs the program" end

  support.with_folder(function(folder)
    local _, help = shell(folder, "moonwarp --help")
    for line in help:gmatch "\n  moonwarp (%-?%l+)" do commands[#commands + 1] = line end
  end)

  it("names the commands", function() assert.is_true(#commands > 10) end)

  for _, command in ipairs(commands) do
    it(("of %s shows an example that works"):format(command), function()
      support.with_folder(function(folder)
        local _, help = shell(folder, ("moonwarp %s --help"):format(command))
        local lines = example_of(help)
        assert.is_true(#lines > 0, help)
        support.write(folder .. "/program.cu", PROGRAM)
        local last = lines[#lines]:find("moonwarp " .. command, 1, true)
        assert.is_truthy(last, "the last line calls another command: " .. lines[#lines])
        local status, output = shell(folder, "set -e\n" .. table.concat(lines, "\n"))
        assert.is_true(status == 0 or status == ALSO_FINE[command], output)
        assert.is_truthy(output:find "%S")
      end)
    end)
  end
end)
