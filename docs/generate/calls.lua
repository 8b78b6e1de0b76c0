-- SPDX-License-Identifier: MIT
--
-- The table of the runtime's calls in docs/programs.md, from the headers of core/runtime/include: a row for each of their
-- headings.

local files = require "moonwarp.base.files"

local calls = {}

--- The table.
---@param home string
---@return string
function calls.table(home)
  local rows, seen, group = {}, {}, nil
  for _, header in ipairs { "cuda_runtime_api.h", "cuda_runtime.h" } do
    for line in files.read(("%s/core/runtime/include/%s"):format(home, header)):gmatch "[^\n]+" do
      group = line:match "^/%* %-%-%-%- (%a+)" or group
      local name = line:match "^MW_%u+%(.-(cuda%u%w+), %(" or line:match "cudaError_t (cuda%u%w+)%("
      local row = group == "templates" and "kernels" or group
      if name and not rows[row] then
        rows[#rows + 1], rows[row] = row, {}
      end
      if name and not seen[name] then table.insert(rows[row], name) end
      seen[name or ""] = true
    end
  end
  local lines = { "| | calls |", "|---|---|" }
  for _, name in ipairs(rows) do
    table.sort(rows[name])
    lines[#lines + 1] = ("| %s | %s |"):format(name, table.concat(rows[name], ", "))
  end
  return table.concat(lines, "\n") .. "\n"
end

return calls
