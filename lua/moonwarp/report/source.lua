-- SPDX-License-Identifier: MIT
--
-- The script and the kernels of a run, as the run keeps them in its folder; lines where check mode found something are
-- marked, and lines whose accesses were counted have their counters next to them (counter_lines.lua). A text is in the
-- page once: a run with the same file links to the first one. What does not fit is named, with its place.

local counter_lines = require "moonwarp.report.counter_lines"
local counters = require "moonwarp.measure.counters"
local files = require "moonwarp.base.files"
local html = require "moonwarp.report.html"
local lists = require "moonwarp.base.lists"
local units = require "moonwarp.base.units"

local source = {}

local MOST_EACH <const> = 64 * 1024 -- bytes of a file
local MOST_READ <const> = 64 << 20 -- and of one that is named
local LARGE <const> = "too large for this report"
local MOST_ALL <const> = 768 * 1024 -- of the page, of its 5 MB

--- What the sources of a report share.
---@return table store
function source.store()
  return { left = MOST_ALL, shown = {} }
end

-- ---- lines with findings --------------------------------------------------------------------------

-- Whether a finding's file, a path as the compiler saw it, is one of the run's.
local function is_same_file(file, name)
  local one, other = "/" .. file, "/" .. name
  return one:sub(-#other) == other or other:sub(-#one) == one
end

local function add_words(notes, line, words, is_bad)
  notes[line] = notes[line] or { is_bad = false }
  local note = notes[line]
  note.is_bad = note.is_bad or is_bad
  if not lists.has(note, words) then table.insert(note, words) end
end

local function add_note(notes, party, finding)
  local words = ("%s%s%s"):format(finding.intended and "intended " or "", finding.kind,
    finding.kernel and " in kernel " .. finding.kernel or "")
  add_words(notes, party.line, words, not (finding.intended or finding.warning))
end

-- What check mode has found in a file, and what a compiler warns of: words by line.
local function notes_of(run, name)
  local notes = {}
  for _, finding in ipairs(run.findings or {}) do
    for _, party in ipairs(finding.parties) do
      if party.line and party.file and is_same_file(party.file, name) then add_note(notes, party, finding) end
    end
  end
  for _, warning in ipairs(run.warnings or {}) do
    if is_same_file(warning.file, name) then add_words(notes, warning.line, "warning: " .. warning.text) end
  end
  return next(notes) and notes
end

-- The source of a line, marked if there is a note about it.
local function mark_line(notes, number, line)
  local note = notes and notes[number]
  return note and html.mark { class = note.is_bad and "bad" or "warn", title = table.concat(note, "; "), line } or line
end

-- A text with its lines marked.
local function marked(text, notes)
  local parts, number = {}, 0
  for line in text:gmatch "[^\n]*\n?" do
    number = number + 1
    parts[number] = mark_line(notes, number, line)
  end
  return parts
end

-- The counters of a file's lines, over all that the run has launched; nil if none.
local function lines_of(run, name)
  local lines = lists.filter(counters.lines(run.counters or {}), function(line)
    return is_same_file(line.file, name)
  end)
  return #lines > 0 and lines or nil
end

-- ---- files --------------------------------------------------------------------------------------

local function left_out(run, name, text, why)
  return html.p { class = "note", ("%s (%s) is left out, %s: %s/source"):format(name, units.format(#text, "B", 3), why,
    run.folder) }
end

-- A file in a page: its text, a link to the run that shows it, or why it is left out.
local function draw_file(run, name, text, store, anchor)
  if text:find "%z" then return left_out(run, name, text, "not a text") end -- compiled code
  if #text > MOST_EACH then return left_out(run, name, text, LARGE) end
  local notes, lines = notes_of(run, name), lines_of(run, name)
  local first = not notes and not lines and store.shown[text]
  if first then
    return html.p { html.code { name }, ": as in ", html.a { href = "#" .. first.anchor, first.tag } }
  end
  local shown = lines and counter_lines.draw(name, text, lines, function(...) return mark_line(notes, ...) end, anchor)
    or html.pre { tabindex = "0", notes and marked(text, notes) or text }
  local size = #shown.text -- a sign may become six
  if size > store.left then return left_out(run, name, text, LARGE) end
  store.left, store.shown[text] = store.left - size, { anchor = anchor, tag = run.study .. ", " .. run.tag }
  return html.div { class = "source", id = anchor, html.h4 { name }, shown }
end

--- The sources of a run, folded.
---@param run table      of material.gather, with anchor and tag
---@param store table    of source.store; what is shown is noted there
---@return table? markup nil if the run kept none
function source.draw(run, store)
  local names = {}
  local parts = lists.map(run.sources or {}, function(one, i)
    local text = files.read_below(run, "source/" .. one.name, MOST_READ)
    if not text then return nil end
    names[#names + 1] = one.name
    return draw_file(run, one.name, text, store, ("%s-source-%d"):format(run.anchor, i))
  end)
  return #parts > 0 and html.details { class = "sources", open = #(run.findings or {}) + #(run.counters or {}) > 0,
    html.summary { "Source: ", table.concat(names, ", ") }, parts } or nil
end

return source
