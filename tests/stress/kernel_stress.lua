-- SPDX-License-Identifier: MIT
--
-- Kernels that misbehave on the CPU device, each in its own process: every one is an error of its launch or of
-- compiling, or runs, and after it the device runs other kernels. No process may end by a signal, hang, or go on
-- silently. A case is { name, what is expected, body of the kernel, before = declarations, go = how it is launched }.

local program = io.popen "readlink /proc/$PPID/exe":read "l"
local folder = io.popen "mktemp -d":read "l"

local FAULT, COMPILE, INVALID, RUNS, STOPS = "fault", "compile", "invalid", "runs", "interrupted"
local UNSUPPORTED = "unsupported"

-- The kernel is k(int *x, int n), with 1024 elements and n = 1000; `go` may use m, x, dev.
local child = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local x = dev:zeros("i32", 1024)
local function ctrl_c() os.execute "(sleep 1; kill -INT $PPID) >/dev/null 2>&1 &" end
local ok, problem = pcall(function()
  local m <close> = dev:module { engine = %q, source = %q }
  %s
  dev:synchronize()
end)
print(ok and "OUTCOME runs" or "OUTCOME " .. tostring(mw.type(problem) == "error" and problem.status or "raised"))
print("MESSAGE " .. tostring(problem):gsub("\n.*", ""))
local m <close> = dev:module { source = "__global__ void two(int *x) { x[threadIdx.x] = 2; }" }
local y <close> = dev:zeros("i32", 32)
m.two:launch(1, 32, y)
assert(y:get(32) == 2)
print "ALIVE"
]]

-- ---- the cases ----------------------------------------------------------------------------------

local LOOP = "ctrl_c() m.k:launch(2, 32, x, 1000)"
local both = { -- in the engine that is chosen and in fibers
  -- outside of arrays
  { "store past the end", FAULT, "x[1024] = 1;" },
  { "store one before", FAULT, "x[-1] = 1;" },
  { "store far past the end", FAULT, "x[1 << 20] = 1;" },
  { "store far before", FAULT, "x[-(1 << 20)] = 1;" },
  { "store by one thread", FAULT, "if (blockIdx.x == 1 && threadIdx.x == 31) x[1 << 22] = 1;" },
  { "load past the end", FAULT, "x[0] = x[4096 + threadIdx.x];" },
  { "load by a wild index", FAULT, "x[0] = x[x[threadIdx.x] + 0x7ffffff0];" },
  { "index by an overflow", FAULT, "x[n * n * n * 100] = 1;" },
  { "null pointer", FAULT, "int *p = (int *)(size_t)(n - 1000); p[threadIdx.x] = 1;" },
  { "null argument", FAULT, "x[threadIdx.x] = 1;", go = "m.k:launch(1, 32, mw.null, 1)" },
  { "small address", FAULT, "*(int *)(size_t)n = 1;" },
  { "address that none can have", FAULT, "*(int *)0x1234567890abcdefull = n;" },
  { "address of the kernel's space", FAULT, "*(int *)0xffffffff80000000ull = n;" },
  { "address of the pointer itself", { FAULT, RUNS }, "int **p = &x; p[1 << 22] = x;" },
  { "misaligned vector", FAULT, "struct alignas(64) v { int a[16]; }; *(v *)0xfff1ull = v();" },
  { "memset too long", FAULT, "memset(x, 0, 1 << 20);" },
  { "memcpy from nowhere", FAULT, "memcpy(x, (void *)64, 4096);" },
  { "atomic outside", FAULT, "atomicAdd(x + (1 << 20), 1);" },
  { "atomic on null", FAULT, "atomicAdd((int *)nullptr, n);" },
  -- local arrays and the stack
  { "local array", FAULT, "int a[16]; for (int i = 0; i < n; i++) a[i] = i; x[0] = a[n & 15];" },
  { "local array far", FAULT, "int a[16]; for (int i = 0; i < 100000 * n; i++) a[i] = i; x[0] = a[n & 15];" },
  { "local array before", FAULT, "int a[16]; for (int i = 0; i < 100000 * n; i++) a[-i] = i; x[0] = a[n & 15];" },
  { "huge local array", FAULT, "volatile int a[1 << 24]; for (int i = 0; i < n; i++) a[i * 1000] = i; x[0] = a[n];" },
  { "huge frame of a call", FAULT, "x[0] = deep(n);",
    before = "__device__ __noinline__ int deep(int n) { volatile int a[1 << 23]; a[0] = n; return a[n]; }" },
  { "recursion without end", FAULT, "x[0] = f(n);",
    before = "__device__ int f(int n) { volatile int a[8]; a[0] = n; return f(n + 1) + a[0]; }" },
  { "mutual recursion", FAULT, "x[0] = f(n);",
    before = [[__device__ int g(int n); __device__ int f(int n) { volatile int a = n; return g(n + 1) + a; }
      __device__ int g(int n) { volatile int a = n; return f(n + 1) * a; }]] },
  { "alloca", FAULT, "volatile char *p = (volatile char *)__builtin_alloca(n << 20); p[0] = 1; x[0] = p[n];" },
  { "array of variable length", FAULT, "volatile int a[n << 16]; a[0] = 1; x[0] = a[n];", any = true },
  { "local address kept", RUNS, "int a[4] = {n}; kept = a; x[0] = *kept;", before = "__device__ int *kept;" },
  -- shared memory
  { "static shared past the end", FAULT,
    "__shared__ int s[32]; s[n * 1000 + threadIdx.x] = 1; __syncthreads(); x[0] = s[0];" },
  { "static shared before", { FAULT, RUNS }, "__shared__ int s[32]; s[-n * 1000] = 1; __syncthreads(); x[0] = s[0];" },
  { "dynamic shared past the end", FAULT,
    "extern __shared__ int s[]; s[32 + threadIdx.x] = 1; __syncthreads(); x[0] = s[0];",
    go = "m.k:prepare { grid = 1, block = 32, shared = 128 }(x, 1)" },
  { "dynamic shared not asked for", FAULT,
    "extern __shared__ int s[]; s[threadIdx.x] = 1; __syncthreads(); x[0] = s[0];" },
  { "dynamic shared too large", INVALID,
    "x[0] = 1;", go = "m.k:prepare { grid = 1, block = 32, shared = 1 << 29 }(x, 1)" },
  { "static shared too large", { INVALID, COMPILE, FAULT },
    "__shared__ int s[1 << 20]; s[threadIdx.x] = 1; __syncthreads(); x[0] = s[n];" },
  -- device variables
  { "variable past the end", FAULT, "table[n * 1000] = 1;", before = "__device__ int table[32];" },
  { "variable before", FAULT, "table[-n * 1000] = 1;", before = "__device__ int table[32];" },
  { "constant written", { FAULT, RUNS }, "((int *)c)[threadIdx.x] = 1;", before = "__constant__ int c[32] = {1};" },
  { "literal written", FAULT, "((char *)\"text\")[threadIdx.x & 3] = 'x';", any = true },
  { "code written", { FAULT, COMPILE, RUNS }, "((char *)(size_t)&f)[0] = 1;",
    before = "__device__ __noinline__ int f(int n) { return n + 1; }" },
  -- jumps
  { "null function", FAULT, "x[0] = ((int (*)(int))(size_t)(n - 1000))(1);" },
  { "wild function", FAULT, "x[0] = ((int (*)(int))0xdeadbeef000ull)(n);" },
  { "function in data", FAULT, "x[0] = ((int (*)(int))(size_t)x)(n);" },
  { "function of no address", FAULT, "x[0] = ((int (*)(int))0x1234567890abcdefull)(n);" },
  { "return address written", { FAULT, RUNS }, "x[0] = smash(n);", before =
    "__device__ __noinline__ int smash(int) { volatile long a[2]; for (int i = 0; i < 8;) a[i++] = 8; return a[0]; }" },
  -- arithmetic
  { "division by zero", { FAULT, RUNS }, "x[threadIdx.x] = n / (n - 1000);" },
  { "remainder by zero", { FAULT, RUNS }, "x[threadIdx.x] = n % x[threadIdx.x];" },
  { "least integer by -1", { FAULT, RUNS }, "x[threadIdx.x] = (int)(0x80000000u + n - 1000) / (n - 1001);" },
  { "64-bit division by zero", { FAULT, RUNS }, "x[0] = (int)((1ll << 40) / (n - 1000));" },
  { "floats by zero", RUNS, "x[threadIdx.x] = (int)(1.0f / (n - 1000));" },
  { "shift too far", RUNS, "x[threadIdx.x] = 1 << n;" },
  { "float to int out of range", RUNS, "x[threadIdx.x] = (int)(1e30f * n);" },
  -- ends
  { "__trap", FAULT, "if (threadIdx.x == 3) __trap();" },
  { "__builtin_trap", FAULT, "if (threadIdx.x == 3) __builtin_trap();" },
  { "__builtin_abort", FAULT, "if (threadIdx.x == 3) __builtin_abort();" },
  { "abort", FAULT, "if (threadIdx.x == 3) abort();", before = "#include <stdlib.h>" },
  { "exit", FAULT, "if (threadIdx.x == 3) exit(0);", before = "#include <cstdlib>" },
  { "assert", FAULT, "assert(threadIdx.x != 3);" },
  { "breakpoint", { FAULT, RUNS, COMPILE }, "if (n == 1000) __builtin_debugtrap();" },
  { "unreachable", { FAULT, RUNS }, "if (n == 1000) __builtin_unreachable(); x[0] = 1;" },
  { "end without a value", { FAULT, RUNS }, "x[0] = f(n);",
    before = "__device__ __noinline__ int f(int n) { if (n < 1000) return 1; }" },
  { "pure virtual", { COMPILE, FAULT },
    "b *p = (b *)x; x[0] = p->f();", before = "struct b { virtual __device__ int f() = 0; };" },
  { "inline assembly", "unsupported", "asm(\"ud2\");" },
  -- functions of the host
  { "raise", COMPILE, "x[0] = raise(9);", before = "extern \"C\" __device__ int raise(int);" },
  { "kill", COMPILE, "x[0] = kill(0, 9);", before = "extern \"C\" __device__ int kill(int, int);" },
  { "sleep", COMPILE, "x[0] = sleep(1000);", before = "extern \"C\" __device__ int sleep(int);" },
  { "syscall", COMPILE, "x[0] = syscall(60, 3);", before = "extern \"C\" __device__ int syscall(long, ...);" },
  { "fork", COMPILE, "x[0] = fork();", before = "extern \"C\" __device__ int fork();" },
  { "longjmp", COMPILE, "__builtin_longjmp((void **)x, 1);", any = true },
  { "throw", COMPILE, "if (n == 1000) throw 1;" },
  { "new", UNSUPPORTED, "int *p = new int[n]; p[0] = 1; x[0] = p[n - 1000];" },
  { "malloc", COMPILE, "int *p = (int *)malloc(n); p[0] = 1; x[0] = p[0];" },
  -- code while the module loads
  { "initialiser that faults", COMPILE,
    "x[0] = a;", before = "__device__ int f() { return *(volatile int *)8; } __device__ int a = f();" },
  { "initialiser that loops", COMPILE, "x[0] = a;",
    before = "__device__ int f() { volatile int go = 1; while (go); return 1; } __device__ int a = f();" },
  { "constructor of an object", COMPILE, "x[0] = s.x;",
    before = "struct S { int x; __device__ S() { x = *(volatile int *)8; } }; __device__ S s;" },
  -- without a caller these are left out of the device code
  { "constructor attribute", RUNS, "x[0] = 1;",
    before = "__attribute__((constructor, used)) static __device__ void f() { while (1); }" },
  { "destructor attribute", RUNS, "x[0] = 1;",
    before = "__attribute__((destructor, used)) static __device__ void f() { *(volatile int *)8 = 1; }" },
  { "constructor attribute, called", COMPILE, "if (n < 0) f();",
    before = "__attribute__((constructor, used)) static __device__ void f() { while (1); }" },
  -- barriers
  { "barrier of half a block", { FAULT, RUNS }, "if (threadIdx.x < 16) __syncthreads(); x[0] = 1;" },
  { "two barriers", FAULT, "if (threadIdx.x < 16) __syncthreads();\nelse __syncthreads();\nx[0] = 1;" },
  { "barrier in a divergent loop", { FAULT, RUNS },
    "for (int i = 0; i < threadIdx.x; i++) __syncthreads(); x[0] = 1;" },
  { "named barrier that no one joins", FAULT, "if (threadIdx.x < 3) __barrier_sync_count(1, 64);", any = true },
  { "shuffle of half a warp", { FAULT, RUNS }, "if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(~0u, 1, 3);" },
  { "mask without the caller", { FAULT, RUNS }, "x[threadIdx.x] = __shfl_sync(1u, (int)threadIdx.x, 0);" },
  { "ballot of two places", { FAULT, RUNS },
    "if (threadIdx.x & 1) x[0] = __ballot_sync(~0u, 1);\nelse x[1] = __any_sync(~0u, 1);" },
  -- loops without end
  { "loop", STOPS, "volatile int go = 1; while (go); x[0] = 1;", go = LOOP },
  { "wait for a flag", STOPS, "while (((volatile int *)x)[5] == 0); x[0] = 1;", go = LOOP },
  { "wait for an atomic", STOPS, "while (atomicAdd(x, 0) == 0); x[1] = 1;", go = LOOP },
  { "lock held for ever", STOPS, "while (atomicCAS(x, 0, 1) != 0); x[1] = 1;", go = LOOP },
  { "loop around a barrier", STOPS,
    "__shared__ volatile int s; s = 1; while (s) __syncthreads(); x[0] = 1;", go = LOOP },
  { "one thread loops", STOPS,
    "volatile int go = 1; if (threadIdx.x == 3) while (go); __syncthreads(); x[0] = 1;", go = LOOP },
  { "slow grid", STOPS, "volatile int s = 0; for (int i = 0; i < 1000000; i++) s += i; x[0] = s;",
    go = "ctrl_c() m.k:launch(1 << 30, 32, x, 1000)" },
}

local once = {
  { "cooperative and too large", { INVALID, "unsupported", FAULT }, "x[0] = 1;",
    go = "m.k:prepare { grid = 1 << 20, block = 32, cooperative = true }(x, 1)" },
  { "1025 parameters", INVALID, "x[0] = 1;", before = "__global__ void p(" .. ("int, "):rep(1024) .. "int) {}" },
  -- printing
  { "printf flood", RUNS, "for (int i = 0; i < 2000; i++) printf(\"%d %d\\n\", i, n);" },
  { "printf of a bad string", FAULT, "printf((const char *)(size_t)n, 1);" },
  { "printf %s of a bad string", FAULT, "printf(\"%s\\n\", (const char *)(size_t)n);" },
  { "printf %n", { FAULT, RUNS, COMPILE }, "printf(\"%n\\n\", x);" },
  { "printf without arguments", { FAULT, RUNS }, "printf(\"%s %s %s %d\\n\");" },
  { "printf of a wide field", RUNS, "printf(\"%1000000d\\n\", n);" },
  -- grids
  { "grid barrier without cooperation", FAULT, "cooperative_groups::this_grid().sync(); x[0] = 1;",
    before = "#include <cooperative_groups.h>" },
  { "waits for a later block", STOPS, "if (blockIdx.x == 0) while (((volatile int *)x)[9] == 0); x[9] = 1;",
    go = "ctrl_c() m.k:launch(1000, 32, x, 1)", any = true },
  { "faults in a stream", FAULT, "x[1 << 20] = 1;",
    go = "local s = dev:stream() m.k:prepare { grid = 64, block = 64, stream = s }(x, 1) s:synchronize()" },
  { "faults in many streams", FAULT, "x[1 << 20] = 1;", go = [[local go = {}
      for i = 1, 8 do m.k:prepare { grid = 64, block = 64, stream = dev:stream() }(x, 1) end]] },
  { "faults in many blocks", FAULT, "x[1 << 20] = 1;", go = "m.k:launch(4096, 256, x, 1)" },
  { "faults again and again", FAULT, "x[1 << 20] = 1;", go = [[
      for i = 1, 50 do pcall(function() m.k:launch(2, 32, x, 1) dev:synchronize() end) end m.k:launch(2, 32, x, 1)]] },
}

-- ---- running ------------------------------------------------------------------------------------

local function is_expected(case, outcome)
  if case.any and outcome ~= "?" then return true end
  local wanted = type(case[2]) == "table" and case[2] or { case[2] }
  for _, one in ipairs(wanted) do
    if one == outcome then return true end
  end
  return false
end

local counts, failed = {}, 0

local function run(case, engine)
  local source = (case.before or "") .. "\n__global__ void k(int *x, int n) { " .. case[3] .. " }\n"
  local script, log = folder .. "/case.lua", folder .. "/log"
  local file = assert(io.open(script, "w"))
  file:write(child:format(engine, source, case.go or "m.k:launch(2, 32, x, 1000)"))
  file:close()
  local _, how, status = os.execute(("timeout -k 5 60 env --default-signal=INT '%s' run '%s' --out '%s' >'%s' 2>&1")
    :format(program, script, folder, log))
  file = assert(io.open(log))
  local text = file:read "a"
  file:close()
  local outcome = text:match "OUTCOME (%S+)" or "?"
  local message = text:match "MESSAGE ([^\n]*)" or ""
  if status == 130 and text:find("interrupted", 1, true) then outcome = STOPS end
  local alive = text:find("ALIVE", 1, true) and how == "exit" and status == 0 or outcome == STOPS
  counts[outcome] = (counts[outcome] or 0) + 1
  if os.getenv "VERBOSE" then print(("%-32s %-6s %-12s %s"):format(case[1], engine, outcome, message)) end
  if alive and is_expected(case, outcome) and (outcome == RUNS or outcome == STOPS or #message > 0) then return end
  failed = failed + 1
  print(("%s (%s): %s, %s %s\n  %s"):format(case[1], engine, outcome, how, status, text:sub(-400)))
end

for _, case in ipairs(both) do
  run(case, "auto")
  run(case, "fiber")
end
for _, case in ipairs(once) do run(case, "auto") end
os.execute(("rm -rf '%s'"):format(folder))

local total, words = 0, {}
for outcome, count in pairs(counts) do
  total = total + count
  words[#words + 1] = count .. " " .. outcome
end
table.sort(words)
print(("%d kernels: %s; %d not as expected"):format(total, table.concat(words, ", "), failed))
os.exit(failed == 0 and 0 or 1)
