-- SPDX-License-Identifier: MIT
--
-- Stored runs for the tests of the report, made without measuring: of any number, of two devices, with
-- as many samples as real ones have. The same number makes the same run.
-- As a program: `moonwarp run tests/support/report_runs.lua -- FOLDER COUNT`.

local json = require "moonwarp.base.json"

local runs = {}

local STUDIES = { "memcopy", "stencil", "cumsum", "reduction", "nbody", "streams" }
local DEVICES = { { "cpu", "AMD EPYC", 90e9 }, { "cuda:0", "NVIDIA H200", 4.2e12 } }
local RUNGS = { "library copy", "one warp in all", "16 bytes per thread", "shared memory", "with hints", "triad" }
local SAMPLES <const> = 200
local BYTES <const> = 1 << 27

-- The minimal standard generator (S. K. Park and K. W. Miller, 1988): the same everywhere.
local function generator(seed)
  local state = seed * 7919 + 1
  return function()
    state = state * 48271 % 2147483647
    return state / 2147483647
  end
end

local function result_of(median, random, count)
  local samples = {}
  for i = 1, count do
    samples[i] = median * (1 + 0.02 * (random() + random() - 1) + (i % 17 == 0 and 0.03 or 0))
  end
  return { median = median, low = median * 0.998, high = median * 1.003, p05 = median * 0.985,
           p95 = median * 1.03, min = median * 0.98, max = median * 1.05, mean = median * 1.002, n = count,
           noise = 0.0021, samples = samples, batch = 4, clock = "host clock",
           state = { before = { clock = 1980e6, temperature = 41, reasons = { "idle" } },
                     after = { clock = 1755e6, temperature = 63, reasons = { "power cap" } } } }
end

local function records_of(rate, random, samples)
  local records = {}
  for _, rung in ipairs(RUNGS) do
    for power = 5, 10 do
      local share = 0.35 + 0.12 * power / 2 + 0.1 * random()
      local t = result_of(2 * BYTES / (rate * share), random, samples)
      records[#records + 1] = { rung = rung, threads = 1 << power, bytes = BYTES, T_tot = 2 * BYTES / t.median, t = t }
    end
  end
  return records
end

local function chart_of(study, records, rate)
  local series, by_name = {}, {}
  for _, record in ipairs(records) do
    if not by_name[record.rung] then
      by_name[record.rung] = { name = record.rung, points = {} }
      series[#series + 1] = by_name[record.rung]
    end
    local y = record.T_tot
    table.insert(by_name[record.rung].points, { x = record.threads, y = y, low = y * 0.96, high = y * 1.02 })
  end
  return { name = study .. "-threads", title = study .. ": T_tot against threads per block", logx = 2,
           device = "", script = study, date = "2026-03-01 00:00 UTC", xlabel = "threads per block",
           ylabel = "T_tot", unit = "B/s", series = { series[1], series[2], series[3] },
           levels = { { value = rate, label = ("peak (%g GB/s)"):format(rate / 1e9) } } }
end

-- The last record of each rung, and what others measured.
local function ladder_of(study, records, rate)
  local bars = {}
  for i = #records // #RUNGS, #records, #records // #RUNGS do
    local value = records[i].T_tot
    bars[#bars + 1] = { name = records[i].rung, value = value, low = value * 0.97, high = value * 1.02,
                        share = value / rate }
  end
  bars[2].value, bars[2].low, bars[2].high, bars[2].share = rate / 4e4, rate / 4.1e4, rate / 3.9e4, 1 / 4e4
  bars[4].marks = { { value = rate / 2, label = "P100, same rung, source" } }
  return { kind = "ladder", name = study .. "-ladder", title = study .. ": the rungs, shared", device = "",
           script = study, date = "2026-03-01 00:00 UTC", xlabel = "T_tot", unit = "B/s", bars = bars,
           levels = { { value = rate, label = ("peak (%g GB/s) = 100 %%"):format(rate / 1e9) } } }
end

local function column(heading, records, key, scale)
  local texts, numbers = {}, {}
  for i, record in ipairs(records) do
    local value = record[key]
    numbers[i] = type(value) == "number" and value / (scale or 1)
    texts[i] = numbers[i] and ("%.4g"):format(numbers[i]) or tostring(value)
  end
  return { heading = heading, texts = texts, numbers = numbers }
end

-- ---- runs that did not go well ------------------------------------------------------------------

local CONDITIONS = {}

function CONDITIONS.flagged(run)
  for i, record in ipairs(run.records) do
    local t = record.t
    t.cold, t.graph = { median = t.median * 1.3, samples = {} }, { median = t.median * 0.99, samples = {} }
    t.launch, t.throughput, t.peak_share = 2.1e-6, record.T_tot, 0.87
    if i == 1 then t.flags = { "noisy", "throttled: thermal" } end
    if i == 2 then
      t.alarms = { { what = "above the device's peak", why = "5.1 TB/s of 4.8 TB/s",
                     remedy = "make the array larger than the cache" } }
    end
  end
end

CONDITIONS["check failed"] = function(run)
  run.status, run.exit = "check failed", 3
  table.insert(run.checks, { what = "one warp in all", ok = false, wrong = 12, count = 4096, max_abs = 0.25,
    absolute = 1e-12, text = "B[17, 3] is 0.25, wanted 0.5\n12 of 4096 elements are wrong" })
end

function CONDITIONS.failed(run)
  run.status, run.exit = "failed", 1
  run.message = "x.lua:12: </script><script>alert(1)</script> <img src=x onerror=alert(2)> \"a\" & 'b'"
end

function CONDITIONS.interrupted(run)
  run.status, run.exit = "interrupted", 130
end

--- Makes a run one that did not go well.
---@param run table
---@param condition string  "flagged", "check failed", "failed" or "interrupted"
---@return table run
function runs.spoil(run, condition)
  CONDITIONS[condition](run)
  return run
end

-- ---- a run with structural counters ---------------------------------------------------------------

local TURN <const> = [[
__global__ void turn(float *y, const float *x) {
  __shared__ float s[32][32];
  int i = threadIdx.x, j = threadIdx.y;
  s[j][i] = x[32 * j + i];
  __syncthreads();
  y[32 * j + i] = s[i][j];
}
__global__ void columns(float *y, const float *x) {
  y[32 * threadIdx.x] = 2 * x[threadIdx.x];
}
]]

-- What a warp's loads and stores of 32 floats count: sectors of global memory, passes of shared memory; nil for none.
local function accesses(load, store, shared_load, shared_store, warps)
  local function of(passes) return passes and warps or 0 end
  local function times(passes) return (passes or 0) * warps end
  local requests = of(load) + of(store) + of(shared_load) + of(shared_store)
  return { load_requests = of(load), load_sectors = times(load), load_bytes = 128 * of(load),
           store_requests = of(store), store_sectors = times(store), store_bytes = 128 * of(store),
           shared_load_requests = of(shared_load), shared_load_wavefronts = times(shared_load),
           shared_load_conflicts = times(shared_load) - of(shared_load), shared_store_requests = of(shared_store),
           shared_store_wavefronts = times(shared_store),
           shared_store_conflicts = times(shared_store) - of(shared_store), atomic_requests = 0, atomic_addresses = 0,
           atomic_contention = 0, shared_atomic_requests = 0, shared_atomic_addresses = 0,
           shared_atomic_contention = 0, requests = requests, lanes = 32 * requests, barriers = 0 }
end

local function line_of(number, counted)
  local at = 0
  for text in TURN:gmatch "[^\n]+" do
    at = at + 1
    if at == number then counted.file, counted.line, counted.text = "/home/a/turn.cu", number, text end
  end
  return counted
end

--- Launches of two kernels as a device that counts has them: turn reads its tile by columns, columns writes one.
---@return table[]
function runs.launches()
  local turn, columns = accesses(4, 4, 32, 1, 32), accesses(4, 32, nil, nil, 1)
  turn.kernel, turn.lines = "turn", { line_of(4, accesses(4, nil, nil, 1, 32)),
                                      line_of(6, accesses(nil, 4, 32, nil, 32)) }
  columns.kernel, columns.lines = "columns", { line_of(9, accesses(4, 32, nil, nil, 1)) }
  for i, launch in ipairs { turn, columns } do
    launch.launch, launch.device, launch.source, launch.grid = i, "cpu:check", "cpu", { 1, 1, 1 }
    launch.block = i == 1 and { 32, 32, 1 } or { 32, 1, 1 }
  end
  return { turn, columns }
end

--- Gives a run counters, and the source of their kernels.
---@param run table
---@return table run
function runs.count(run)
  run.sources = { { name = "turn.cu", from = "/home/a/turn.cu", text = TURN } }
  run.counters = require("moonwarp.measure.counters").by_configuration(runs.launches())
  return run
end

-- ---- runs ---------------------------------------------------------------------------------------

--- A run, as docs/record.md says.
---@param number integer
---@param samples integer?  of each measurement
---@return table
function runs.make(number, samples)
  local study, device = STUDIES[(number - 1) % #STUDIES + 1], DEVICES[(number - 1) // #STUDIES % 2 + 1]
  local random = generator(number)
  local rate = device[3] * (0.95 + 0.1 * random())
  local records = records_of(rate, random, samples or SAMPLES)
  return { schema = "moonwarp-record/1", study = study, device = device[1], device_name = device[2],
    date = ("2026-03-%02dT%02d:10:00Z"):format(1 + number % 28, number % 24), status = "complete", exit = 0,
    seconds = 12.5 + number, argv = { "run", study, "-p", "n=4096" }, params = { n = { "4096" } },
    moonwarp = "0.2.0", records = records, charts = { chart_of(study, records, rate), ladder_of(study, records, rate) },
    tables = { { name = study .. ", measured", columns = { column("rung", records, "rung"),
      column("threads", records, "threads"), column("T_tot (GB/s)", records, "T_tot", 1e9) },
      notes = {} } },
    checks = { { what = "copy", ok = true, count = BYTES // 8, wrong = 0 } },
    remarks = { { text = "The best rung moves what the library's copy moves, and two per cent." } },
    pictures = {}, sources = {},
    environment = { machine = { cpu = "AMD EPYC", cores = 64, memory = 1 << 39 }, compiler = "clang 18",
                    git = { revision = "0123abc", dirty = false },
                    device = { name = device[2], driver = "570.86", clock_max = 1980e6, power_limit = 700 } } }
end

--- Writes a run's record, and the sources of which it has the text.
---@param folder string    which is made
---@param record table
function runs.write(folder, record)
  assert(os.execute(("mkdir -p '%s/source'"):format(folder)))
  for _, one in ipairs(record.sources) do
    if one.text then require("tests.support").write(("%s/source/%s"):format(folder, one.name), one.text) end
  end
  local file <close> = assert(io.open(folder .. "/record.json", "wb"))
  file:write(json.encode(record))
end

-- A run that was killed: whole lines, and half of one.
local function write_journal(folder, record)
  assert(os.execute(("mkdir -p '%s'"):format(folder)))
  local file <close> = assert(io.open(folder .. "/journal.jsonl", "wb"))
  local header = { schema = record.schema, study = record.study, device = record.device,
                   device_name = record.device_name, date = record.date }
  file:write(json.encode { kind = "run", value = header }, "\n")
  for i = 1, 5 do file:write(json.encode { kind = "record", value = record.records[i] }, "\n") end
  file:write('{"kind":"record","va')
end

local SPOILT = { [2] = "check failed", [3] = "failed", [4] = "interrupted", [7] = "flagged" }

--- Writes runs 1 to count below a folder. Of each dozen some did not go well, and one was killed.
---@param folder string
---@param count integer
function runs.fill(folder, count)
  for number = 1, count do
    local record, condition = runs.make(number), SPOILT[number % 12]
    if condition then runs.spoil(record, condition) end
    if number == 1 then runs.count(record) end
    local write = number % 12 == 5 and write_journal or runs.write
    write(("%s/%s/%03d"):format(folder, record.study, number), record)
  end
end

local words = arg or {}
if words[0] and words[0]:find("report_runs", 1, true) then runs.fill(words[1], math.tointeger(words[2])) end

return runs
