/* SPDX-License-Identifier: MIT
 *
 * One element between Lua and memory: names, ranges and the 16-bit formats. u64 values above 2^63-1 are the Lua
 * integers with the same bits (math.ult compares them, "%u" style printing is string.format("%x")). */
#include "core/bind/bind.h"

#include <string.h>

/* The type that a word of C or NumPy stands for; NULL: none. */
static const char *foreign_name(const char *word) {
  static const char *const words[][2] = {
      {"half", "f16"},    {"float16", "f16"}, {"bfloat16", "bf16"}, {"float", "f32"},  {"float32", "f32"},
      {"single", "f32"},  {"double", "f64"},  {"float64", "f64"},   {"number", "f64"}, {"char", "i8"},
      {"int8", "i8"},     {"short", "i16"},   {"int16", "i16"},     {"int", "i32"},    {"int32", "i32"},
      {"integer", "i32"}, {"long", "i64"},    {"int64", "i64"},     {"bool", "u8"},    {"byte", "u8"},
      {"uint8", "u8"},    {"uint16", "u16"},  {"uint", "u32"},      {"uint32", "u32"}, {"unsigned", "u32"},
      {"uint64", "u64"},  {"size_t", "u64"},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(word, words[i][0]) == 0) return words[i][1];
  return NULL;
}

mw_dtype check_dtype(lua_State *L, int index) {
  static const char *names[MW_ARRAY_DTYPES + 1];
  for (int i = 0; i < MW_ARRAY_DTYPES; i++) names[i] = mw_dtype_name((mw_dtype)i);
  mw_dtype type = MW_F32;
  const char *name = check_string(L, index);
  if (mw_dtype_parse(name, &type)) return type;
  const char *foreign = foreign_name(name), *near = foreign ? foreign : nearest_name(name, names);
  const char *message = lua_pushfstring(
      L, "no element type '%s'%s%s%s: f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32 or u64 expected", name,
      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  bind_argument(L, index, "%s", message);
  return type;
}

/* Of any integer type; a u64 has the same bits. Memory is little-endian: its low bytes come first. */
static int64_t load_integer(mw_dtype dtype, const void *at) {
  uint64_t bits = 0;
  memcpy(&bits, at, mw_dtype_size(dtype));
  int unused = 64 - 8 * (int)mw_dtype_size(dtype);
  bool is_signed = dtype == MW_I8 || dtype == MW_I16 || dtype == MW_I32;
  return is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

double load_number(mw_dtype dtype, const void *at) {
  union {
    uint16_t half;
    float single;
    double value;
  } from;
  memcpy(&from, at, mw_dtype_size(dtype));
  if (dtype == MW_F16) return mw_f16_to_f64(from.half);
  if (dtype == MW_BF16) return mw_bf16_to_f64(from.half);
  if (dtype == MW_F32) return (double)from.single;
  if (dtype == MW_F64) return from.value;
  int64_t integer = load_integer(dtype, at);
  return dtype == MW_U64 ? (double)(uint64_t)integer : (double)integer;
}

void push_element(lua_State *L, mw_dtype dtype, const void *at) {
  if (mw_dtype_is_float(dtype))
    lua_pushnumber(L, load_number(dtype, at));
  else if (dtype == MW_BOOL)
    lua_pushboolean(L, *(const uint8_t *)at);
  else
    lua_pushinteger(L, load_integer(dtype, at));
}

static const char *store_integer(lua_State *L, int index, mw_dtype dtype, void *at) {
  static const struct {
    lua_Integer least, greatest;
  } ranges[MW_DTYPES] = {
      [MW_I8] = {INT8_MIN, INT8_MAX},    [MW_I16] = {INT16_MIN, INT16_MAX}, [MW_I32] = {INT32_MIN, INT32_MAX},
      [MW_I64] = {INT64_MIN, INT64_MAX}, [MW_U8] = {0, UINT8_MAX},          [MW_U16] = {0, UINT16_MAX},
      [MW_U32] = {0, UINT32_MAX},        [MW_U64] = {INT64_MIN, INT64_MAX}, [MW_POINTER] = {INT64_MIN, INT64_MAX},
  };
  lua_Integer least = ranges[dtype].least, greatest = ranges[dtype].greatest;
  int exact = 0;
  lua_Integer value = lua_type(L, index) == LUA_TNUMBER ? lua_tointegerx(L, index, &exact) : 0;
  if (!exact || value < least || value > greatest) {
    const char *got = value_text(L, index);
    if (dtype == MW_U64) return lua_pushfstring(L, "an integer (from 2^63 on the one with the same bits), got %s", got);
    return lua_pushfstring(L, "an integer from %I to %I, got %s", (LUAI_UACINT)least, (LUAI_UACINT)greatest, got);
  }
  memcpy(at, &value, mw_dtype_size(dtype)); /* little-endian: the low bytes are the narrower value */
  return NULL;
}

static const char *store_float(lua_State *L, int index, mw_dtype dtype, void *at) {
  if (lua_type(L, index) != LUA_TNUMBER) return lua_pushfstring(L, "a number, got %s", value_text(L, index));
  double value = lua_tonumber(L, index);
  float single = (float)value;
  uint16_t half = dtype == MW_F16 ? mw_f16_from_f64(value) : mw_bf16_from_f64(value);
  const void *from = dtype == MW_F64 ? (const void *)&value : dtype == MW_F32 ? (const void *)&single : &half;
  memcpy(at, from, mw_dtype_size(dtype));
  return NULL;
}

const char *store_element(lua_State *L, int index, mw_dtype dtype, void *at) {
  if (mw_dtype_is_float(dtype)) return store_float(L, index, dtype, at);
  if (dtype != MW_BOOL) return store_integer(L, index, dtype, at);
  if (!lua_isboolean(L, index)) return lua_pushfstring(L, "true or false, got %s", value_text(L, index));
  *(uint8_t *)at = (uint8_t)lua_toboolean(L, index);
  return NULL;
}
