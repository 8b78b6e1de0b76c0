-- SPDX-License-Identifier: MIT
--
-- Sums of the lines that one.lua printed: files that count, kernels that load, and the causes of the others.
--
--   moonwarp run tests/census/sums.lua -- LINES...

local files, counted, kernels, loaded, causes = 0, 0, 0, 0, {}

-- The message without the file's own names and lines.
local function cause_of(message)
  message = message:gsub("compiling '[^']*' for .- failed: ", ""):gsub("^[^ ]*[:(]%d+%)?: ", "")
  return (message:gsub("^error: ", ""):gsub("^kernel '[^']*': ", "kernel: "):sub(1, 100))
end

for _, name in ipairs(arg) do
  for line in io.lines(name) do
    local good, all, message = line:match "^(%d+)\t(%d+)\t[^\t]*\t[^\t]*\t(.*)"
    good, all = tonumber(good), tonumber(all)
    if all and all > 0 then
      files, kernels, loaded = files + 1, kernels + all, loaded + good
      if good == all then
        counted = counted + 1
      else
        local cause = cause_of(message)
        causes[cause] = (causes[cause] or 0) + 1
      end
    end
  end
end

print(("%d of %d files count (%.1f %%), %d of %d kernels load"):format(counted, files, 100 * counted / files, loaded,
  kernels))
local list = {}
for cause, count in pairs(causes) do list[#list + 1] = { count, cause } end
table.sort(list, function(a, b) return a[1] > b[1] or (a[1] == b[1] and a[2] < b[2]) end)
for _, one in ipairs(list) do print(("%6d  %s"):format(one[1], one[2])) end
