-- SPDX-License-Identifier: MIT
--
-- The fake driver and NVML of tests/mock, built once per process and removed at its end, and children that run on them.

local support = require "tests.support"
local core = support.core

local fake = {}

local CC = os.getenv "CC" or "cc"
local folder

local at_end = setmetatable({}, { __gc = function()
  if folder then os.execute(("rm -rf '%s'"):format(folder)) end
end })
fake[at_end] = true -- as long as this module

local function library()
  if folder then return folder .. "/libcuda.so" end
  local pipe = assert(io.popen "mktemp -d")
  folder = pipe:read "l"
  pipe:close()
  local options = "-std=gnu11 -D_GNU_SOURCE -O1 -fPIC -shared"
  local built = os.execute(("%s %s -I'%s' -o '%s/libcuda.so' '%s'/tests/mock/*.c"):format(CC, options, core.home(),
    folder, core.home()))
  assert(built, "the fake driver does not compile")
  return folder .. "/libcuda.so"
end

--- Whether it can be built here.
---@return boolean
function fake.is_possible()
  local source <close> = io.open(core.home() .. "/tests/mock/libcuda.c")
  return source ~= nil and os.execute(CC .. " --version >/dev/null 2>&1") == true
end

--- The fake driver's file.
---@return string path
fake.library = library

--- Runs Lua code on the fake device; mw, core and `joined` (a list's words) are there.
---@param code string
---@param env table?     MOCK_CUDA_..., MOCK_NVML_...
---@return string output
function fake.run(code, env)
  local set = { MOONWARP_LIBCUDA = library(), MOONWARP_LIBNVML = library(), MOCK_CUDA_LEAKS = 1 }
  for name, value in pairs(env or {}) do set[name] = value end
  return support.child_passes([[
    local mw = require "moonwarp"
    local core = require "moonwarp.core"
    local function joined(list) return table.concat(list or { "absent" }, ", ") end
  ]] .. code, { env = set })
end

return fake
