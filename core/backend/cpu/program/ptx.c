/* SPDX-License-Identifier: MIT
 *
 * Inline PTX as C++: an asm statement whose instructions all are in the table becomes a block of assignments, before
 * anything else reads the tokens, so that all engines run it and all analyses see what it reads and writes.
 *
 *   asm("lop3.b32 %0, %1, %2, 7, 0x96;" : "=r"(d) : "r"(a), "r"(b));
 *   { const unsigned mw_1 = (unsigned)(a), mw_2 = (unsigned)(b); d = (decltype(d + 0))(unsigned)mw_lop3(...); }
 *
 * Instructions by "Parallel Thread Execution ISA" of CUDA 13. Carries, warp operations, copies and tensor cores are not
 * among them: such a statement stays and is rejected by name (callgraph.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/cpu/program/program.h"

enum { MOST = 16 }; /* operands of a statement, or of an instruction */

typedef struct ptx { /* a statement */
  mw_tokens *tokens;
  int outputs, count;
  mw_span operand[MOST];
  char letter[MOST]; /* of its constraint */
  bool read[MOST];   /* an input, or "+r" */
  bool fence;        /* it may change memory */
  bool weak;         /* and has no volatile access */
  mw_text *out;
  char wrong[64]; /* the instruction that is not known; empty: none */
} ptx;

/* ---- the table ------------------------------------------------------------------------------------------------- */

/* Of T a plain type, U the unsigned one of its size, W the signed or unsigned one of twice its size, B its bits; D the
 * type that a conversion names first. $1 is the first source as a T, @1 as it is. Without a destination @0 is the first
 * operand. */
typedef struct instruction {
  const char *name; /* its parts in order, between which there may be modifiers that change nothing here */
  const char *code;
  bool no_result;
} instruction;

static const instruction instructions[] = {
    {"mov", "$1", 0},
    {"cvta.to", "$1", 0},
    {"cvta", "$1", 0},
    {"cvt", "(D)$1", 0},
    {"cvt.rni", "mw_to_integer<D>($1, MW_RN)", 0},
    {"cvt.rzi", "mw_to_integer<D>($1, MW_RZ)", 0},
    {"cvt.rmi", "mw_to_integer<D>($1, MW_RD)", 0},
    {"cvt.rpi", "mw_to_integer<D>($1, MW_RU)", 0},
    {"add", "(T)((U)$1 + (U)$2)", 0},
    {"sub", "(T)((U)$1 - (U)$2)", 0},
    {"mul.lo", "(T)((U)$1 * (U)$2)", 0},
    {"mul.hi", "(T)((W)$1 * (W)$2 >> B)", 0},
    {"mul.wide", "(W)$1 * (W)$2", 0},
    {"mul.f32", "$1 * $2", 0},
    {"mul.f64", "$1 * $2", 0},
    {"mad.lo", "(T)((U)$1 * (U)$2 + (U)$3)", 0},
    {"mad.hi", "(T)((W)$1 * (W)$2 >> B) + $3", 0},
    {"mad.wide", "(W)$1 * (W)$2 + (W)@3", 0},
    {"fma", "fma($1, $2, $3)", 0},
    {"div", "$1 / $2", 0},
    {"rem", "$1 % $2", 0},
    {"neg", "(T)-(U)$1", 0},
    {"abs", "($1 < 0 ? (T)-(U)$1 : $1)", 0},
    {"min", "min($1, $2)", 0},
    {"max", "max($1, $2)", 0},
    {"and", "$1 & $2", 0},
    {"or", "$1 | $2", 0},
    {"xor", "$1 ^ $2", 0},
    {"not", "~$1", 0},
    {"shl", "((unsigned)@2 < B ? (T)((U)$1 << @2) : 0)", 0},
    {"shr", "((unsigned)@2 < B ? $1 >> @2 : $1 >> (B - 1) >> 1)", 0},
    {"shf.l.wrap", "__funnelshift_l(@1, @2, @3)", 0},
    {"shf.r.wrap", "__funnelshift_r(@1, @2, @3)", 0},
    {"shf.l.clamp", "__funnelshift_lc(@1, @2, @3)", 0},
    {"shf.r.clamp", "__funnelshift_rc(@1, @2, @3)", 0},
    {"bfe", "mw_bit_field<T>($1, @2, @3)", 0},
    {"bfi", "mw_bit_insert<U>($1, $2, @3, @4)", 0},
    {"bfind", "mw_highest_bit($1)", 0},
    {"brev.b32", "__brev($1)", 0},
    {"brev.b64", "__brevll($1)", 0},
    {"popc.b32", "__popc($1)", 0},
    {"popc.b64", "__popcll($1)", 0},
    {"clz.b32", "__clz((int)$1)", 0},
    {"clz.b64", "__clzll((long long)$1)", 0},
    {"prmt.b32", "mw_permute($1, $2, $3)", 0},
    {"lop3.b32", "mw_lop3($1, $2, $3, @4)", 0},
    {"dp4a.u32.u32", "__dp4a($1, $2, $3)", 0},
    {"dp4a.s32.s32", "__dp4a($1, $2, $3)", 0},
    {"vabsdiff4.u32.u32.u32.add", "__vsadu4($1, $2) + $3", 0},
    {"ex2.approx.f32", "exp2f($1)", 0},
    {"lg2.approx.f32", "log2f($1)", 0},
    {"sin.approx.f32", "sinf($1)", 0},
    {"cos.approx.f32", "cosf($1)", 0},
    {"tanh.approx.f32", "tanhf($1)", 0},
    {"rcp", "1 / $1", 0},
    {"sqrt.f32", "sqrtf($1)", 0},
    {"rsqrt.f32", "rsqrtf($1)", 0},
    {"setp.eq", "$1 == $2", 0},
    {"setp.ne", "$1 != $2", 0},
    {"setp.lt", "$1 < $2", 0},
    {"setp.le", "$1 <= $2", 0},
    {"setp.gt", "$1 > $2", 0},
    {"setp.ge", "$1 >= $2", 0},
    {"selp", "@3 ? $1 : $2", 0},
    {"ld.acquire", "__atomic_load_n((const T *)@1, __ATOMIC_ACQUIRE)", 0},
    {"ld.relaxed", "__atomic_load_n((const T *)@1, __ATOMIC_RELAXED)", 0},
    {"ld", "*(const volatile T *)@1", 0},
    {"st.release", "__atomic_store_n((T *)@0, $1, __ATOMIC_RELEASE)", 1},
    {"st.relaxed", "__atomic_store_n((T *)@0, $1, __ATOMIC_RELAXED)", 1},
    {"st", "*(volatile T *)@0 = $1", 1},
    {"atom.add", "atomicAdd((T *)@1, $2)", 0},
    {"atom.cas", "atomicCAS((U *)@1, (U)$2, (U)$3)", 0},
    {"red.add", "atomicAdd((T *)@0, $1)", 1},
    {"bar.sync", NULL, 1}, /* barrier_code */
    {"barrier.sync", NULL, 1},
    {"bar.warp.sync", "__syncwarp(@0)", 1},
    {"membar", "__threadfence()", 1},
    {"fence", "__threadfence()", 1},
    {"nanosleep", "__nanosleep(@0)", 1},
    {"trap", "__trap()", 1},
    {NULL, NULL, 0},
};

#define RANK "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))"
#define LANE "(" RANK " & 31u)"
static const char *const registers[][2] = {{"laneid", LANE},
                                           {"warpid", "(" RANK " >> 5)"},
                                           {"lanemask_eq", "(1u << " LANE ")"},
                                           {"lanemask_lt", "((1u << " LANE ") - 1)"},
                                           {"lanemask_le", "((2u << " LANE ") - 1)"},
                                           {"lanemask_gt", "(-(2u << " LANE "))"},
                                           {"lanemask_ge", "(-(1u << " LANE "))"},
                                           {"smid", "mw_worker_of()->number"},
                                           {"clock", "(unsigned)clock64()"},
                                           {"clock64", "clock64()"},
                                           {"globaltimer", "mw_globaltimer()"},
                                           {"globaltimer_lo", "(unsigned)mw_globaltimer()"},
                                           {"globaltimer_hi", "(unsigned)(mw_globaltimer() >> 32)"},
                                           {NULL, NULL}};
static const char *const coordinates[][2] = {
    {"tid.", "threadIdx."}, {"ntid.", "blockDim."}, {"ctaid.", "blockIdx."}, {"nctaid.", "gridDim."}, {NULL, NULL}};

typedef struct type {
  const char *name, *plain, *same, *wide, *bits;
} type;

static const type types[] = {
    {"u8", "unsigned char", "unsigned char", "unsigned", "8"},
    {"b8", "unsigned char", "unsigned char", "unsigned", "8"},
    {"s8", "signed char", "unsigned char", "int", "8"},
    {"u16", "unsigned short", "unsigned short", "unsigned", "16"},
    {"b16", "unsigned short", "unsigned short", "unsigned", "16"},
    {"s16", "short", "unsigned short", "int", "16"},
    {"u32", "unsigned", "unsigned", "unsigned long long", "32"},
    {"b32", "unsigned", "unsigned", "unsigned long long", "32"},
    {"s32", "int", "unsigned", "long long", "32"},
    {"u64", "unsigned long long", "unsigned long long", "unsigned __int128", "64"},
    {"b64", "unsigned long long", "unsigned long long", "unsigned __int128", "64"},
    {"s64", "long long", "unsigned long long", "__int128", "64"},
    {"f32", "float", "float", "double", "32"},
    {"f64", "double", "double", "double", "64"},
    {"pred", "bool", "bool", "bool", "1"},
    {NULL, "unsigned", "unsigned", "unsigned long long", "32"},
};

/* What a register of a constraint holds. */
static const char *letter_type(char letter) {
  static const char *const of[][2] = {{"r", "u32"}, {"l", "u64"}, {"h", "u16"},
                                      {"f", "f32"}, {"d", "f64"}, {"n", "s64"}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (letter == *of[i][0]) return of[i][1];
  return NULL;
}

static const type *type_of(const char *name, int size) {
  const type *at = types;
  while (at->name && !((int)strlen(at->name) == size && !strncmp(at->name, name, (size_t)size))) at++;
  return at;
}

/* ---- names of instructions ------------------------------------------------------------------------------------- */

static int part_size(const char *at, const char *end) {
  const char *dot = memchr(at, '.', (size_t)(end - at));
  return (int)((dot ? dot : end) - at);
}

static bool is_modifier(const char *at, int size) {
  const mw_token part = {.kind = MW_TOKEN_NAME, .text = at, .size = size};
  return type_of(at, size)->name ||
         mw_token_any(&part, WORDS("volatile", "weak", "sys", "gpu", "cta", "gl", "sc", "relaxed", "acquire", "release",
                                   "acq_rel", "global", "shared", "local", "const", "ca", "cg", "cs", "cv", "lu", "nc",
                                   "wb", "wt", "rn", "approx", "ftz", "L1::no_allocate", "aligned"));
}

/* Are the name's parts among those at ... end in order, and is nothing between them that matters? */
static bool is_instruction(const char *name, const char *at, const char *end) {
  const char *name_end = name + strlen(name);
  for (bool first = true; at < end; first = false) {
    const int size = part_size(at, end), wanted = name < name_end ? part_size(name, name_end) : -1;
    if (size == wanted && !strncmp(name, at, (size_t)size))
      name += size + (name[size] == '.');
    else if (first || !is_modifier(at, size))
      return false;
    at += size + (at[size] == '.' && at + size < end);
  }
  return name == name_end;
}

static const instruction *instruction_find(const char *at, const char *end) {
  const instruction *found = instructions;
  while (found->name && !is_instruction(found->name, at, end)) found++;
  return found->name ? found : NULL;
}

/* Of mul.wide.u32 u32; of dp4a.u32.u32 and cvt.u64.u32 the last, or the first. */
static const type *instruction_type(const char *at, const char *end, bool want_first) {
  const type *found = NULL;
  for (int size; at < end && !(found && want_first); at += size + 1) {
    size = part_size(at, end);
    if (type_of(at, size)->name) found = type_of(at, size);
  }
  return found ? found : type_of("", 0);
}

/* ---- operands -------------------------------------------------------------------------------------------------- */

static bool special_put(const char *at, int size, mw_text *out) {
  for (int i = 0; registers[i][0]; i++)
    if ((int)strlen(registers[i][0]) == size && !strncmp(registers[i][0], at, (size_t)size))
      return mw_text_put(out, registers[i][1]), true;
  for (int i = 0; coordinates[i][0]; i++) {
    const int begin = (int)strlen(coordinates[i][0]);
    if (size == begin + 1 && !strncmp(coordinates[i][0], at, (size_t)begin) && strchr("xyz", at[begin]))
      return mw_text_format(out, "%s%c", coordinates[i][1], at[begin]), true;
  }
  return false;
}

/* Nothing of a statement's text becomes C++ that is neither a number nor a name. */
static bool is_made_of(const char *at, int size, const char *letters) {
  return size > 0 && strspn(at, letters) >= (size_t)size;
}

static const char number_letters[] = " +-.0123456789abcdefABCDEFxXpPuUlL";
static const char name_letters[] = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* %0  [%1+16]  0x96  %laneid  a register of the statement's own. */
static bool operand_put(const ptx *in, const char *at, int size, mw_text *out) {
  if (size > 2 && at[0] == '[') {
    const char *plus = memchr(at, '+', (size_t)size);
    int index = -1;
    if (sscanf(at, "[%%%d", &index) == 1 && index >= 0 && index < in->count && in->letter[index] != 'l')
      return false; /* an offset in shared memory, which has none here */
    int base = plus ? (int)(plus - at) - 1 : size - 2;
    const int more = plus ? size - base - 3 : 0;
    while (at[base] == ' ') base--;
    mw_text_put(out, "(");
    const bool known = operand_put(in, at + 1, base, out) && (!plus || is_made_of(plus + 1, more, number_letters));
    if (plus) mw_text_format(out, " + %.*s", more, plus + 1);
    mw_text_put(out, ")");
    return known;
  }
  int index = -1, used = 0;
  if (size > 1 && at[0] == '%' && sscanf(at, "%%%d%n", &index, &used) == 1 && used == size) {
    if (index < 0 || index >= in->count) return false;
    if (in->read[index])
      mw_text_format(out, "mw_%d", index);
    else
      mw_text_plain(out, in->tokens, in->operand[index].first, in->operand[index].last);
    return true;
  }
  if (size > 1 && at[0] == '%') return special_put(at + 1, size - 1, out);
  if (size > 2 && at[0] == '0' && strchr("fFdD", at[1])) { /* the bits of a float */
    if (!is_made_of(at + 2, size - 2, number_letters)) return false;
    const bool single = at[1] == 'f' || at[1] == 'F';
    mw_text_format(out, "%s(0x%.*s)", single ? "__int_as_float" : "__longlong_as_double", size - 2, at + 2);
    return true;
  }
  const bool number = size > 0 && strchr("0123456789-", at[0]);
  if (!is_made_of(at, size, number ? number_letters : name_letters)) return false;
  mw_text_format(out, number ? "%.*s" : "mw_%.*s_", size, at);
  return true;
}

/* Splits at commas. */
static int operands_split(const char *at, const char *end, const char *first[], int size[]) {
  int count = 0;
  while (at < end && count < MOST) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    const char *last = comma ? comma : end;
    while (at < last && *at == ' ') at++;
    const char *trimmed = last;
    while (trimmed > at && trimmed[-1] == ' ') trimmed--;
    first[count] = at;
    size[count++] = (int)(trimmed - at);
    at = last + 1;
  }
  return count;
}

/* ---- instructions ---------------------------------------------------------------------------------------------- */

/* bar.sync 0; bar.sync 1; bar.sync 1, 64; */
static const char *barrier_code(int count, const char *const first[], const int size[]) {
  if (count > 1) return "__barrier_sync_count(@0, @1)";
  return count && size[0] == 1 && *first[0] == '0' ? "__syncthreads()" : "__barrier_sync(@0)";
}

/* The code of an instruction at name ... name_end, with its operands. */
static bool code_put(const ptx *in, const char *code, const char *name, const char *name_end, int count,
                     const char *const first[], const int size[]) {
  const type *of = instruction_type(name, name_end, false), *to = instruction_type(name, name_end, true);
  for (const char *at = code; *at; at++) {
    const bool word = at > code && strchr("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", at[-1]);
    const bool more = strchr("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", at[1]) && at[1];
    const char *replaced = word || more ? NULL
                           : *at == 'T' ? of->plain
                           : *at == 'U' ? of->same
                           : *at == 'W' ? of->wide
                           : *at == 'B' ? of->bits
                           : *at == 'D' ? to->plain
                                        : NULL;
    if (replaced)
      mw_text_put(in->out, replaced);
    else if (*at != '$' && *at != '@')
      mw_text_add(in->out, at, 1);
    else {
      const int which = at[1] - '0';
      if (which >= count) return false;
      if (*at == '$') mw_text_format(in->out, "mw_register<%s>(", of->plain);
      if (!operand_put(in, first[which], size[which], in->out)) return false;
      if (*at == '$') mw_text_put(in->out, ")");
      at++;
    }
  }
  return true;
}

static bool register_put(const ptx *in, const char *at, const char *end) {
  const char *dot = memchr(at, '.', (size_t)(end - at)), *first[MOST];
  int size[MOST];
  if (!dot || memchr(at, '<', (size_t)(end - at))) return false;
  const int length = (int)strcspn(dot + 1, " ");
  const type *of = type_of(dot + 1, length);
  const int count = operands_split(dot + 1 + length, end, first, size);
  bool known = of->name && count > 0;
  for (int i = 0; i < count; i++) {
    known &= is_made_of(first[i], size[i], name_letters);
    mw_text_format(in->out, "%s mw_%.*s_; ", of->plain, size[i], first[i]);
  }
  return known;
}

/* One instruction at ... end, with its guard: @p add.s32 %0, %1, %2 */
static bool instruction_put(const ptx *in, const char *at, const char *end) {
  if (!strncmp(at, ".reg", 4)) return register_put(in, at + 4, end);
  if (*at == '@') {
    const bool negated = at[1] == '!';
    const int size = (int)strcspn(at + 1 + negated, " ");
    mw_text_put(in->out, negated ? "if (!" : "if (");
    if (!operand_put(in, at + 1 + negated, size, in->out)) return false;
    mw_text_put(in->out, ") ");
    at += 1 + negated + size;
    at += strspn(at, " ");
  }
  const char *name_end = at + strcspn(at, " ;"), *first[MOST];
  int size[MOST];
  if (name_end > end) name_end = end;
  const instruction *it = instruction_find(at, name_end);
  const int count = operands_split(name_end, end, first, size);
  if (!it || (!it->no_result && !count)) return false;
  if (!it->no_result) {
    mw_text destination = {0};
    bool known = operand_put(in, first[0], size[0], &destination);
    if (known) mw_text_format(in->out, "%s = mw_register<decltype(%s + 0)>(", destination.at, destination.at);
    mw_free(destination.at);
    if (!known) return false;
  }
  const char *code = it->code ? it->code : barrier_code(count, first, size);
  if (!code_put(in, code, at, name_end, count, first, size)) return false;
  mw_text_put(in->out, it->no_result ? "; " : "); ");
  return true;
}

/* ld.global.v4.f32 {%0, %1, %2, %3}, [%4]; and st.global.v2.u32 [%0], {%1, %2}; by their elements. */
static bool vector_put(const ptx *in, const char *text) {
  const char *dot = strstr(text, ".v"), *open = strchr(text, '{'), *address = strchr(text, '['), *first[MOST];
  const char *close = open ? strchr(open, '}') : NULL, *last = address ? strchr(address, ']') : NULL;
  int size[MOST];
  if (!dot || !close || !last || dot > open || dot > address) return false;
  const char *name_end = open < address ? open : address;
  const int count = operands_split(open + 1, close, first, size),
            bytes = atoi(instruction_type(dot, name_end, true)->bits) / 8;
  bool known = count == dot[2] - '0';
  for (int i = 0; i < count && known; i++) {
    char *at = mw_format("%.*s+%d]", (int)(last - address), address, i * bytes);
    char *element = mw_format("%.*s", size[i], first[i]);
    char *one = mw_format("%.*s%.*s%s, %s", (int)(dot - text), text, (int)(name_end - dot - 3), dot + 3,
                          open < address ? element : at, open < address ? at : element);
    known = instruction_put(in, one, one + strlen(one));
    mw_free(at);
    mw_free(element);
    mw_free(one);
  }
  return known;
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

/* The text of the strings that begin at token i, without escapes, comments and new lines; returns what is after. */
static int template_read(const mw_tokens *tokens, int i, mw_text *out) {
  for (; tokens->at[i].kind == MW_TOKEN_STRING && tokens->at[i].text[0] == '"'; i++) {
    const char *at = tokens->at[i].text + 1, *end = tokens->at[i].text + tokens->at[i].size - 1;
    for (; at < end; at++) {
      const bool escape = *at == '\\' && at + 1 < end;
      if (at[0] == '%' && at[1] == '%') at++;
      if (escape) at++;
      mw_text_add(out, (escape && strchr("nt", *at)) || *at == '\t' ? escape && *at == 'n' ? "\n" : " " : at, 1);
    }
  }
  if (!out->at) return i;
  char *to = out->at;
  for (const char *at = out->at; *at; at++) {
    if (at[0] == '/' && at[1] == '/') at += strcspn(at, "\n");
    if (!*at) break;
    *to++ = *at == '\n' ? ' ' : *at;
  }
  *to = 0;
  out->size = (size_t)(to - out->at);
  return i;
}

/* : "=r"(a), "=r"(b) : "r"(c) : "memory" at token i, whose brackets end at `last`. */
static bool operands_read(ptx *in, int i, int last) {
  const mw_token *at = in->tokens->at;
  for (int colons = 0; i < last;) {
    if (mw_token_any(&at[i], WORDS(":", "::"))) {
      colons += at[i++].size;
    } else if (colons > 2 || mw_token_is(&at[i], ",")) {
      in->fence |= mw_token_is(&at[i++], "\"memory\"");
    } else {
      if (at[i].kind != MW_TOKEN_STRING || at[i + 1].match < i || in->count == MOST) return false;
      const int n = in->count++;
      in->letter[n] = at[i].text[at[i].size - 2];
      in->read[n] = colons == 2 || at[i].text[1] == '+';
      in->operand[n] = (mw_span){i + 2, at[i + 1].match};
      if (!letter_type(in->letter[n])) return false;
      in->outputs += colons == 1;
      i = at[i + 1].match + 1;
    }
  }
  return true;
}

static void inputs_put(const ptx *in) {
  for (int i = 0; i < in->count; i++) {
    if (!in->read[i]) continue;
    const char *name = letter_type(in->letter[i]), *plain = type_of(name, 3)->plain;
    mw_text_format(in->out, "%s%s mw_%d = (%s)(", i < in->outputs ? "" : "const ", plain, i, plain);
    mw_text_plain(in->out, in->tokens, in->operand[i].first, in->operand[i].last);
    mw_text_put(in->out, "); ");
  }
}

static void results_put(const ptx *in) {
  for (int i = 0; i < in->outputs; i++) {
    if (!in->read[i]) continue;
    mw_text name = {0};
    mw_text_plain(&name, in->tokens, in->operand[i].first, in->operand[i].last);
    mw_text_format(in->out, "%s = (decltype(%s + 0))mw_%d; ", name.at, name.at, i);
    mw_free(name.at);
  }
}

static bool body_put(ptx *in, const char *text) {
  for (const char *at = text; *(at += strspn(at, " {};"));) {
    const char *end = at + strcspn(at, ";");
    while (end > at && end[-1] == ' ') end--;
    char *one = mw_format("%.*s", (int)(end - at), at);
    const bool vector = strchr(one, '{'),
               known = vector ? vector_put(in, one) : instruction_put(in, one, one + strlen(one));
    if (!known) snprintf(in->wrong, sizeof in->wrong, "%s", one);
    mw_free(one);
    if (!known) return false;
    at = end;
  }
  return true;
}

/* Its atomics are relaxed: does one of them order other accesses? */
static bool is_ordered(const char *text) {
  const bool atomic = strstr(text, "atom.") || strstr(text, "red.");
  return atomic && (strstr(text, ".acquire") || strstr(text, ".release") || strstr(text, ".acq_rel"));
}

/* The ) of the asm statement at token i, whose C++ is put; -1: it is not known. */
static int statement_put(ptx *in, int i) {
  const mw_token *at = in->tokens->at;
  while (mw_token_any(&at[i + 1], WORDS("volatile", "__volatile__"))) i++;
  const int close = at[i + 1].match;
  if (!mw_token_is(&at[i + 1], "(") || close < i || !mw_token_is(&at[close + 1], ";")) return -1;
  for (int k = i; k < close; k++)
    if (cpu_barred_of(&at[k])) return -1;
  mw_text text = {0};
  const int behind = template_read(in->tokens, i + 2, &text);
  const bool ordered = text.at && is_ordered(text.at);
  in->weak = text.at && !strstr(text.at, ".volatile") && !strstr(text.at, ".cv");
  mw_text_put(in->out, ordered ? "{ __threadfence(); " : "{ ");
  bool known = operands_read(in, behind, close);
  if (known) inputs_put(in);
  known = known && body_put(in, text.at ? text.at : "");
  if (ordered) mw_text_put(in->out, "__threadfence(); ");
  if (in->fence) mw_text_put(in->out, "__atomic_signal_fence(__ATOMIC_SEQ_CST); ");
  if (known) results_put(in);
  mw_text_put(in->out, "}");
  mw_free(text.at);
  return known ? close : -1;
}

/* A statement stays where it is, which C++ calls volatile; to other threads its accesses are plain ones. */
static void weaken(mw_tokens *tokens, int first) {
  for (int i = first; i < tokens->count; i++)
    if (mw_token_is(&tokens->at[i], "volatile")) tokens->at[i].marks |= CPU_WEAK;
}

static bool is_asm(const mw_token *token) {
  return token->kind == MW_TOKEN_NAME && mw_token_any(token, WORDS("asm", "__asm__", "__asm"));
}

void cpu_ptx_rewrite(mw_tokens *tokens) {
  int i = 0;
  while (i < tokens->count && !is_asm(&tokens->at[i])) i++;
  if (i == tokens->count) return;
  mw_tokens next = mw_tokens_beside(tokens);
  mw_tokens_copy(&next, tokens, 0, i);
  for (; i < tokens->count; i++) {
    mw_text code = {0};
    ptx in = {.tokens = tokens, .out = &code};
    const int close = is_asm(&tokens->at[i]) ? statement_put(&in, i) : -1, first = next.count;
    if (close < 0)
      mw_tokens_push(&next, &tokens->at[i]);
    else
      mw_tokens_scan(&next, code.at, &tokens->at[i]), i = close + 1;
    if (close >= 0 && in.weak) weaken(&next, first);
    mw_free(code.at);
  }
  mw_tokens_become(tokens, &next);
}

char *cpu_ptx_unknown(const mw_tokens *tokens, int i) {
  mw_text code = {0};
  ptx in = {.tokens = (mw_tokens *)tokens, .out = &code};
  statement_put(&in, i);
  mw_free(code.at);
  return mw_format("inline PTX (asm)%s%.*s%s", *in.wrong ? " with '" : "", (int)strcspn(in.wrong, " "), in.wrong,
                   *in.wrong ? "'" : "");
}
