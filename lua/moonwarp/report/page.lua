-- SPDX-License-Identifier: MIT
--
-- The whole report as one HTML file that asks for nothing: style.css and script.js next to this file
-- are put into it, and its content security policy forbids every request.

local card = require "moonwarp.report.card"
local comparison = require "moonwarp.report.comparison"
local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local figure = require "moonwarp.report.figure"
local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local material = require "moonwarp.report.material"
local palette = require "moonwarp.plot.palette"
local picture = require "moonwarp.report.picture"
local section = require "moonwarp.report.section"
local source = require "moonwarp.report.source"
local status = require "moonwarp.report.status"
local summary = require "moonwarp.report.summary"

local page = {}

local POLICY <const> = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
  .. "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

-- Before anything is drawn, so that a page remembered as dark does not flash.
local EARLY <const> = [[document.documentElement.classList.add("js");
try { const t = localStorage.getItem("moonwarp-theme"); if (t) document.documentElement.dataset.theme = t; } catch {}]]

local MOST_ROWS <const> = 4000 -- of measurements with their strips: half a kilobyte each

-- The newest runs show their measurements; if there are very many, older ones only count them.
local function ration(runs)
  local left = MOST_ROWS
  for i = #runs, 1, -1 do
    local rows = #runs[i].found.measurements
    runs[i].counted_only = rows > left
    left = left - (rows > left and 0 or rows)
  end
end

local function own_file(name)
  local path = ("%s/lua/moonwarp/report/%s"):format(core.home(), name)
  local text, reason = files.read(path)
  if not text then failure.raise_as("io", "moonwarp's own file is not there: %s; install it again", reason) end
  return html.raw(text)
end

local function head(title)
  return html.head { html.meta { charset = "utf-8" },
    html.meta { name = "viewport", content = "width=device-width, initial-scale=1" },
    html.meta { http_equiv = "Content-Security-Policy", content = POLICY },
    html.meta { name = "color-scheme", content = "light dark" },
    html.meta { name = "generator", content = "moonwarp " .. core.version },
    html.title { title }, html.style { html.raw(palette.css()), own_file "style.css" },
    html.script { html.raw(EARLY) } }
end

local function navigation(found)
  local items = { html.li { html.a { href = "#summary", "Summary" } } }
  for _, study in ipairs(found.studies) do
    local bad = #lists.map(study.runs, function(run) return status.is_bad(run) or nil end)
    items[#items + 1] = html.li { html.a { href = "#" .. study.anchor, study.name,
      html.span { class = "count", (" %d"):format(#study.runs) } },
      bad > 0 and html.span { class = "bad", title = bad .. " not complete, or with failed checks", " ✗" .. bad } }
  end
  return html.nav { aria_label = "Studies", html.ul { items } }
end

local function banner(title, found)
  local devices = material.devices(found.runs)
  return html.header { html.div { html.h1 { title }, html.p { os.date("!%Y-%m-%d %H:%M UTC"),
      #devices > 0 and { " · ", table.concat(devices, " · ") }, " · moonwarp " .. core.version } },
    html.div { class = "tools", html.button { type = "button", id = "unfold", "Unfold all" },
      html.button { type = "button", id = "theme", "Dark" } } }
end

--- The report.
---@param found table     of material.gather
---@param options table   title, earlier (runs to compare with, oldest first)
---@return string
function page.draw(found, options)
  local newest = options.earlier and comparison.newest(found.runs) or {}
  for _, run in ipairs(found.runs) do card.prepare(run, newest[run] and options.earlier) end
  ration(found.runs)
  figure.draw(found.studies)
  local title, budget, sources = options.title, picture.budget(), source.store()
  title = title or #found.batches == 1 and found.batches[1].name or "moonwarp report"
  local sections = lists.map(found.studies, function(study)
    return section.draw(study, { budget = budget, sources = sources, count = #found.runs })
  end)
  local body = html.body { html.a { class = "skip", href = "#main", "Skip to the content" },
    banner(title, found), html.div { class = "layout", navigation(found),
      html.main { id = "main", tabindex = "-1", summary.draw(found, options.earlier ~= nil), sections } },
    html.div { id = "tip", role = "tooltip", hidden = true }, html.script { own_file "script.js" } }
  return "<!DOCTYPE html>\n" .. html.html { lang = "en", head(title), body }.text .. "\n"
end

return page
