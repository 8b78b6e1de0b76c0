-- SPDX-License-Identifier: MIT
--
-- What a study concludes, in words computed from its numbers: printed as a paragraph, and kept in
-- the run's record and its remarks.txt.

local failure = require "moonwarp.base.failure"
local gnuplot = require "moonwarp.plot.gnuplot"
local utf8text = require "moonwarp.base.utf8text"
local session = require "moonwarp.session"

local remark = {}

local WIDTH = 96

local function wrapped(text)
  local lines, line = {}, ""
  for word in text:gmatch("%S+") do
    if utf8text.count(line) + utf8text.count(word) + 1 > WIDTH and line ~= "" then
      lines[#lines + 1] = line
      line = word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

--- Keeps a paragraph in the run's record and in RUN/remarks.txt.
---@param text string
---@return string paragraph
function remark.keep(text)
  local paragraph = wrapped(text)
  session.current:note("remark", { text = text })
  local said = session.current.run.remarks
  said[#said + 1] = paragraph
  gnuplot.write(session.current:file("remarks.txt"), table.concat(said, "\n\n") .. "\n")
  return paragraph
end

--- Prints a paragraph and keeps it in the run's record and in RUN/remarks.txt.
---@param format string  as string.format takes it
---@param ... any
---@return string paragraph
function remark.say(format, ...)
  if type(format) ~= "string" then
    failure.invalid("mw.remark: a text is wanted, got " .. type(format))
  end
  local ok, text = pcall(string.format, format, ...)
  if not ok then failure.invalid("mw.remark: %s", text) end
  local paragraph = remark.keep(text)
  if not session.current.options.quiet then
    print(paragraph .. "\n")
    session.current:note_shown(paragraph)
  end
  return paragraph
end

return remark
