-- SPDX-License-Identifier: MIT
--
-- A chart that gnuplot has drawn, as part of a page. A picture lies in a run's folder and may be from
-- anywhere: only elements and attributes that are named here go into the page, with values of known
-- form, and no scripts. Its colours become those of the page (light and dark), its letters the page's,
-- and its hypertext, which gnuplot keeps in attributes for its own script, titles: script.js shows them,
-- and a browser without scripts does by itself.
-- Not gnuplot's own script: it takes the wheel, the arrow keys and the context menu from the whole page.

local gnuplot = require "moonwarp.plot.gnuplot"
local html = require "moonwarp.report.html"
local palette = require "moonwarp.plot.palette"
local utf8text = require "moonwarp.base.utf8text"

local embed = {}

local KEPT = { svg = true, defs = true, g = true, path = true, rect = true, circle = true, use = true, text = true,
               title = true, polygon = true, polyline = true }
local TRANSPARENT = { tspan = true } -- what is in it is kept
local ATTRIBUTES = { "transform", "d", "x", "y", "width", "height", "cx", "cy", "r", "points", "fill", "stroke",
                     "color", "stroke-width", "stroke-dasharray", "text-anchor", "opacity", "fill-opacity",
                     "font-size" }
local NAMES = palette.names()
local WORDS = { black = "text", white = "ground", gray = "soft" } -- gnuplot's own
local NESTED <const> = 8 -- groups of nothing, in gnuplot's pictures
local ABOVE <const> = 12 -- px above the frame that stay when the title goes: a page has its own

-- ---- reading ------------------------------------------------------------------------------------

-- Without comments and the like.
local function without(text, opening, closing)
  local out, at = {}, 1
  for first, _, last in utf8text.spans(text, opening, closing) do
    out[#out + 1], at = text:sub(at, first - 1), last + 1
  end
  return table.concat(out) .. text:sub(at)
end

local function read_attributes(text, at)
  local attributes = {}
  while true do
    local name, mark, from = text:match("^%s+([%a][%w:_%-]*)%s*=%s*([\"'])()", at)
    if not name then return attributes, at end
    local last = text:find(mark, from, true)
    if not last then return attributes, at end
    attributes[name], at = text:sub(from, last - 1), last + 1
  end
end

-- The text before the next tag, the tag, and the start of the rest; false for the tag after the last one, nil if the
-- text is not XML.
local function next_tag(text, at)
  local from = text:find("<", at, true)
  if not from then return text:sub(at), false end
  local ending, name, behind = text:match("^<(/?)(%a[%w:]*)()", from)
  if not name then return nil end
  local given, rest = read_attributes(text, behind)
  local empty, next_at = text:match("^%s*(/?)>()", rest)
  if not empty then return nil end
  return text:sub(at, from - 1), { name = name, given = given, opens = ending == "", closes = ending .. empty ~= "" },
    next_at
end

-- ---- values -------------------------------------------------------------------------------------

local function colour(value)
  local r, g, b = value:match "^rgb%(%s*(%d+),%s*(%d+),%s*(%d+)%)$"
  local hex = r and ("#%02x%02x%02x"):format(r, g, b) or value:lower()
  local name = NAMES[hex] or WORDS[hex]
  return name and ("var(--%s)"):format(name) or hex
end

local function value_of(name, value)
  if name == "fill" or name == "stroke" or name == "color" then value = colour(value) end
  value = value:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""):gsub("%.00%f[%D]", ""):gsub("(%.%d)0%f[%D]", "%1")
  return value:find "^[%w%s.,()#%-]*$" and value ~= "" and value or nil
end

-- "copy\nn: 32", as XML, from the call in an attribute.
local function told_of(attributes)
  local text = (attributes.onmousemove or ""):match "^gnuplot_svg%.showHypertext%(evt,'(.*)'%)$"
  return text and html.escape((text:gsub("\\n", "\n"):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")))
end

-- ---- writing ------------------------------------------------------------------------------------

local function attributes_of(name, given, prefix)
  local parts = {}
  for _, one in ipairs(ATTRIBUTES) do
    local value = given[one] and value_of(one, given[one])
    local is_usual = one == "font-size" and (tonumber(value) or 0) >= gnuplot.FONT
      or name == "svg" and (one == "width" or one == "height")
    if value and not is_usual then
      parts[#parts + 1] = (' %s="%s"'):format(one, value)
    end
  end
  local id, href = (given.id or ""):match "^gp[%w_]+$", (given["xlink:href"] or ""):match "^#(gp[%w_]+)$"
  if id and name ~= "g" then parts[#parts + 1] = (' id="%s%s"'):format(prefix, id) end
  if href then parts[#parts + 1] = (' href="#%s%s"'):format(prefix, href) end
  return table.concat(parts)
end

-- Parts of a chart: a point with hypertext, an entry of its key, a curve, the rest of a curve.
local function class_of(given)
  if told_of(given) then return ' class="point"' end
  local id = given.id or ""
  if id:find "_plot_%d+_keyentry$" then return ' class="entry"' end
  return id:find "_plot_%d+$" and ' class="curve"' or ""
end

local function is_ground(name, given)
  return name == "rect" and given.x == "0" and given.y == "0"
end

local function is_title(name, given)
  return name == "g" and given.fill and value_of("fill", given.fill) == "var(--title)"
end

-- gnuplot names a curve without a title after its number, and writes groups of nothing.
local function without_noise(text)
  text = text:gsub("(<g[^>]-) class=\"curve\">%s*<title>[%w_%-]*_plot_%d+</title>", "%1 class=\"rest\">")
  for _ = 1, NESTED do text = text:gsub("<g[^>]*>%s*</g>", "") end
  return (utf8text.trim(text):gsub(">%s+<", "><"))
end

-- gnuplot's titles of anything but curves are empty; hidden elements are those that its script shows.
local function is_dropped(name, given, last)
  if name == "title" then return last ~= ' class="curve"' end
  return given.visibility == "hidden" or is_ground(name, given) or is_title(name, given)
    or (given.transform or ""):find("scale(0.00)", 1, true) or not (KEPT[name] or TRANSPARENT[name])
end

-- The markup, and the px at the top removed with the title; nil if the text is incomplete.
local function rewritten(text, prefix)
  local out, inside, top, at, last = {}, {}, 0, 1, nil -- last: the class of what was opened before
  while true do
    local words, tag, next_at = next_tag(text, at)
    if not words or not tag and #inside > 0 then return nil end
    local around = inside[#inside]
    if not (around and around.drops) then out[#out + 1] = (words:gsub(">", "&gt;")) end
    if not tag then return table.concat(out), top end
    local name, given = tag.name, tag.given
    if tag.opens then
      local one = { name = name, drops = around and around.drops or is_dropped(name, given, last) }
      if is_title(name, given) then top = gnuplot.HEAD - ABOVE end
      if not one.drops and name ~= "svg" and not TRANSPARENT[name] then
        out[#out + 1] = ("<%s%s%s>"):format(name, class_of(given), attributes_of(name, given, prefix))
        if told_of(given) then out[#out + 1] = ("<title>%s</title>"):format(told_of(given)) end
        one.ending = ("</%s>"):format(name)
      end
      inside[#inside + 1], last = one, class_of(given)
    end
    if tag.closes then
      local one = table.remove(inside)
      if not one or one.name ~= name then return nil end
      out[#out + 1] = one.ending
    end
    at = next_at
  end
end

--- A picture of gnuplot's as inline SVG.
---@param text string    of the file
---@param label string   what a reader who does not see it is told
---@param prefix string  of ids, a page's own for each picture
---@param class string   "chart", "chart ladder"
---@return table? markup nil if it is not such a picture
function embed.draw(text, label, prefix, class)
  local width, height = text:match 'viewBox="0 0 (%d+) (%d+)"'
  if not (width and text:find("Produced by GNUPLOT", 1, true)) then return nil end
  text = without(without(without(without(text, "<![CDATA[", "]]>"), "<!--", "-->"), "<!", ">"), "<?", ">")
  local markup, top = rewritten(text, prefix)
  return markup and html.svg { class = class, role = "group", aria_label = label,
    viewBox = ("0 %d %s %d"):format(top, width, height - top), html.raw(without_noise(markup)) } or nil
end

return embed
