-- SPDX-License-Identifier: MIT
--
-- Kernels of the studies that are changed so that they are wrong, which the studies' own checks find; and parameters
-- that no study takes, which are rejected before anything is measured.

local support = require "tests.support"

-- { study and parameters, the mistake, files with their changes, what the remarks or the output say }; never: what they
-- do not say; status: 3, a failed check, where no other is given.
local BROKEN <const> = {
  { "first-kernels", "leaves out the last element", { ["first-kernels.cu"] = {
    { "if (i < n) z[i] = x[i] + y[i];", "if (i < n - 1) z[i] = x[i] + y[i];" } } }, {} },
  { "first-kernels", "has an assertion that does not fail", { ["first-kernels.cu"] = {
    { "assert(x[threadIdx.x] > 0);", "assert(x[threadIdx.x] == 0);" } } }, { "an assertion: status none: no error" },
    status = 1 },
  { "fourier-search -p n=2048 -p most=16 -p parts=ladder -p rungs=1,3,4",
    "has a factor of a wrong stage, and keeps ends of segments", { ["fourier-search.cu"] = {
      { "from + (E + 1) * q * k", "from + (E == 16 ? E : E + 1) * q * k" },
      { "if (i < half || i >= size - half || r >= n) return;", "if (r < 0 || r >= n) return;" } } },
    { "check cuFFT launches", "check float, 16 per thread" }, never = "check own launches" },
  { "histogram -p n=30011 -p blocks=256 -p parts=ladder -p rungs=6,7,9",
    "has counters that wrap, a table that is not added, and leaves out the last of 512 bytes", { ["histogram.cu"] = {
      { "if (has_wrapped[k])", "if (false)" },
      { "add_tables(bins, tables, COPIES, 1, COPIES)", "add_tables(bins, tables, COPIES - 1, 1, COPIES)" },
      { "i = whole * 16 + INDEX; i < n", "i = whole * 16 + INDEX; i + 1 < n" } } },
    { "merged by warps (differs from the host", "8 tables (differs from the host",
      "8 bits per thread (differs from the host" } },
  { "poisson -p plane=20 -p cube=6 -p side=16 -p targets=3 -p rungs=2", "has an eigenvalue of the wrong side",
    { ["poisson.cu"] = { { "ey[first + r]", "ey[first]" } }, ["sparse.cu"] = {}, ["block_sum.cuh"] = {} }, {} },
  { "poisson -p plane=20 -p cube=6 -p side=16 -p targets=3 -p rungs=3", "has a coarse grid that makes worse",
    { ["poisson.cu"] = { { "= sum / 4", "= -sum / 4" } }, ["sparse.cu"] = {}, ["block_sum.cuh"] = {} }, {} },
  { "recurrence -p parts=ladder -p n=3001 -p rungs=4", "joins pairs in the wrong order", { ["recurrence.cu"] = {
    { "if (lane >= k) a = join(left, a);", "if (lane >= k) a = join(a, left);" } }, ["vector16.cuh"] = {} },
    { "check recurrence, in rounds" }, never = "check sum, in rounds, n" },
  { "transpose -p n=128 -p types=f32 -p parts=ladder -p rungs=7,9", "reads a tile as it was not written",
    { ["transpose.cu"] = { { "tile[threadIdx.x][column ^ threadIdx.x]", "tile[threadIdx.x][column]" },
                           { "[column ^ row % 8]", "[column]" } }, ["vector16.cuh"] = {} },
    { "a tile, swizzled (differs from the host", "16 bytes, tiles of 256 B (differs from the host" } },
  { "transpose -p n=128 -p types=f32 -p parts=ladder -p rungs=10", "has rows that do not begin on 16 bytes",
    { ["transpose.cu"] = { { "nx % WIDE == 0 && ny % WIDE == 0", "true" } }, ["vector16.cuh"] = {} },
    { "16 bytes, along B's rows (faults for nx = 67, ny = 33, f32)" } },
}

local BLOCK <const> = "parameter 'shapes' must be a block of 1 to 1024 threads such as 32x4, or a width such as 32, "
  .. "got '%s'"
local FOUR <const> = "four different words of four letters"

-- Study and parameters, and what is said.
local REJECTED <const> = {
  ["access -p n=4096 -p steps=2 -p parts=offset -p offsets=257"] = "parameter 'offsets' must be a number from 0 to 256",
  ["concurrency -p rounds=4"] = "parameter 'rounds' must be odd: the result is then 1 - x, got '4'",
  ["streams -p rounds=4"] = "parameter 'rounds' must be odd: the result is then 1 - x, got '4'",
  ["graphs -p steps=7"] = "parameter 'steps' must be even: the last step then writes x, got '7'",
  ["cumsum -p bx=64 -p by=32"] = "parameter 'by' must be a number from 1 to 16, got '32'",
  ["cumsum -p rungs=16"] = "parameter 'rungs' must be a rung's number or name, of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, "
    .. "11, 12, 13, 14, 15, got '16'",
  ["cumsum -p warps=33"] = "parameter 'warps' must be a number from 1 to 32, got '33'",
  ["cumsum -p length=5"] = "unknown parameter 'length'; there is n, types, ",
  ["memcopy -p rungs=11"] = "parameter 'rungs' must be a rung's number or name, of 2, 3, 4, 5, 6, 7, 8, 10, got '11'",
  ["memcopy -p type=f16"] = "parameter 'type' must be one of f32, f64, got 'f16'",
  ["memcopy -p n=65536"] = "parameter 'n' must be a number from 256 to 65535, got '65536'",
  ["stencil -p n=65536"] = "parameter 'n' must be a number from 8 to 65535, got '65536'",
  ["pattern -p 'words=that that have from'"] = FOUR, ["pattern -p 'words=that with have'"] = FOUR,
  ["pattern -p 'words=that with have fro5'"] = FOUR,
}
for _, text in ipairs { "33x32", "0x4", "1025", "32x", "4503599627370497x4096", "square", "32 x 4" } do
  REJECTED[("memcopy -p 'shapes=8,%s'"):format(text)] = BLOCK:format(text)
end

local function study_of(words) return words:match "^(%S+) ?(.*)$" end

describe("a study's checks find a kernel that", function()
  if not support.program() then return pending "needs the program" end
  for _, row in ipairs(BROKEN) do
    local study, words = study_of(row[1])
    it(("%s: %s"):format(row[2], study), function()
      local kernels = {}
      for file, changes in pairs(row[3]) do
        kernels[file] = support.changed_kernels(file, table.unpack(changes))
      end
      local run = support.study(study, "--device cpu " .. words,
        { kernels = kernels, untimed = study == "first-kernels" })
      assert.are.equal(row.status or 3, run.status, run.output)
      local said = run.output .. (run.remarks or "")
      for _, text in ipairs(row[4]) do assert.is_truthy(said:find(text, 1, true), said) end
      if row.never then assert.is_nil(said:find(row.never, 1, true), said) end
    end)
  end
end)

describe("a study rejects before it measures", function()
  if not support.program() then return pending "needs the program" end
  for words, message in pairs(REJECTED) do
    it(words, function()
      local run = support.study(study_of(words))
      assert.are.equal(2, run.status, run.output)
      assert.is_truthy(run.output:find(message, 1, true), run.output)
    end)
  end
end)
