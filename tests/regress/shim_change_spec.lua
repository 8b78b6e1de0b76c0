-- SPDX-License-Identifier: MIT
--
-- The cache knows code by every file of the shim: after a change to one of them nothing made before is taken. It once
-- knew headers only, and not the hooks of check mode.
-- luacheck: std +busted

local core = require "moonwarp.core"
local support = require "tests.support"

local KERNEL = [[
  local dev = require "moonwarp".device("cpu:check")
  local m <close> = dev:module { source = "__global__ void k(int *x) { x[0] = 3; }" }
  m.k:launch(1, 1, dev:zeros("i32", 1))
  dev:synchronize()
]]

-- A folder with moonwarp's Lua files and a copy of its C++ files.
local function copy_home(folder)
  local cpu = "/core/backend/cpu"
  os.execute(("mkdir -p '%s' && cp -R '%s/shim' '%s/abi.h' '%s'"):format(folder .. cpu, core.home() .. cpu,
    core.home() .. cpu, folder .. cpu))
  for _, name in ipairs { "lua", "lib" } do
    os.execute(("test ! -e '%s/%s' || ln -s '%s/%s' '%s'"):format(core.home(), name, core.home(), name, folder))
  end
end

describe("the cache of compiled code", function()
  it("takes nothing that was made with other hooks", function()
    support.with_folder(function(folder)
      copy_home(folder)
      local env = { MOONWARP_HOME = folder, MOONWARP_CACHE = folder .. "/cache" }
      support.child_passes(KERNEL, { env = env })
      local hooks = folder .. "/core/backend/cpu/shim/check/hooks.cpp"
      support.write(hooks, support.read(hooks) .. "#error changed\n")
      local status, text = support.child(KERNEL, { env = env })
      assert.are.equal(1, status)
      assert.is_truthy(text:find("check mode's hooks do not compile", 1, true), text)
    end)
  end)
end)
