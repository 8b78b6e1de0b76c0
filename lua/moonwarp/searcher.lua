-- SPDX-License-Identifier: MIT
--
-- Where moonwarp's own modules come from. package.path and package.cpath hold what the environment says, and the
-- working folder, into which somebody else may have put an lfs.lua. Scripts search there, after this.

local core = require "moonwarp.core"

-- moonwarp.plot.chart: HOME/lua/moonwarp/plot/chart.lua.
table.insert(package.searchers, 2, function(name)
  if not name:find "^moonwarp%." then return nil end
  local path = ("%s/lua/%s.lua"):format(core.home(), (name:gsub("%.", "/")))
  local chunk, problem = loadfile(path)
  if not chunk then error(("moonwarp's own module '%s' cannot be loaded: %s"):format(name, problem), 0) end
  return chunk, path
end)

-- In lib/, as in a bundle, else where Lua looks for C libraries by itself, but for the working folder.
local function opener_of(name)
  local open = package.loadlib(("%s/lib/%s.so"):format(core.home(), name), "luaopen_" .. name)
  for place in core.cpath:gmatch "[^;]+" do
    if not open and place:find "^/" then open = package.loadlib(place:gsub("%?", name), "luaopen_" .. name) end
  end
  return open or error(("the Lua module '%s' is neither in %s/lib nor in Lua's own folders, as /usr/local/lib/lua/5.4; "
    .. "install lua-filesystem and lua-cjson (LUA_CPATH is not searched)"):format(name, core.home()), 0)
end

for _, name in ipairs { "lfs", "cjson" } do
  package.loaded[name] = package.loaded[name] or opener_of(name)(name)
end

return true
