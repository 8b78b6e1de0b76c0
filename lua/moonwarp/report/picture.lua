-- SPDX-License-Identifier: MIT
--
-- Pictures that exist as files only (films, timelines), as data: URIs, so that the report stays one
-- file. Their bytes have a bound; omitted ones are named, with its size.

local embed = require "moonwarp.report.embed"
local figure = require "moonwarp.report.figure"
local files = require "moonwarp.base.files"
local html = require "moonwarp.report.html"
local paths = require "moonwarp.base.path"
local units = require "moonwarp.base.units"

local picture = {}

local MOST_EACH <const> = 512 * 1024 -- bytes of a file
local MOST_ALL <const> = 1024 * 1024 -- of all files of a report: with base64, 1.4 MiB of its 5
-- In order of preference: films, vector pictures, bitmaps; if one is too large, the next is used. The format and the
-- position of the width and height in a file give the picture its space before it is loaded.
local KINDS = { { "gif", "image/gif", "<I2I2", 7 }, { "svg", "image/svg+xml" }, { "png", "image/png", ">I4I4", 17 } }

local function size_of(bytes, kind)
  if not kind[3] then return bytes:sub(1, 2000):match 'viewBox="[^"]-([%d.]+)%s+([%d.]+)"' end
  local ok, width, height = pcall(string.unpack, kind[3], bytes, kind[4])
  if ok then return width, height end
end

-- ---- reading ------------------------------------------------------------------------------------

-- A record names its files by their beginnings; they lie in the run's own folder and nowhere else.
-- The first kind that is there and small enough; what was passed over.
local function choose(run, one, budget)
  local passed = {}
  for _, kind in ipairs(KINDS) do
    local name = ("%s.%s"):format(one.name, kind[1])
    local bytes, _, size = files.read_below(run, name, math.min(MOST_EACH, budget.left))
    if bytes then return bytes, kind, passed end
    if size then passed[#passed + 1] = ("%s (%s)"):format(name, units.format(size, "B", 3)) end
  end
  return nil, nil, passed
end

-- A vector picture without bitmaps becomes part of the page: its texts are as large as the page's, and its title is the
-- page's.
local function inline(bytes, kind, title, number)
  if kind[1] ~= "svg" or bytes:find("<image", 1, true) then return nil end
  return embed.draw(bytes, title, ("p%d-"):format(number), "chart wide")
end

local function encoded(bytes, kind, title)
  local name = os.tmpname()
  local pipe = io.popen("base64 >" .. paths.quote(name), "w")
  local text = pipe and pipe:write(bytes) and pipe:close() and files.read(name)
  os.remove(name)
  if not text then return nil end
  local width, height = size_of(bytes, kind)
  return html.img { src = ("data:%s;base64,%s"):format(kind[2], (text:gsub("%s", ""))), alt = title,
    width = width, height = height, decoding = "async" }
end

local function left_out(passed)
  if #passed == 0 then return false end
  return html.p { class = "note", ("Left out, too large for a report: %s; it lies in the run's folder.")
    :format(table.concat(passed, ", ")) }
end

--- What pictures may take in a report.
---@return table budget
function picture.budget()
  return { left = MOST_ALL }
end

--- A picture of a run.
---@param run table
---@param one table      of the record's pictures: name, title
---@param budget table   of picture.budget; what is embedded is taken from it
---@return table markup
function picture.figure(run, one, budget)
  local device = ("%s (%s)"):format(run.device_name, run.device)
  local title = figure.title(one.title or one.name or "picture", device)
  local bytes, kind, passed = choose(run, one, budget)
  budget.count = (budget.count or 0) + 1
  local vector = bytes and inline(bytes, kind, title, budget.count)
  local image = bytes and not vector and encoded(bytes, kind, title)
  budget.left = budget.left - #(bytes or "")
  -- an image has its title in it
  return html.figure { class = vector and "whole", html.figcaption { not image and html.b { title },
      html.span { class = "under", run.tag } },
    vector or image or #passed == 0 and html.p { class = "note", "The run's folder has no picture file of it." },
    left_out(passed) }
end

return picture
