-- SPDX-License-Identifier: MIT
--
-- What small runs of the studies measure, derive, check and leave on the CPU device. Studies whose parts are told apart
-- by parameters have files of their own beside this one; wrong kernels and parameters: broken_spec.lua.

local support = require "tests.support"

-- ---- what a row may want ----------------------------------------------------------------------

local WANTED <const> = {}

-- Of the records of each group, a value each once, in their order.
local function of_groups(run, wanted, value)
  local lists, seen = {}, {}
  for _, r in ipairs(run.record.records) do
    local what = wanted[r.group] and value(r)
    if what and not seen[r.group .. what] then
      lists[r.group] = lists[r.group] or {}
      table.insert(lists[r.group], what)
      seen[r.group .. what] = true
    end
  end
  assert.are.same(wanted, lists)
end

function WANTED.rungs(run, wanted) of_groups(run, wanted, function(r) return r.rung end) end

function WANTED.numbers(run, wanted) of_groups(run, wanted, function(r) return r.number end) end

function WANTED.counts(run, wanted)
  local counts = {}
  for _, r in ipairs(run.record.records) do counts[r.group] = (counts[r.group] or 0) + 1 end
  assert.are.same(wanted, counts)
end

function WANTED.charts(run, wanted)
  local charts = {}
  for i, chart in ipairs(run.record.charts) do charts[i] = chart.name end
  assert.are.same(wanted, charts)
end

-- A key of a record, and the record, of several the last.
function WANTED.by(run, wanted)
  local key, values = table.unpack(wanted)
  local found = {}
  for _, r in ipairs(run.record.records) do
    local name = key(r)
    if name then found[name] = r end
  end
  values(found)
end

function WANTED.each(run, check)
  for _, r in ipairs(run.record.records) do check(r) end
end

function WANTED.all(run, check) check(run.record.records) end

function WANTED.checks(run, wanted) support.has_checks(run, wanted) end

function WANTED.remarks(run, wanted) assert.is_truthy(run.remarks:find(wanted, 1, true), run.remarks) end

-- ---- what several rows want --------------------------------------------------------------------

local function near(wanted, got) assert.is_near(wanted, got, 1e-9 * math.abs(wanted)) end

local function of_rung(r) return r.rung end

-- The knee of rates that some records have, the most operations over the most bytes, in f64.
local function knee_of(records, is_one)
  local operations, bytes = 0, 0
  for _, r in ipairs(records) do
    if is_one(r) then operations, bytes = math.max(operations, r.operations or 0), math.max(bytes, r.T_eff) end
  end
  return 8 * operations / bytes
end

-- T_eff is of so many arrays.
local function counts_arrays(arrays)
  return function(r) near(1, r.T_eff * r.t.median / (arrays(r) * r.bytes)) end
end

-- ---- the rows ---------------------------------------------------------------------------------

-- { study and parameters, what they show, what is wanted }; options: of support.study.
local ROWS <const> = {
  { "access -p n=4096 -p steps=2 -p strides=1,2,8,1000 -p offsets=0,8,31", "every part, and sectors per request",
    counts = { stride = 8, offset = 6, width = 6, loads = 30, half = 4, constants = 10, ["local"] = 10 },
    charts = { "access-stride", "access-width", "access-loads-per", "access-half", "access-constants",
               "access-local-3", "access-local-16" },
    by = { function(r)
      return (r.stride or r.offset) and ("%s %d"):format(r.rung, r.stride or r.offset)
    end, function(of)
      for name, sectors in pairs { ["strided 1"] = 4.0, ["strided 2"] = 8.0, ["strided 8"] = 32.0,
          ["strided 1000"] = 32.0, ["shifted 0"] = 4.0, ["shifted 8"] = 4.0, ["shifted 31"] = 5.0 } do
        assert.are.equal(sectors, of[name].sectors_per_request, name)
      end
    end },
    checks = { "strided, n = 10007, stride = 1000, f32", "shifted, n = 10007, offset = 31, f32", "half2, n = 67, f16",
               "16 bytes per thread, n = 67, f32", "shared, each lane its own, n = 10007, f32",
               "local memory, m = 16, n = 1003, f32" } },
  { "access -p n=1024 -p parts=offset -p offsets=256", "the largest offset of its smallest array" },
  { "balance -p n=2048 -p side=40 -p types=f64 -p length=4 -p steps=1,40", "the knee, from the rates of its rungs",
    rungs = { knee = { "this ladder's knee", "measured ceilings", "P100, data sheet", "H200, data sheet" } },
    counts = { operations = 6, ceilings = 2, knee = 4, filter = 4 },
    each = function(r)
      if r.group == "operations" and r.number then near(2 * r.steps * 2048 / r.t.median, r.operations) end
      if r.rung == "P100, data sheet" then assert.is_near(57.9, r.balance, 0.05) end
    end,
    all = function(records)
      local knees = {}
      for _, r in ipairs(records) do knees[r.rung] = r.group == "knee" and r.balance or nil end
      near(knees["this ladder's knee"], knee_of(records, function(r) return r.group == "operations" and r.number end))
      near(knees["measured ceilings"], knee_of(records, function(r)
        return r.group == "ceilings" or r.group == "operations" and not r.number
      end))
    end },
  { "balance -p n=2048 -p side=40 -p types=f64 -p length=4 -p parts=filter", "the filter alone, without a knee",
    counts = { filter = 4 } },
  { "concurrency -p rounds=101 -p streams=4 -p each=3", "streams, callbacks and the host's work",
    rungs = { streams = { "one stream", "a stream per piece", "legacy default stream between",
                          "per-thread default stream between", "legacy, streams not blocking" },
              next = { "one stream", "a stream per piece", "the host waits each turn", "a callback queues the next" },
              host = { "kernels, wait, host", "kernels, host, wait" } },
    each = function(r) assert.is_near(r.kernels, r.streams * r.each / r.t.median, 1e-6 * r.kernels) end,
    checks = { "a callback queues the next, each = 3, rounds = 5, streams = 3, f32",
               "a callback queues the next, each = 3, streams = 4, f32, beside 'one stream'",
               "legacy default stream between, each = 1, streams = 4, f32, beside 'one stream'" } },
  { "dedispersion -p channels=64 -p times=300 -p dms=20 -p parts=ladder,stages", "rungs and stages",
    rungs = { ladder = { "direct", "direct, times in registers", "shared memory", "two samples per word",
                         "four samples per word", "four channels per word" },
              stages = { "zero-DM filter", "time binning", "boxcars" } },
    each = function(r) if r.group == "ladder" then near(64 * 300 * 20 / r.t.median, r.adds) end end },
  { "dedispersion -p parts=pulsar -p channels=64 -p times=1024 -p dms=48 -p seeds=5", "pulsars in 5 of 5 skies",
    by = { function(r) return r.how end, function(of)
      for _, how in ipairs { "with it", "in half of the samples" } do
        assert.are.same({ 5, 5 }, { of[how].found, of[how].skies }, how)
      end
      assert.is_true(of["without the zero-DM filter"].snr > 15) -- the interference
    end } },
  { "divergence -p n=70001 -p side=70 -p steps=2 -p fractions=0.1,1 -p bins=1,64", "every part, bounds and warps",
    counts = { ways = 12, branch = 3, list = 14, boundary = 6, count = 5, atomics = 4 },
    charts = { "divergence-ways", "divergence-list-fraction", "divergence-count", "divergence-atomics-many" },
    by = { function(r)
      return (r.bound and r.ways or r.warps and r.fraction) and ("%s %g"):format(r.rung, r.ways or r.fraction)
    end, function(of)
      local function warps(name) return ("%.3f"):format(of[name].warps) end
      assert.are.same({ 1 / 32, 1.0, "0.966", "0.100", "1.000" }, { of["threads differ 32"].bound,
        of["warps differ 32"].bound, warps "a branch 0.1", warps "a list, by warp 0.1", warps "two lists 1" })
    end },
    checks = { "threads differ, n = 10007, ways = 7, f32", "two lists, fraction = 0.2, n = 10007, f32",
               "a list in each block, fraction = 1, n = 45, f32", "two kernels, nx = 67, steps = 3, f32",
               "count by warp, n = 70001, f32, beside the host",
               "shared, many = 64, n = 70001, f32, beside the host" } },
  { "divergence -p n=70001 -p side=70 -p steps=2 -p parts=list -p fractions=0", "no chart of 0 on a logarithmic axis",
    counts = { list = 7 }, charts = {} },
  { "first-kernels -p n=301 -p lines=77,2000 -p threads=600", "each step and what comes of it",
    options = { untimed = true }, by = { function(r) return r.step end, function(of)
      for step, result in pairs { ["a first kernel"] = "runs", ["two vectors, copied"] = "runs",
          ["two vectors, managed"] = "runs", ["2000 threads in a block"] = "error: invalid",
          ["no block"] = "error: invalid", ["an array of doubles"] = "error: invalid",
          ["an argument too few"] = "error: invalid", ["more memory than there is"] = "error: no_memory",
          ["a kernel that is not there"] = "error: not_found", ["an index beyond the array"] = "error: fault",
          ["an assertion"] = "error: fault", ["printf of 77 lines"] = "all arrive",
          ["printf of 2000 lines"] = "all arrive", ["atomicAdd(&count, 1)"] = "all count" } do
        assert.are.equal(result, of[step].result, step)
      end
      assert.are.same({ 512, 2000 }, { of["count++"].wanted, of["printf of 2000 lines"].got })
      for said, step in pairs { ["block.x is 2000, cpu allows 1024 at most"] = "2000 threads in a block",
          ["did you mean 'my_first_kernel'?"] = "a kernel that is not there",
          ["assert(x[threadIdx.x] > 0) at first-kernels.cu:"] = "an assertion" } do
        assert.is_truthy(of[step].said:find(said, 1, true), of[step].said)
      end
    end } },
  { "fourier-search -p n=2048 -p most=16 -p parts=ladder,harmonics", "forms, harmonic sums and errors",
    each = function(r) near(2048 * 9 / r.t.median, r.bins) end, by = { of_rung, function(of)
      assert.is_truthy(of["cuFFT launches"] and of["harmonic sum"])
      assert.are.equal(256, of["own launches"].segment)
      assert.is_true(of["float, 16 per thread"].error_rms < 1e-5)
      assert.is_true(of["bfloat16, 4 per thread"].error_rms < 0.02)
      assert.is_true(of["packed bfloat16, 4 per thread"].error_rms < 0.05)
    end } },
  { "fourier-search -p parts=pulsar -p rungs=4 -p n=8192 -p most=24 -p seeds=5", "the pulsar in 5 of 5 skies",
    each = function(r) assert.are.same({ 5, 5 }, { r.found or 5, r.skies or 5 }) end },
  { "functions -p n=100 -p steps=2 -p doubles=300 -p every=1048573", "rates, and errors beside those that are known",
    each = function(r) if r.group == "rates" then near(200 / r.t.median, r.values) end end,
    by = { function(r) return r.tried and ("%s, %s, %s"):format(r.rung, r.type, r.range) end, function(of)
      local sqrt, exp = of["sqrt, f32, all"], of["exp, f32, all"]
      assert.are.equal(4081, sqrt.tried) -- 4097 numbers of f32, less those with the bits of a NaN
      assert.is_true(sqrt.ulp <= 0.5 and sqrt.wrong == 0 and exp.ulp > 0.45 and exp.ulp < 2)
      local f64 = of["rsqrt, f64, [-4, 4]"] -- where there are cc and MPFR
      assert.is_true(f64 == nil or f64.ulp < 2 and f64.tried == 300)
    end } },
  { "gemm -p n=32 -p sizes=16 -p items=3 -p precisions=f32,tf32,bf16,i8", "every precision and way of a batch",
    by = { function(r) return r.how or r.group == "cores" and r.precision .. ", " .. r.rung end, function(of)
      for _, how in ipairs { "one call", "a call each", "a call each, 8 streams", "the calls in a graph" } do
        assert.is_truthy(of[how], how)
      end
      assert.are.equal(0, of["i8, tensor cores, wmma"].error)
      assert.is_true(of["tf32, tensor cores, wmma"].error > 100 * of["f32, two tiles in turn"].error)
    end },
    checks = { "an element per thread, k = 45, m = 67, n = 33, f32, f32",
               "two tiles in turn, k = 45, m = 67, n = 33, f32, f32",
               "tensor cores, wmma, k = 32, m = 130, n = 131, bf16, bf16", "batch, the calls in a graph" } },
  { "graphs -p steps=8 -p longest=512 -p queued=130 -p rounds=10", "each rung, and a full queue",
    rungs = { short = { "each waited for", "queued", "a graph", "one launch, a grid", "one launch, a block" } },
    each = function(r)
      if r.rung == "a graph" then assert.is_true(r.built > 0) end
      if r.group ~= "queue" then assert.is_near(r.steps, r.launches * r.t.median, 1e-6)
      else assert.is_true(r.host > 0 and r.kernel > 0) end
    end,
    all = function(records)
      local last = 0
      for _, r in ipairs(records) do
        if r.group == "queue" then
          assert.is_true(r.host > last)
          last = r.host
        end
      end
      assert.are.equal(130, records[#records].queue)
    end },
  { "histogram -p n=30011 -p blocks=256", "bytes of every kind in all rungs, and passes by copies",
    rungs = { ladder = { "library copy", "global memory", "a table", "a table, 16 bytes", "a table per warp",
      "merged by warps", "8 tables", "a table per lane", "8 bits per thread", "a table, weighted",
      "a table per lane, weighted", "a table, global memory" } },
    each = function(r)
      assert.are.equal(30011, r.bytes)
      if r.rung == "a table per lane" then assert.are.equal(1, r.passes) end
      if r.rung == "copies" and r.data == "one value" then assert.are.equal(32 // r.copies, r.passes) end
    end,
    charts = { "histogram-ladder-uniform", "histogram-ladder-skewed", "histogram-ladder-one-value",
               "histogram-copies" },
    checks = { "merged by warps, uniform, n = 527, u32", "a table, uniform, n = 1, u32",
               "8 bits per thread, one value, most = 2, n = 100003, u32",
               "copies, copies = 16, uniform, n = 20001, u32" } },
  { "histogram -p n=15 -p data=uniform -p parts=ladder -p blocks=1,7 -p rungs=4,8", "what is left of 16 bytes" },
  { "laplace3 -p n=20 -p planes=7 -p period=5 -p depths=2", "each rung on the lecture's small grids, and the change",
    checks = { "the change in the same pass, nx = 20, ny = 20, nz = 20, f32: its change" } },
  { "managed -p n=5000 -p part=8192 -p pages=9", "each kind of memory to a kernel and back, and hints",
    rungs = { trip = { "explicit, pinned", "explicit, registered", "explicit, pageable", "managed, prefetched",
                       "managed, kept on the host", "zero-copy, pinned", "zero-copy, registered" },
              touched = { "explicit, pinned", "managed", "managed, prefetched", "managed, kept on the host",
                          "zero-copy, pinned" } },
    by = { function(r) return r.hint or r.to or r.touched == 9 and r.rung end, function(of)
      for _, name in ipairs { "no hint", "prefetched", "kept on the host", "read mostly" } do
        local r = of[name]
        assert.is_true(r.kernel_first > 0 and r.kernel_second > 0 and r.host_first > 0 and r.host_second > 0, name)
      end
      for _, to in ipairs { "device", "host" } do assert.is_true(of[to].call > 0 and of[to].done > of[to].call) end
      assert.is_truthy(of["explicit, pinned"] and of.managed and of["zero-copy, pinned"])
    end } },
  { "montecarlo -p paths=1000 -p steps=6 -p parts=normals,paths", "normals and paths",
    rungs = { normals = { "store", "Box-Muller", "Box-Muller, fast", "inverse", "ziggurat", "rand.normal" },
              paths = { "store", "stored by path, fast", "stored by step, fast", "fused, Box-Muller",
                        "fused, Box-Muller, fast", "fused, inverse", "fused, ziggurat" } },
    each = function(r)
      if r.worst then assert.is_true(r.worst < (r.number == 2 and 2e-3 or 1e-5)) end
      if r.price then assert.is_near(0.0797, r.price, 1.5 * r.half) end
    end,
    checks = { "ziggurat, paths = 301, steps = 6, f32", "fused, inverse, paths = 17, steps = 2, f32",
               "stored by path, fast, paths = 301, steps = 6, f32",
               "fused, ziggurat, paths = 1000, steps = 6, f32: the option's value" } },
  { "montecarlo -p parts=error -p most=2^16", "errors as 1 / sqrt(n), and nearly as 1 / n by Sobol's points",
    by = { function(r) return r.half and r.rung .. r.paths end, function(of)
      local function ratio(rung) return of[rung .. 1024].half / of[rung .. 65536].half end
      assert.is_near(8, ratio "fused, Box-Muller, fast", 1)
      assert.is_true(ratio "Sobol" > 20)
    end } },
  { "pattern -p n=30011 -p every=16", "four words in all of its rungs",
    rungs = { ladder = { "library copy", "a byte per thread", "a word per thread", "16 bytes", "is there any?",
                         "two words at once", "a word per thread, four counts", "two at once, four counts" } },
    each = function(r) assert.are.equal(30011, r.bytes) end,
    checks = { "two words at once, every = 16, n = 1003, u32", "is there any?, every = 0, n = 270007, u32",
               "two at once, four counts, every = 16, n = 5, u32" } },
  { "pattern -p n=30011 -p every=16 -p 'words=abab baba bbbb fbbb' -p rungs=6,8 -p parts=ladder",
    "words whose differences are even, and overlapping ones" },
  { "poisson -p plane=20 -p cube=6 -p side=16 -p targets=3,7", "each method until the error is small",
    numbers = { ["2-D"] = { 1, 2 }, ["3-D"] = { 1, 2 }, error = { 2, 3, 4, 5, 6 } }, counts = { ["2-D"] = 2,
      ["3-D"] = 2, error = 10 },
    each = function(r)
      assert.is_near(r.group == "2-D" and 400 or r.group == "3-D" and 216 or 256, r.unknowns * r.t.median, 1e-6)
      if r.group ~= "error" then return end
      assert.is_true(r.error_rms < 10 ^ -r.digits, r.rung)
      assert.are.equal(r.number > 2, r.iterations ~= nil)
    end },
  { "small-problems -p problems=3 -p steps=5 -p length=77", "each rung, and cells and unknowns",
    rungs = { Jacobi = { "a launch per step and problem", "a launch per step", "a graph of them",
                         "all steps in shared memory", "all steps in registers" },
              implicit = { "a launch per implicit step", "a graph of implicit steps",
                           "all implicit steps in a launch" } },
    each = function(r)
      near(1, r.cells * r.t.median / (r.problems * (r.group == "implicit" and 77 or 64 * 64) * r.steps))
    end },
  { "sort -p smallest=20000 -p n=20000", "any number of keys in every rung",
    rungs = { ladder = { "bitonic", "radix, counts scanned", "radix, one sweep" } }, remarks = "burst needs a GPU",
    checks = { "bitonic, n = 1, u32", "radix, counts scanned, n = 32707, u32", "radix, one sweep, n = 32707, u32",
               "bitonic, n = 20000, u32, proof", "radix, one sweep, n = 20000, u32, beside 'bitonic'" } },
  { "sparse -p side=20 -p rows=500 -p steps=3 -p triangle=12", "each rung where it fits, and each array once",
    numbers = { Poisson = { 1, 2, 3, 4, 5, 6, 7 }, ["power law"] = { 1, 2, 3, 5, 6, 7 }, columns = { 1, 8, 9, 10 },
                triangle = { 11, 12, 13, 14 }, CG = { 1, 15, 16, 17, 18 } },
    by = { function(r) return r.group end, function(of)
      local elements = 5 * 400 - 4 * 20
      assert.is_near(12 * elements + 4 * 401 + 16 * 400, of.Poisson.T_eff * of.Poisson.t.median, 1e-3)
      assert.is_near(3 * (12 * elements + 4 * 401 + 88 * 400), of.CG.T_eff * of.CG.t.median, 1e-3)
    end } },
  { "tridiagonal -p unknowns=2000 -p cube=9 -p lengths=32,129", "each rung where it fits, and five arrays",
    numbers = { contiguous = { 1, 2, 3, 4, 5, 6, 7 }, interleaved = { 1, 2, 3, 7 }, pieces = { 6 },
                heat = { 1, 8, 9, 10 } }, counts = { contiguous = 12, interleaved = 7, pieces = 2, heat = 4 },
    each = counts_arrays(function(r) return r.number == 1 and 2 or r.group == "heat" and 9 or 5 end) },
}

for _, ty in ipairs { "f32", "f64" } do
  table.insert(ROWS, { "recurrence -p parts=ladder -p n=3001 -p type=" .. ty, "sums and recurrences of " .. ty,
    rungs = { ladder = { "library copy", "sum, barriers, host", "sum, warps, host", "sum, in order", "sum, in rounds",
      "recurrence, barriers, host", "recurrence, warps, host", "recurrence, in order", "recurrence, in rounds" } },
    each = counts_arrays(function(r) return (r.op == "sum" or r.rung == "library copy") and 2 or 3 end) })
end

describe("the study", function()
  if not support.program() then return pending "needs the program" end
  for _, row in ipairs(ROWS) do
    local study, words = row[1]:match "^(%S+) (.*)$"
    it(("%s shows: %s"):format(study, row[2]), function()
      local run = support.study_passes(study, "--device cpu " .. words, row.options)
      for name, want in pairs(WANTED) do
        if row[name] then want(run, row[name]) end
      end
    end)
  end
end)
