-- SPDX-License-Identifier: MIT
--
-- A table as one value, and its printers.

require "tests.support"
local sheet = require "moonwarp.base.sheet"

local COLUMNS <const> = {
  { heading = "name", cell = "name" }, { heading = "none", cell = function() return "" end },
  { heading = "t", number = true, cell = function(one) return one.t and { one.t .. " ms", value = one.t / 1000 } end },
  { heading = "note", cell = "note" },
}
local ROWS <const> = { { name = "µ|a", t = 12, note = "x" }, { name = 'b, "c"', note = "y\nz" } }

describe("a sheet", function()
  it("has the columns that some entry fills", function()
    local made = sheet.of(COLUMNS, ROWS)
    assert.are.equal(3, #made.columns)
    assert.are.same({ 'b, "c"', false, "y\nz" }, made.rows[2])
  end)

  it("is lines of a terminal, by letters and not by bytes", function()
    local rows = { { name = "µs", t = 5 }, { name = "long", t = 12 } }
    assert.are.same({ "name      t", "----  -----", "µs     5 ms", "long  12 ms" },
      sheet.lines(sheet.of(COLUMNS, rows), { rule = true }))
    assert.are.same({ "> name", "> us", "> long" },
      sheet.lines(sheet.of(COLUMNS, rows), { indent = "> ", room = 10, ascii = true }))
    assert.are.same({ "µs    5", "long 12" }, sheet.lines(sheet.of({ { cell = "name" },
      { cell = "t", gap = " ", number = true } }, rows)))
    assert.are.same({ "µs  5", "long 12" }, sheet.lines(sheet.of({ { cell = "name", width = 3 },
      { cell = "t", gap = " " } }, rows)))
    assert.are.same({}, sheet.lines(sheet.of(COLUMNS, {})))
  end)

  it("is Markdown for readers, and CSV for programs", function()
    local made = sheet.of(COLUMNS, ROWS)
    assert.are.equal('| name | t | note |\n|---|---:|---|\n| µ\\|a | 12 ms | x |\n'
      .. '| b, "c" |  | y z |\n', sheet.md(made))
    assert.are.equal('name,t,note\r\nµ|a,0.012,x\r\n"b, ""c""",,"y\nz"\r\n', sheet.csv(made))
  end)
end)
