-- SPDX-License-Identifier: MIT
--
-- Whether two texts of a kernel access memory alike and give the same results. A home of its own has check mode's hooks
-- with a digest of each thread's accesses in front: address, bytes, read or write, plain or atomic, and its fences, in
-- whatever order the compiler has put them between barriers. Left out: volatile reads and an atomic operation that
-- repeats the last access, since a wait has as many as it takes. A unit's digest is the sum over its threads. With one
-- worker and no random addresses a run has the same again.

local core = require "moonwarp.core"

local digest = {}

-- A unit may call nothing of the host and has no constructors: it keeps its digest in a file digest.N of the working
-- folder, which it maps by system calls of x86-64.
local NOTE <const> = [[
struct trace { const mw_thread *self; bits id, sum, last; };
static trace traces[1 << 13];
static bits *total;
static long call(long number, long a, long b, long c, long d, long e) {
  long result;
  register long r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = 0;
  asm volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
enum { OPEN = 2, MMAP = 9, TRUNCATE = 77, CREATE_READ_WRITE = 0302, SHARED_READ_WRITE = 3 };
static void map_total() {
  char path[] = "digest.00";
  long file;
  do {
    if (path[8]++ == '9') path[7]++, path[8] = '0';
    file = call(OPEN, (long)path, CREATE_READ_WRITE, 0600, 0, 0);
  } while (file == -17 && path[7] <= '9');
  call(TRUNCATE, file, sizeof *total, 0, 0, 0);
  total = (bits *)call(MMAP, 0, sizeof *total, SHARED_READ_WRITE, 1, file);
}
static bits mixed(bits a, bits b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15ull;
  return a ^ a >> 29;
}
static trace *trace_of(const mw_thread *self) {
  unsigned at = (unsigned)((pointer)self * 0x9E3779B97F4A7C15ull >> 51);
  while (traces[at].self && traces[at].self != self) at = (at + 1) & ((1 << 13) - 1);
  traces[at].self = self;
  return &traces[at];
}
static void add(pointer address, unsigned bytes, unsigned kind) {
  if (!total) map_total();
  trace *t = trace_of(mw_self);
  const bits id = mw_self->stamp >> MW_CELL_BLOCK << 10 | (mw_self->stamp >> MW_CELL_RANK & 0x3ff);
  if (t->id != id) *t = trace{mw_self, id, mixed(id, 2), 0};
  const bits one = mixed(address, bytes << 4 | kind), before = t->last ? mixed(t->sum, 1) : 0;
  if (one == t->last && kind & 4) return;
  t->last = one;
  t->sum += mixed(one, 3);
  *total += mixed(t->sum, 1) - before;
}
static void note(pointer address, unsigned bytes, unsigned kind) {
  const mw_cell *cell = cell_of(address);
  if (cell && (cell->write | cell->read) & 15) add(address, bytes, kind);
}
static void noted_atomic(const void *at, unsigned bytes, int read, int write, enum mw_access how, const void *place,
                         unsigned site) {
  if (how != MW_ACCESS_VOLATILE || write) note((pointer)at, bytes, 4 | read | write << 1);
  check->atomic(at, bytes, read, write, how, place, site);
}
static void noted_fence(int block_only) {
  add(0, 0, 8 | block_only);
  check->fence(block_only);
}
]]

local function changed(text, from, to, what)
  local result, count = text:gsub(from:gsub("%p", "%%%0"), (to:gsub("%%", "%%%%")))
  assert(count > 0, "check mode's hooks have changed: no " .. what)
  return result
end

-- Where an access begins; the second passes some on to the first.
local ACCESS <const> = "static __attribute__((noinline)) void access(const void *at, unsigned long bytes, bool write, "
  .. "const void *place,\n                                             unsigned most = MOST_ALIGNED, "
  .. "bool of_bytes = false) {\n"
local WORDS <const> = "return access(at, 4 * words, write, place);\n"
local BIND <const> = "HOOK void mw_check_bind("

local function with_digest(hooks)
  hooks = changed(hooks, "check->atomic(", "noted_atomic(", "atomic")
  hooks = changed(hooks, "check->fence(", "noted_fence(", "fence")
  hooks = changed(hooks, BIND, "static void noted_fence(int block_only);\n" .. BIND, "bind")
  hooks = changed(hooks, WORDS, WORDS .. "  note(address, 4 * words, write ? 2 : 1);\n", "access of words")
  return changed(hooks, ACCESS, NOTE .. ACCESS .. "  note((pointer)at, bytes, write ? 2 : 1);\n", "access")
end

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- Makes the home: the files of this one, and the altered hooks.
---@param folder string   there already
---@return string home
function digest.home(folder)
  local from, home = core.home(), folder .. "/home"
  local cpu = home .. "/core/backend/cpu"
  os.execute(("mkdir -p %s && ln -s %s/core/backend/cpu/abi.h %s && cp -r %s/core/backend/cpu/shim %s && ln -s %s/lua "
    .. "%s/kernels %s/experiments %s/plots %s/tests %s"):format(cpu, from, cpu, from, cpu, from, from, from, from, from,
    home))
  os.execute(("test ! -d %s/lib || ln -s %s/lib %s"):format(from, from, home)) -- of a bundle
  local path = cpu .. "/shim/check/hooks.cpp"
  local text = with_digest(read(path))
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
  return home
end

--- What a run has told of its accesses and results, to be compared with that of another.
---@param output string   what the process printed
---@param folder string   where it ran; its digests are removed
---@return string
function digest.of(output, folder)
  local list = {}
  for line in output:gmatch "result\t[^\n]*" do list[#list + 1] = line end
  local pipe <close> = assert(io.popen(("cd '%s' && cat digest.* 2>&1 | od -An -v -w8 -t x8; rm -f digest.*"):format(
    folder)))
  for line in pipe:lines() do list[#list + 1] = "accesses" .. line end
  return table.concat(list, "\n")
end

return digest
