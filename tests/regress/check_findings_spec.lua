-- SPDX-License-Identifier: MIT
--
-- What a finding of check mode says: both accesses with their lines, one finding for one mistake, an entry for each
-- access outside memory.
-- luacheck: std +busted

local support = require "tests.support"
local findings = require "moonwarp.measure.findings"
local lists = require "moonwarp.base.lists"
local session = require "moonwarp.session"
local mw = support.mw

describe("a finding", function()
  session.current.settle_findings = function() end -- the mistakes are wanted: they fail no run
  local dev = mw.device("cpu", { check = true })

  -- What a kernel f of a block of 64 threads makes: new findings, and the error.
  local function found(source, a, ...)
    local before = findings.counts()
    local m <close> = dev:module { source = source, name = "k.cu" }
    local _, message = pcall(m.f.launch, m.f, 1, 64, a, ...)
    return findings.since(before), message and message.text
  end

  local function of_body(body, dtype, ...)
    local a <close> = dev:zeros(dtype or "i32", 128)
    local types = { i32 = "int", f32 = "float", u64 = "unsigned long long" }
    return found(("__global__ void f(%s *a, int n) {\n%s\n}"):format(types[dtype or "i32"], body), a, 0, ...)
  end

  local function lines(one)
    return table.concat(lists.map(one.parties, function(p)
      return ("%s %s:%d %s"):format(p.verb, p.file, p.line, p.text)
    end), "; ")
  end

  -- Lua's format has columns of at most 99 bytes: the finding was lost, with "invalid conversion".
  it("is told of a file with a long path, in columns by letters", function()
    local before, folder = findings.counts(), ("ö"):rep(60) .. "/"
    local m <close> = dev:module { name = folder:rep(2) .. "k.cu", source = [[
      __global__ void f(int *a) {
        a[0] = a[threadIdx.x];
      }]] }
    local a <close> = dev:zeros("i32", 64)
    m.f:launch(1, 64, a)
    local list = findings.since(before)
    assert.are.equal(1, #list)
    local place = folder:rep(2) .. "k.cu:2"
    local told = tostring(findings.grouped(list)[1])
    assert.is_truthy(told:find(place .. "  a[0] = a[threadIdx.x];", 1, true), told)
  end)

  -- It was told as "all have written the same value".
  it("of volatile writes of different values says that volatile orders nothing", function()
    local list = of_body("volatile int *v = a;\nv[0] = threadIdx.x;")
    assert.are.equal(1, #list)
    assert.are.equal("volatile orders nothing", list[1].remark)
  end)

  for _, atomic in ipairs { "atomicAdd(a, 1)", "atomicExch(a, 1)", "atomicCAS(a, 0, 1)", "atomicMin(a, 1)" } do
    it("has the line of an access by " .. atomic, function()
      local list = of_body(("if (threadIdx.x == 0)\n%s;\nif (threadIdx.x == 40)\na[1] = a[0];"):format(atomic))
      assert.are.equal(1, #list)
      assert.are.equal(("read k.cu:5 a[1] = a[0];; atomic k.cu:3 %s;"):format(atomic), lines(list[1]))
      list = of_body(("if (threadIdx.x == 0)\na[1] = a[0];\nif (threadIdx.x == 40)\n%s;"):format(atomic))
      assert.are.equal(("atomic k.cu:5 %s;; read k.cu:3 a[1] = a[0];"):format(atomic), lines(list[1]))
    end)
  end

  it("has the line of a plain write that the same thread went on with by atomics", function()
    local list = of_body("if (threadIdx.x == 0)\na[0] = 1;\nif (threadIdx.x == 0)\natomicAdd(a, 1);\n"
      .. "if (threadIdx.x == 40)\na[1] = a[0];")
    assert.are.equal("read k.cu:7 a[1] = a[0];; write k.cu:3 a[0] = 1;", lines(list[1]))
  end)

  -- Uninitialised and a race of the same read were two findings.
  for _, case in ipairs {
    { "is one where a read comes before the write of another thread", "race in shared memory",
      "__shared__ int s[64];\ns[t] = t;\na[t] = s[63 - t];" },
    { "is one of two words", "race in shared memory", "__shared__ long long s[64];\ns[t] = t;\na[t] = s[63 - t];" },
    { "is two where some of what is read is never written", "uninitialised, race in shared memory",
      "__shared__ int s[65];\ns[t] = t;\na[t] = s[64 - t];" },
    { "is two where the write races with another read, after a barrier", "uninitialised, race in shared memory",
      "__shared__ int s[64];\na[t] = s[63 - t];\n__syncthreads();\ns[t] = t;\na[t] = s[63 - t];" },
    { "is uninitialised where the next block writes it", "uninitialised",
      "__shared__ int s[64];\nif (blockIdx.x == 0) a[t] = s[63 - t]; else s[t] = t;", 2 },
  } do
    it(case[1], function()
      local before = findings.counts()
      local source = "__global__ void f(int *a) {\nint t = threadIdx.x;\n" .. case[3] .. "\n}"
      local m <close> = dev:module { source = source }
      local a <close> = dev:zeros("i32", 64)
      m.f:launch(case[4] or 1, 64, a)
      local kinds = lists.map(findings.since(before), function(one) return one.kind end)
      assert.are.equal(case[2], table.concat(kinds, ", "))
    end)
  end

  it("has no wrong line in a kernel of more accesses than the checker remembers", function()
    local body, without = { "int t = threadIdx.x, sum = 0;" }, 0
    for i = 1, 140 do
      body[1 + i] = ("a[%d + t] = t;"):format(64 * i)
      body[141 + i] = ("sum += a[%d + (t ^ 1)];"):format(64 * i)
    end
    local a <close> = dev:zeros("i32", 64 * 141)
    local list = found("__global__ void f(int *a) {\n" .. table.concat(body, "\n") .. "\na[t] = sum;\n}", a)
    assert.is_true(#list >= 140)
    for _, one in ipairs(list) do
      assert.are.same({ "race in global memory", 2 }, { one.kind, #one.parties })
      for _, party in ipairs(one.parties) do
        local line = one.memory.index // 64 + (party.verb == "write" and 2 or 142)
        if party.line then assert.are.same({ line, body[line - 1] }, { party.line, party.text }) end
        without = without + (party.line and 0 or 1)
      end
      assert.is_truthy(one.parties[1].line)
    end
    assert.is_true(without > 0)
  end)

  it("has both lines in a module of many accesses", function()
    local many = {}
    for i = 1, 300 do
      many[i] = ("__global__ void g%d(int *a) { a[threadIdx.x] = a[threadIdx.x] + %d; }\n"):format(i, i)
    end
    local m <close> = dev:module { name = "k.cu", source = table.concat(many)
      .. "__global__ void f(int *a) {\na[threadIdx.x] = 1;\na[64] = a[63 - threadIdx.x];\n}" }
    local a <close> = dev:zeros("i32", 65)
    for i = 1, 300 do m["g" .. i]:launch(1, 64, a) end
    local before = findings.counts()
    m.f:launch(1, 64, a)
    for _, one in ipairs(findings.since(before)) do
      assert.are.equal(2, #one.parties)
      assert.is_not_nil(one.parties[2].line)
    end
  end)

  it("is there for every access outside memory that ends a launch", function()
    local far = 1 << 33
    for _, case in ipairs {
      { "a[n + 128] = 1;", "write", "just past the end of parameter 1 'a'" },
      { "n = a[-1]; a[0] = n;", "read", "4 bytes before the start of parameter 1 'a'" },
      { ("a[n - %dll] = 1;"):format(far), "write", "before the start of parameter 1 'a'" },
      { ("n = a[n + %dll]; a[0] = n;"):format(far), "read", "past the end of parameter 1 'a'" },
      { "((int *)0)[n] = 1;", "write", "a null pointer, address 0x0" },
      { "*(int *)((size_t)n + (1ull << 60)) = 1;", "access", "an address that no memory can have" },
    } do
      local list, message = of_body(case[1])
      assert.is_not_nil(message, case[1])
      assert.are.equal(1, #list, case[1])
      assert.are.equal("bounds", list[1].kind)
      assert.is_truthy(list[1].object:find(case[3], 1, true), list[1].object)
      assert.are.equal(("%s k.cu:2 %s"):format(case[2], case[1]), lines(list[1]))
    end
  end)

  -- It ended the launch, though a GPU counts who arrives: HeCBench's moe-align runs there.
  it("has both barriers where all threads of a block wait at two, and the kernel goes on", function()
    local source = ("__global__ void f(int *a) {\nint n, m;\n%s\na[threadIdx.x] = 100 * n + m;\n}"):format(
      "if (threadIdx.x < 40) {\nn = __syncthreads_count(threadIdx.x % 2);\nm = __syncthreads_and(1);\n"
        .. "} else {\nn = __syncthreads_count(1);\nm = __syncthreads_and(threadIdx.x < 64);\n}")
    local a <close> = dev:zeros("i32", 64)
    local list, message = found(source, a)
    assert.is_nil(message)
    assert.are.same({ "barrier", "barrier" }, lists.map(list, function(one) return one.kind end))
    assert.are.equal("wait k.cu:4 n = __syncthreads_count(threadIdx.x % 2);; wait k.cu:7 n = __syncthreads_count(1);",
      lines(list[1]))
    assert.are.equal("wait k.cu:5 m = __syncthreads_and(1);; wait k.cu:8 m = __syncthreads_and(threadIdx.x < 64);",
      lines(list[2]))
    assert.are.equal("__syncthreads_count", list[1].object)
    assert.are.equal("a GPU counts arrivals and may go on", list[1].remark)
    for i = 1, 64 do assert.are.equal(100 * (20 + 24) + 1, a:get(i)) end
  end)

  it("has no such remark where the barriers are not of one name, which ends the launch", function()
    local list, message = of_body "if (threadIdx.x < 40) __syncthreads();\nelse a[0] = __syncthreads_or(1);"
    assert.is_truthy(message:find("waits at k.cu:3 (__syncthreads_or)", 1, true), message)
    assert.is_nil(message:find("arrivals", 1, true), message)
    assert.are.same({ 1, "barrier" }, { #list, list[1].kind })
    assert.is_nil(list[1].remark)
  end)

  it("names a closed array", function()
    local x = dev:zeros("f32", 1 << 16)
    local rows <close> = dev:array("u64", { x:address() })
    x:close()
    local list, message = found("__global__ void f(float **rows) { rows[0][threadIdx.x + 3] = 1.0f; }", rows)
    assert.is_truthy(message:find("byte 12 of a closed array of 262144 bytes", 1, true), message)
    assert.are.equal("bounds: byte 12 of a closed array of 262144 bytes", list[1].kind .. ": " .. list[1].object)
  end)

  it("is one for an index out of its bounds", function()
    for _, body in ipairs {
      "__shared__ int s[64];\ns[threadIdx.x + 1] = 1;\n__syncthreads();\na[threadIdx.x] = s[63 - threadIdx.x];",
      "__shared__ int s[64], t[64];\nt[threadIdx.x] = 0;\ns[threadIdx.x + 1] = 1;\na[threadIdx.x] = t[threadIdx.x];",
      "__shared__ int s[64];\ns[threadIdx.x] = 1;\n__syncthreads();\na[threadIdx.x] = s[threadIdx.x + 1];",
      "volatile int s[8];\nfor (int i = 0; i < n + 40; i++) s[i] = 1;\na[threadIdx.x] = s[threadIdx.x % 8];",
    } do
      local list = lists.map(of_body(body), function(one) return one.kind ~= "uninitialised" and one.kind or nil end)
      assert.are.equal("index", table.concat(list, " "), body)
    end
  end)

  it("of an index does not hide a race at its line", function()
    local list = of_body("__shared__ int s[64];\ns[threadIdx.x] = 1;\na[threadIdx.x] = s[threadIdx.x + 1];")
    local kinds = lists.map(list, function(one) return one.kind end)
    table.sort(kinds)
    assert.are.same({ "index", "race in shared memory" }, { kinds[1], kinds[2] })
    for _, one in ipairs(list) do assert.is_true(one.kind ~= "index" or one.parties[1].verb == "access") end
  end)

  it("says of writes that race whether all have written the same value", function()
    local function remark(body) return of_body(body)[1].remark end
    assert.are.equal("all have written the same value", remark "a[0] = 5;")
    assert.is_nil(remark "a[0] = threadIdx.x / 63;") -- the last one writes another
    assert.is_nil(remark "if (threadIdx.x) a[0] = 5; else a[1] = a[0];")
    local a <close> = dev:zeros("i32", 128)
    local source = "__global__ void f(int *a, int n) { a[0] = threadIdx.x / n; }"
    local m <close> = dev:module { name = "k.cu", source = source }
    local before = findings.counts()
    m.f:launch(1, 64, a, 64)
    assert.are.equal("all have written the same value", findings.since(before)[1].remark)
    m.f:launch(1, 64, a, 32)
    assert.is_nil(findings.since(before)[1].remark)
  end)

  it("is one for a line of which the compiler makes several", function()
    local a <close> = dev:zeros("i32", 128)
    local list = found([[
template <int N> __device__ void sum(int *s) {
  if (threadIdx.x < N) s[threadIdx.x] += s[threadIdx.x + N];
  if constexpr (N > 1) sum<N / 2>(s);
}
__global__ void f(int *a, int n) { sum<32>(a); }]], a, 0)
    assert.are.equal(1, #list)
    assert.are.equal(57, list[1].count)
  end)

  it("is the same when the module is compiled again, another in another source", function()
    local a <close> = dev:zeros("i32", 128)
    local before = #dev:findings()
    for _ = 1, 3 do
      found("__global__ void f(int *a) { a[0] = 7; }", a)
      assert.are.equal(before + 1, #dev:findings())
    end
    local last = dev:findings()[before + 1]
    assert.are.equal(3 * 63, last.count)
    found("__global__ void f(int *a) { a[0] = 8; }", a)
    assert.are.equal(before + 2, #dev:findings())
  end)

  -- clang++ passes them as numbers of 24 and 48 bits, and a run of bit-fields is one number: it calls no hook for them.
  for name, case in pairs {
    ["a uchar3"] = { "uchar3 v", "v.x + v.y", "make_uchar3(1, 2, 3)", 3 },
    ["a short3"] = { "short3 v", "v.x + v.z", "make_short3(1, 2, 3)", 6 },
    ["a class of 5 bytes"] = { "Five v", "v.at[4]", "Five{{1, 2, 3, 4, 5}}", 5 },
    ["three bit-fields of a word"] = { "Three v", "v.b", "Three{1, 2, 3}", 12 },
  } do
    it("is told of " .. name .. " by value", function()
      local a <close> = dev:zeros("i32", 64)
      local list, message = found(([[
struct Five { unsigned char at[5]; };
struct Three { unsigned a : 32, b : 32, c : 32; };
__device__ int value(%s) { return %s; }
__global__ void f(int *a) {
  __shared__ decltype(%s) s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = %s;
  __syncthreads();
  if (threadIdx.x == 0) s[0] = %s;
  if (threadIdx.x == 40) a[0] = value(s[0]);
}]]):format(case[1], case[2], case[3], case[3], case[3]), a)
      assert.is_nil(message)
      assert.are.equal(1, #list)
      local one = list[1]
      assert.are.same({ "race in shared memory", 8 }, { one.kind, one.parties[2].line }) -- g++ has no line of the copy
    end)
  end

  -- To write one clang++ loads those beside it, which was told as a read; of a += 1 it is one.
  it("is none of a bit-field that is written first", function()
    local body = { "const int t = threadIdx.x;" }
    for _, width in ipairs { 4, 12, 20, 24, 32 } do
      body[#body + 1] = ("__shared__ struct { unsigned a : %d, b : 8; } s%d[64];\ns%d[t].a = 1;\ns%d[t].b = 2;\n"
        .. "a[t] += s%d[t].a;"):format(width, width, width, width, width)
    end
    assert.are.same({}, of_body(table.concat(body, "\n")))
    local list = of_body("__shared__ struct { unsigned a : 20, b : 8; } s[64];\ns[threadIdx.x].a += n;")
    assert.are.equal("uninitialised", list[1].kind)
  end)

  -- In a template `n * M` was taken for the declaration of a pointer M: "no matching function for call to 'mw_at'".
  it("is none of a product, which is no pointer", function()
    local m <close> = dev:module { templates = { "f<4>" }, source = [[
__device__ int same(int n) { return n; }
template <int M> __global__ void f(int *s) {
  int n = 1;
  const int list[] = {n * M, n * (M + 1)};
  int sized[2 * (M + 1)];
  sized[0] = list[0] + list[1];
  s[(n * M + n) * 1] = n * (M + 1);
  s[same(n * M)] = sized[0] * (M + 1);
}]] }
    local s <close> = dev:zeros("i32", 8)
    m:kernel "f<4>":launch(1, 1, s)
    assert.are.same({ 0, 0, 0, 0, 45, 5, 0, 0 }, s:totable())
  end)

  -- Of parameters only the first was taken for a pointer, and none whose class stands in a namespace.
  for name, case in pairs {
    ["a pointer after a comma"] = { "float4", "*to = *from;" },
    ["a pointer to a class in a namespace"] = { "lab::four", "lab::four v = from[0]; to->x = v.x;" },
    ["a pointer that steps on"] = { "float4", "float4 v = *from++; to->x = v.x;" },
  } do
    it("is told of a misaligned vector by " .. name, function()
      local a <close> = dev:zeros("f32", 128)
      local list = found(([[
namespace lab { struct alignas(16) four { float x, y, z, w; }; }
__device__ void copy(float4 *to, const %s *from) { %s }
__global__ void f(float *a) { if (threadIdx.x == 0) copy((float4 *)a, (const %s *)(a + 5)); }]]):format(
        case[1], case[2], case[1]), a)
      assert.are.equal("misaligned", list[1] and list[1].kind)
    end)
  end

  -- The & after a cast was taken for that of two operands.
  it("is told of an array's element that has no value where a cast takes its address", function()
    local list = of_body("int v[4];\n*(int2 *)&v[0] = make_int2(1, 2);\n"
      .. "a[threadIdx.x] = v[threadIdx.x % 2 + 2];")
    assert.are.equal("uninitialised", list[1] and list[1].kind)
  end)

  -- What a race of two lines is about: b[0] = 1 by all threads.
  local MEMORY <const> = {
    { "int *b = a + n;", "parameter 1 'a', index 0", { kind = "array", name = "a", parameter = 1, index = 0 } },
    { "int *b = a + n + 5;", "parameter 1 'a', index 5", { kind = "array", name = "a", parameter = 1, index = 5 } },
    { "__shared__ int s[64]; int *b = s + 3;", "shared variable 's', index 3",
      { kind = "shared", name = "s", index = 3 } },
    { "__shared__ int s[4], t[8], u; int *b = t + 3;", "shared variable 't', index 3",
      { kind = "shared", name = "t", index = 3 } },
    { "__shared__ int s[4], t[8], u; int *b = &u;", "shared variable 'u'", { kind = "shared", name = "u" } },
    { "__shared__ char before[7]; __shared__ int s[4][9]; int *b = &s[2][7];", "shared variable 's', index [2][7]",
      { kind = "shared", name = "s", index = 25 } },
    { "__shared__ struct { int x, y; } s[4]; int *b = &s[2].y;", "shared variable 's', index 2",
      { kind = "shared", name = "s", index = 2 } },
    { "int *b = of_helper();", "shared variable 'own', index 1", { kind = "shared", name = "own", index = 1 } },
    { "int *b = of_template<int, 6>();", "shared variable 'sized', index 5",
      { kind = "shared", name = "sized", index = 5 } },
    { "int *b = outer + 2;", "shared variable 'outer', index 2", { kind = "shared", name = "outer", index = 2 } },
    { "int *b = dynamic + 2;", "byte 8 of the 256 bytes of dynamic shared memory", { kind = "dynamic shared" } },
    { "int *b = device + 2;", "device variable 'device', index 2", { kind = "variable", name = "device", index = 2 } },
  }
  local HEAD <const> = [[
extern __shared__ int dynamic[];
__shared__ int outer[4];
__device__ int device[4];
__device__ int *of_helper() { __shared__ int own[3]; return own + 1; }
template <class T, int N> __device__ T *of_template() { __shared__ T sized[N]; return sized + N - 1; }
]]

  for i, case in ipairs(MEMORY) do
    it("names what it is about: " .. case[2], function()
      local a <close> = dev:zeros("i32", 64)
      local m <close> = dev:module { source = HEAD
        .. ("__global__ void memory%d(int *a, int n) {\n%s\n*b = threadIdx.x;\na[threadIdx.x] = n;\n}")
        :format(i, case[1]) }
      local before = findings.counts()
      m["memory" .. i]:prepare { grid = 1, block = 64, shared = 256 }(a, 0)
      local one = findings.since(before)[1]
      assert.are.equal(case[2], one.object)
      assert.are.same(case[3], setmetatable(one.memory, nil))
    end)
  end
end)
