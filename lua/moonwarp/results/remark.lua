-- SPDX-License-Identifier: MIT
--
-- What a study concludes, in words computed from its numbers: printed as a paragraph, and kept in
-- the run's record and its remarks.txt.

local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local utf8text = require "moonwarp.base.utf8text"

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
---@param session table
---@param text string
---@return string paragraph
function remark.keep(session, text)
  local paragraph = wrapped(text)
  session:note("remark", { text = text })
  local said = session.run.remarks
  said[#said + 1] = paragraph
  files.put(session:file("remarks.txt"), table.concat(said, "\n\n") .. "\n")
  return paragraph
end

--- Prints a paragraph and keeps it in the run's record and in RUN/remarks.txt.
---@param session table
---@param format string  as string.format takes it
---@param ... any
---@return string paragraph
function remark.say(session, format, ...)
  if type(format) ~= "string" then
    failure.invalid("mw.remark: a text is wanted, got " .. type(format))
  end
  local ok, text = pcall(string.format, format, ...)
  if not ok then failure.invalid("mw.remark: %s", text) end
  local paragraph = remark.keep(session, text)
  if not session.options.quiet then
    print(paragraph .. "\n")
    session:note_shown(paragraph)
  end
  return paragraph
end

return remark
