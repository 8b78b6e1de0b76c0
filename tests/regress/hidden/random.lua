-- SPDX-License-Identifier: MIT
--
-- moonwarp run random.lua -- COUNT: random kernels of $SEED that hide from check mode, by the compiler in
-- $MOONWARP_CXX: a mistake, the place in which it stands, a word that could hide it there, and what the word is
-- disguised as. Each is found or refused; with no such word it is found; and with neither a mistake nor such a word it
-- runs. Prints those of which that is not so, and the sum.

local findings = require "moonwarp.measure.findings"
local mw = require "moonwarp"
local session = require "moonwarp.session"

session.current.settle_findings = function() end -- the mistakes are wanted: they fail no run

local seed = tonumber(os.getenv "SEED") or 1
math.randomseed(seed)
local compiler = (os.getenv "MOONWARP_CXX" or "clang++"):match "[^/]*$"
local count = tonumber(arg[1]) or 100
local dev = mw.device("cpu", { check = true })
local folder = os.tmpname() .. ".d"
os.execute(("mkdir '%s'"):format(folder))

-- Of int *a, 128 integers of which the first 64 are set, and int t, the thread's index of 64.
local MISTAKES <const> = {
  { "a race", "a[0] = t;" },
  { "a race of neighbours", "a[t] = a[63 - t] + 1;" },
  { "a sum", "a[t / 2] += t;" },
  { "a race of bytes", "((char *)a)[0] += t;" },
  { "a race of 64 bits", "((long long *)a)[0] += t;" },
  { "a copy", "memcpy(a, a + 16 + t % 8, 32);" },
  { "a value that nothing wrote", "a[t] = a[64 + t] + 1;" },
  { "past the end", "if (t == 63) a[128] = 1;" },
  { "before the start", "if (t == 1) a[-1] = 1;" },
  { "by an integer", "*(int *)((unsigned long)a + 4 * (t / 3)) = t;" },
  { "through a reference", "int &r = a[t >> 4]; r ^= t;" },
  { "by libm", "float c; sincosf(t, (float *)a, &c);" },
}
local RIGHT <const> = { "nothing", "a[t] = t;" }

-- $W: attributes; $M: the mistake.
local PLACES <const> = {
  { "a kernel", "", "$W", "$M" },
  { "a helper", "$W __device__ __noinline__ void help(int *a, int t) { $M }", "", "help(a, t);" },
  { "a template", "template <class T> $W __device__ void help(T *a, T t) { $M }", "", "help<int>(a, t);" },
  { "a method", "struct S { $W __device__ void help(int *a, int t) { $M } };", "", "S().help(a, t);" },
  { "a constructor", "struct S { $W __device__ S(int *a, int t) { $M } };", "", "S s(a, t);" },
  { "a destructor", "struct S { int *a, t; $W __device__ ~S() { $M } };", "", "S s{a, t};" },
  { "an operator", "struct S { int *a; $W __device__ void operator()(int t) { $M } };", "", "S{a}(t);" },
  { "a lambda", "", "", "auto help = [=]() $W { $M }; help();" },
  { "a lambda in a helper", "__device__ void help(int *a, int t) { [&]() $W { $M }(); }", "", "help(a, t);" },
  { "a pointer to a function", "$W __device__ void help(int *a, int t) { $M }", "",
    "void (*volatile f)(int *, int) = help; f(a, t);" },
  { "a namespace", "namespace n { namespace { $W __device__ void help(int *a, int t) { $M } } }", "",
    "n::help(a, t);" },
  { "recursion", "$W __device__ int help(int *a, int t, int n) { if (n) return help(a, t, n - 1); $M return 0; }", "",
    "help(a, t, 3);" },
}

local WORDS <const> = {
  'no_sanitize("thread")', 'no_sanitize("all")', '__no_sanitize__("thread")', 'no_sanitize("thread", "bounds")',
  "no_sanitize_thread", "__no_sanitize_thread__", "disable_sanitizer_instrumentation", "naked", "pure", "const",
  'target("avx2")', "no_instrument_function", 'section(".text.hide")', "weak", "no_sanitize_address",
}
local HARMLESS <const> = { "unused", "hot", "cold", "__unused__", "used", "nothrow" }

-- How the attribute is written, of the whole text with $W in it.
local DISGUISES <const> = {
  { "as it is", function(text, word) return text, ("__attribute__((%s))"):format(word) end },
  { "among others", function(text, word) return text, ("__attribute__((unused, %s, used))"):format(word) end },
  { "by a macro", function(text, word)
    return ("#define QUIET __attribute__((%s))\n"):format(word) .. text, "QUIET"
  end },
  { "by a macro with an argument", function(text, word)
    return "#define QUIET(x) __attribute__((x))\n" .. text, ("QUIET(%s)"):format(word)
  end },
  { "by a macro that pastes", function(text, word)
    local middle = #word // 2
    while not word:sub(middle, middle + 1):match "^%a%a$" do middle = middle - 1 end
    return ("#define JOIN(a, b) a##b\n#define QUIET __attribute__((JOIN(%s, %s)))\n"):format(word:sub(1, middle),
      word:sub(middle + 1)) .. text, "QUIET"
  end },
  { "behind a condition", function(text, word)
    return ("#ifdef __GNUC__\n#define QUIET __attribute__((%s))\n#else\n#define QUIET\n#endif\n"):format(word) .. text,
      "QUIET"
  end },
  { "over two lines", function(text, word) return text, ("__attri\\\nbute__((%s))"):format(word) end },
  { "in another list", function(text, word)
    return text, ("__attribute__((unused)) __attribute__((%s))"):format(word)
  end },
}

local function any(list) return list[math.random(#list)] end

local function source_of(mistake, place, word, disguise)
  local text = ("%s\n$K __global__ void f(int *a) { int t = threadIdx.x; %s }\n"):format(place[2], place[4])
  local body = text:gsub("%$M", function() return mistake[2] end)
  if not word then return (body:gsub("%$[WK]", "")) end
  local whole, written = disguise[2](body, word)
  return (whole:gsub("%$K", function() return place[3] end):gsub("%$W", function() return written end))
end

local number = 0

local function put(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

-- In one file, or with all but the kernel's line in a file that it includes; no word goes from one to the other.
local function module_of(source, apart)
  number = number + 1
  if not apart or source:find "\\\n[^\n]*__global__" then
    return dev:module { source = source, name = ("k%d.cu"):format(number), warnings = false }
  end
  local path = ("%s/k%d.cu"):format(folder, number)
  local head, kernel = source:match "^(.*\n)([^\n]*__global__ void f.*)$"
  put(("%s/h%d.h"):format(folder, number), head)
  put(path, ('#include "h%d.h"\n'):format(number) .. kernel)
  return dev:module { file = path, warnings = false }
end

local function run(source, apart)
  local m <close> = module_of(source, apart)
  local kernel = m.f
  local a <close> = dev:array("i32", 128)
  a:view(1, 64):fill(0)
  kernel:launch(1, 64, a)
end

-- "found", "refused" or "nothing", and the message.
local function outcome(source, apart)
  local before = findings.counts()
  local ok, problem = pcall(run, source, apart)
  for _, one in ipairs(findings.since(before)) do
    if not one.warning then return "found", one.kind end
  end
  return ok and "nothing" or "refused", tostring(problem)
end

local sums, wrong = { found = 0, refused = 0, nothing = 0 }, 0
local function judge(wanted, source, apart, how)
  local got, message = outcome(source, apart)
  sums[got] = sums[got] + 1
  if wanted[got] then return end
  wrong = wrong + 1
  print(("%s: %s, %s\n%s"):format(how, got, message:sub(1, 400), source))
end

for _ = 1, count do
  local mistake, place, word, disguise = any(MISTAKES), any(PLACES), any(WORDS), any(DISGUISES)
  local apart = math.random(3) == 1
  local how = table.concat({ mistake[1], "in " .. place[1], word, disguise[1] }, ", ")
  judge({ found = true }, source_of(mistake, place), apart, how .. ", without the word")
  judge({ found = true, refused = true }, source_of(mistake, place, word, disguise), apart, how)
  judge({ nothing = true }, source_of(RIGHT, place, any(HARMLESS), disguise), apart, how .. ", harmless")
end
os.execute(("rm -r '%s'"):format(folder))
print(("%d of %d not as wanted: %d found, %d refused, %d nothing (%s, SEED=%d)"):format(wrong, 3 * count, sums.found,
  sums.refused, sums.nothing, compiler, seed))
if wrong > 0 then os.exit(1) end
