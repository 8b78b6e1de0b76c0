-- SPDX-License-Identifier: MIT
--
-- What is made of structural counters: sums, figures, rows of a record, gates, the report's page; of launches that are
-- made up. What a device counts is for check/counters_spec.lua.

local support = require "tests.support"
local counters = require "moonwarp.measure.counters"
local counter_gate = require "moonwarp.lab.counter_gate"
local gate = require "moonwarp.lab.gate"
local material = require "moonwarp.report.material"
local page = require "moonwarp.report.page"
local runs = require "tests.support.report_runs"

local function has(text, part)
  assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text:sub(-2000)))
end

describe("counters", function()
  it("are summed over launches of one configuration, by line as well", function()
    local list = runs.launches()
    local again = runs.launches()[1]
    again.atomic_contention, list[1].atomic_contention = 7, 9
    table.insert(list, again)
    local rows = counters.by_configuration(list)
    assert.are.equal("turn columns", rows[1].kernel .. " " .. rows[2].kernel)
    assert.are.equal("2 64 256", ("%d %d %d"):format(rows[1].launches, rows[1].load_requests, rows[1].load_sectors))
    assert.are.equal(9, rows[1].atomic_contention) -- the greatest, not the sum
    assert.are.equal("4 64, 6 64", ("%d %d, %d %d"):format(rows[1].lines[1].line, rows[1].lines[1].load_requests,
      rows[1].lines[2].line, rows[1].lines[2].shared_load_requests))
  end)

  it("of other grids are another row, which a sum by block joins", function()
    local list = { runs.launches()[1], runs.launches()[1] }
    list[2].grid = { 2, 1, 1 }
    local rows = counters.by_configuration(list)
    assert.are.equal(2, #rows)
    rows = counters.by_block(rows)
    assert.are.equal("1 2", #rows .. " " .. rows[1].launches)
    assert.is_nil(rows[1].grid)
  end)

  it("of a line that two devices have counted are those of the first", function()
    local list = { runs.launches()[2], runs.launches()[2], runs.launches()[2] }
    list[3].source, list[3].lines[1].store_bytes = "ncu", nil
    local lines = counters.lines(list)
    assert.are.equal(2 * list[1].lines[1].store_sectors, lines[1].store_sectors)
    assert.are.equal("store: 32 sectors per request, 4 needed", select(3, counters.excess(lines[1]))[1])
  end)

  it("have figures, where there are such accesses", function()
    local rows = counters.by_configuration(runs.launches())
    local turn, columns = rows[1], rows[2]
    assert.are.equal(15.5, turn.shared_conflicts_per_request)
    assert.are.equal(31.0, turn.shared_load_conflicts_per_request)
    assert.are.equal(64 / (32 + 32 * 32), turn.shared_efficiency)
    assert.are.equal(0.0, turn.shared_store_conflicts_per_request)
    assert.are.equal("18.0 4.0 32.0", ("%s %s %s"):format(columns.sectors_per_request,
      columns.load_sectors_per_request, columns.store_sectors_per_request))
    assert.are.equal("1.0 0.125", columns.load_efficiency .. " " .. columns.store_efficiency)
    assert.is_nil(columns.shared_conflicts_per_request)
    assert.are.equal(32.0, columns.lanes_per_request)
  end)

  it("that are not known make no figure", function()
    local one = runs.launches()[2]
    one.load_bytes, one.source = nil, "ncu"
    assert.are.same({ nil, "has no 'load_efficiency': ncu does not count it" },
      { counters.value(one, "load_efficiency") })
    assert.are.same({ nil, "makes no access to shared memory" },
      { counters.value(one, "shared_conflicts_per_request") })
    assert.are.equal(4.0, counters.value(one, "load_sectors_per_request"))
  end)

  it("say what a line moves beyond what it needs", function()
    local turn, columns = table.unpack(runs.launches())
    local excess, moved, words = counters.excess(turn.lines[2])
    assert.are.equal("992.0 1152 shared load: 31 conflicts per request",
      ("%s %d %s"):format(excess, moved // 1, table.concat(words)))
    excess, moved, words = counters.excess(columns.lines[1])
    assert.are.equal("28.0 36 store: 32 sectors per request, 4 needed",
      ("%s %d %s"):format(excess, moved // 1, table.concat(words)))
    columns.lines[1].load_bytes, columns.lines[1].load_sectors = 4, 1 -- one word for all lanes needs a sector
    assert.are.equal(28.0, (counters.excess(columns.lines[1])))
  end)

  it("say so by the bytes of each lane where distinct ones are not known", function()
    local line = { load_requests = 2, load_sectors = 64, load_lane_bytes = 256, store_requests = 1, store_sectors = 1,
                   store_lane_bytes = 128 } -- a word that all lanes write needs a sector
    local excess, moved, words = counters.excess(line)
    assert.are.same({ 56, 65, "load: 32 sectors per request, 4 needed" },
      { excess // 1 | 0, moved // 1 | 0, table.concat(words) })
  end)
end)

describe("a gate of a kernel", function()
  local function wrong(given, problem) assert.are.equal(problem, gate.problem(given)) end

  it("names a kernel, a counter and a bound", function()
    local way = "; as in { kernel = \"sum\", field = \"sectors_per_request\", at_most = 4.5 }"
    assert.is_nil(gate.problem { kernel = "a", field = "sectors_per_request", at_most = 4.5 })
    assert.is_nil(gate.problem { kernel = "a", field = "barriers", at_least = 1, at_most = 2, name = "few" })
    wrong({ kernel = "a", field = "sector_per_request", at_most = 1 },
      "there is no counter 'sector_per_request'; did you mean 'sectors_per_request'?")
    wrong({ kernel = "a", field = "warmth", at_most = 1 },
      "there is no counter 'warmth'; docs/counters.md has their names")
    wrong({ kernel = "a", field = "barriers" }, "a gate of a kernel wants at_most or at_least, a number" .. way)
    wrong({ kernel = "a", at_most = 1 }, "a gate of a kernel wants field, a counter" .. way)
    wrong({ field = "barriers", at_most = 1 }, "a gate on counters wants kernel, its name" .. way)
    wrong({ kernel = "", field = "barriers", at_most = 1 }, "a gate on counters wants kernel, its name" .. way)
    wrong({ kernel = "a", field = "barriers", at_least = 2, at_most = 1 },
      "a gate of a kernel has at_least 2 above at_most 1, which no number fulfils")
    wrong({ kernel = "a", field = "barriers", at_mots = 1 },
      "a gate of a kernel has no 'at_mots'; did you mean 'at_most'?")
  end)

  local ROWS = counters.by_configuration(runs.launches())

  local function judged(one) return counter_gate.judge(one, ROWS) end

  it("holds where all configurations of the kernel do", function()
    local one = judged { kernel = "turn", field = "load_sectors_per_request", at_least = 4, at_most = 4 }
    assert.are.equal("load_sectors_per_request of kernel turn at least 4 and at most 4", one.text)
    assert.is_true(one.ok)
    one = judged { kernel = "turn", field = "shared_conflicts_per_request", at_most = 0.5, name = "no conflicts" }
    assert.is_false(one.ok)
    assert.are.equal("no conflicts", one.text)
    assert.are.equal("shared_conflicts_per_request of kernel 'turn' is 15.5 (grid 1 x 1 x 1, block 32 x 32 x 1), "
      .. "wanted at most 0.5", one.message)
  end)

  it("of a template without arguments is of all instances", function()
    local list = runs.launches()
    list[1].kernel, list[2].kernel = "turn<float,0>", "turn<float,1>"
    local one = counter_gate.judge({ kernel = "turn", field = "store_sectors_per_request", at_most = 4 },
      counters.by_configuration(list))
    has(one.message, "kernel 'turn<float,1>' is 32.0")
  end)

  it("fails without a launch, an access, or a counter that is known", function()
    local bound = { field = "shared_conflicts_per_request", at_most = 0 }
    local function of(kernel, rows)
      bound.kernel = kernel
      return counter_gate.judge(bound, rows or ROWS).message
    end
    assert.are.equal("no kernel 'trun' was launched; did you mean 'turn'?", of "trun")
    assert.are.equal("kernel 'turn': the pass in check mode has counted no launch", of("turn", {}))
    assert.are.equal("kernel 'columns' makes no access to shared memory", of "columns")
    local list = runs.launches()
    list[1].shared_load_conflicts, list[1].source = nil, "ncu"
    assert.are.equal("kernel 'turn' has no 'shared_conflicts_per_request': ncu does not count it",
      of("turn", counters.by_configuration(list)))
  end)
end)

describe("the report", function()
  local function drawn(run)
    local text
    support.with_folder(function(folder)
      runs.write(folder .. "/a", run)
      text = page.draw(material.gather({ folder }, "out"), {})
    end)
    return text
  end

  it("has a kernel's lines with their counters, and those that cost most in words", function()
    local text = drawn(runs.count(runs.make(1, 3)))
    has(text, "<tr class=hot id=study-memcopy-run-1-source-1-6>")
    has(text, '<td class=n data-of="conflicts per request">31<td class=n data-of="lanes per request">32'
      .. "<td><code>  y[32 * j + i] = s[i][j];</code>")
    has(text, '<a href=#study-memcopy-run-1-source-1-6>line 6</a>: shared load: 31 conflicts per request, 74 % of')
    has(text, "<td><code>  __syncthreads();</code>")
    assert.is_nil(text:find("contention", 1, true)) -- there are no atomics
  end)

  it("shows a record whose counters are not in order as one that cannot be read", function()
    local run = runs.count(runs.make(1, 3))
    run.counters[1].lines[1].load_requests = "many"
    has(drawn(run), "counters[1].lines[1].load_requests must be an integer, got string")
  end)
end)
