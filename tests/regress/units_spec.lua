-- SPDX-License-Identifier: MIT
--
-- Units of fields. They were guessed from plain words: `flops` of a record was printed in Mflop/s, `rate` in Gflop/s,
-- `first` in s, `size` in KiB, and nothing said so.

local export = require "moonwarp.results.export"
local gate = require "moonwarp.lab.gate"
local labs = require "tests.support.labs"
local session = require "moonwarp.session"
local support = require "tests.support"
local store = require "moonwarp.results.store"
local mw = support.mw

local WORDS <const> = { "flops", "rate", "first", "size", "low", "high", "min", "max", "mean", "peak", "launch", "time",
                        "throughput", "interactions", "median" }

-- The heading of a table's first column.
local function heading(spec)
  spec.quiet = true
  return mw.table(spec):match "\n *([^\n]*)\n%-"
end

local function of_bench()
  local t = mw.bench(function() end, { samples = 3, batch = 1000, clock = "host", bytes = 8, flops = 2, quiet = true })
  t.median, t.low, t.high, t.rate, t.throughput = 2e-3, 2e-3, 2e-3, 3e9, 4e9
  return t
end

describe("the unit of a field", function()
  it("is not guessed from a plain word", function()
    for _, word in ipairs(WORDS) do
      assert.are.equal(word, heading { word, records = { { [word] = 5e9 } } })
    end
  end)

  it("is known for the documented names", function()
    for name, wanted in pairs { T_tot = "T_tot (GB/s)", T_eff = "T_eff (GB/s)", bandwidth = "bandwidth (GB/s)",
                                bytes = "bytes (GiB)", nbytes = "nbytes (GiB)", seconds = "seconds (s)",
                                t = "t (s)" } do
      assert.are.equal(wanted, heading { name, records = { { [name] = 5e9 } } })
    end
  end)

  it("is known for the fields of a benchmark", function()
    local t = of_bench()
    for field, wanted in pairs { t = "t (ms)", ["t.median"] = "t.median (ms)", ["t.low"] = "t.low (ms)",
                                 ["t.rate"] = "t.rate (Gflop/s)", ["t.throughput"] = "t.throughput (GB/s)",
                                 ["t.n"] = "t.n", T_tot = "T_tot (GB/s)", ["T_tot.low"] = "T_tot.low (GB/s)" } do
      assert.are.equal(wanted, heading { field, records = { { t = t, T_tot = 8e6 / t } } })
    end
  end)

  it("is what the record gives, before any other", function()
    local records = { { x = 1 }, { x = 2, rate = 5e9, T_tot = 2.0, units = { rate = "flop/s", T_tot = "W" } } }
    assert.are.equal("rate (Gflop/s)", heading { "rate", records = records })
    assert.are.equal("T_tot (W)", heading { "T_tot", records = records })
    assert.are.equal("x (flop)", heading { { "x", unit = "flop" }, records = records })
  end)

  it("is stored and used by every form of a stored run", function()
    support.with_folder(function(folder)
      local before <const> = session.current
      session.begin { out = folder, quiet = true }
      mw.record { version = "a", rate = 5e9, x = 2e-3, units = { rate = "flop/s", x = "s" } }
      mw.plot { x = "x", y = "rate", pictures = false }
      mw.ladder { x = "rate", by = "version", pictures = false }
      local made = session.current:finish { status = "complete", exit = 0 }
      session.current = before
      local run = assert(store.read(made))
      assert.are.same({ rate = "flop/s", x = "s" }, run.records[1].units)
      assert.are.same({ "s", "flop/s", "flop/s" }, { run.charts[1].xunit, run.charts[1].unit, run.charts[2].unit })
      assert.is_truthy(export.md { run }:find("| 5.000 Gflop/s | a | 2.000 ms |", 1, true), export.md { run })
      assert.is_truthy(export.dat { run }:find("rate in flop/s, x in s", 1, true))
    end)
  end)

  it("is an error of a field that is not there", function()
    support.fails(function() mw.record { rate = 1.0, units = { raet = "flop/s" } } end,
      "mw.record: 'units' has 'raet', which is no field of the record; did you mean 'rate'?")
    support.fails(function() mw.record { rate = 1.0, units = { rate = 3 } } end, "mw.record: 'units' must be texts by "
      .. "the names of fields, as in units = { rate = \"flop/s\" }")
    support.fails(function() mw.record { rate = 1.0, units = "flop/s" } end,
      "mw.record: field 'units' is moonwarp's own and must be a table, got string")
  end)

  -- A gate on a time would want the slower of two.
  it("decides that a gate on seconds is none", function()
    local function gate_on(field) return { record = { k = "a" }, field = field, at_least = 0.5, of = { k = "b" } } end
    local function run_with(unit)
      return { { k = "a", x = 1, units = { x = unit } }, { k = "b", x = 1, units = { x = unit } } }
    end
    for _, field in ipairs { "t", "time", "seconds", "t.median" } do
      assert.is_truthy(gate.problem(gate_on(field)):find("a gate on '" .. field .. "' is a gate on seconds", 1, true))
    end
    assert.are.equal("'x' is a time, and a gate takes rates", gate.judge(gate_on "x", run_with "s").message)
    assert.is_true(gate.judge(gate_on "x", run_with "flop/s").ok)
  end)

  it("does not keep a run of 0.5.0 from being read whose records had a field units", function()
    support.with_folder(function(folder)
      support.write(folder .. "/record.json", [[{"schema": "moonwarp-record/1", "study": "a", "status": "complete",
        "records": [{"units": "blocks", "rate": 5}], "checks": [], "charts": [], "tables": [], "remarks": [],
        "pictures": [], "sources": []}]])
      assert.is_truthy(export.md { assert(store.read(folder)) }:find("| a | 5 |", 1, true))
    end)
  end)

  -- The rates of these are no rates of bytes, and their times no fields of a benchmark.
  it("is given by the studies that need one", function()
    support.with_folder(function(folder)
      for command, wanted in pairs {
        ["nbody -p parts=fast -p n=64 -p rungs=direct"] = "n%^2 / t %([kMG]?/s%)",
        ["orbits -p rungs=leapfrog -p orbits=3 -p per_orbit=20 -p time_units=1 -p sphere=8"] =
          "gain %(%%%)  momentum  swelling %(%%%).*interactions %([kMG]?/s%)",
        ["streams -p parts=events -p n=64 -p rounds=1"] = "computed %([µmn]*s%)  copy may begin %([µmn]*s%)",
      } do
        local status, output = labs.shell(("%s run %s -p seconds=0 --device cpu --out %s </dev/null"):format(
          labs.quoted(labs.program), command, labs.quoted(folder)))
        assert.are.equal(0, status, output)
        assert.is_truthy(output:find(wanted), output)
      end
    end)
  end)
end)
