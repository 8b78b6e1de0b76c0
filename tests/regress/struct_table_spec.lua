-- SPDX-License-Identifier: MIT
--
-- A struct by value used to take only a string of its bytes: a table by its members is laid out as the source says.

local support = require "tests.support"
local mw = support.mw

local SOURCE <const> = [[
struct pair {
  int a, n;
  float b[2];
  double c;
  __device__ int sum() const { return a + n; }
  float3 v;
  const int *list;
  static const int most = 3;
};
typedef struct { char small; long long large; } plain;
struct other { int (*call)(int); };
__global__ void take(double *x, pair p) { x[0] = p.sum(); x[1] = p.b[1]; x[2] = p.c + p.v.z; x[3] = p.list[1]; }
__global__ void more(double *x, const plain p) { x[0] = p.small; x[1] = (double)p.large; }
__global__ void never(double *x, other o) { x[0] = o.call(1); }]]

describe("a struct by value", function()
  local dev, m, x, list
  setup(function()
    dev = mw.device "cpu"
    m = dev:module { source = SOURCE }
    x, list = dev:zeros("f64", 4), dev:array("i32", { 5, 6 })
  end)
  teardown(function() dev, m, x, list = nil, nil, nil, nil end)

  local function given(changes)
    local p = { a = 1, n = 2, b = { 3, 4 }, c = 0.5, v = { 1, 2, 3 }, list = list }
    for key, value in pairs(changes or {}) do p[key] = value ~= "gone" and value or nil end
    return p
  end

  local function refused(message, kernel, value)
    local ok, problem = pcall(m[kernel].launch, m[kernel], 1, 1, x, value)
    assert.is_false(ok)
    assert.is_truthy(problem.text:find(message, 1, true), problem.text)
  end

  it("takes a table by its members", function()
    m.take:launch(1, 1, x, given())
    assert.are.same({ 3, 4, 3.5, 6 }, x:totable())
    local go = m.more:prepare { grid = 1, block = 1 }
    go(x, { small = -3, large = 1 << 40 })
    assert.are.equal(-3, x:get(1))
    assert.are.equal(2.0 ^ 40, x:get(2))
  end)

  it("says what does not fit", function()
    refused("kernel 'take', parameter 2 'p' is pair: member 'c': it is missing", "take", given { c = "gone" })
    refused("member 'b': a table of 2 numbers expected", "take", given { b = { 1 } })
    refused("member 'a': ", "take", given { a = 1.5 })
    refused("member 'list': an array expected (mw.null is the null pointer)", "take", given { list = 3 })
    refused("the table has 7 members, the struct 6", "take", given { d = 1 })
    refused("a table by the struct's members, or a string of 48 bytes expected, got number", "take", 3)
    refused("its members are not known from the source, so a string of bytes is wanted (string.pack)", "never",
      { call = mw.null })
  end)
end)
