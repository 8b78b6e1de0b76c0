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
      near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
  bind_argument(L, index, "%s", message);
  return type;
}

#define LOAD(type)                                                                                                     \
  type value;                                                                                                          \
  memcpy(&value, at, sizeof value)

void push_element(lua_State *L, mw_dtype dtype, const void *at) {
  switch (dtype) {
  case MW_F16: {
    LOAD(uint16_t);
    lua_pushnumber(L, mw_f16_to_f64(value));
    break;
  }
  case MW_BF16: {
    LOAD(uint16_t);
    lua_pushnumber(L, mw_bf16_to_f64(value));
    break;
  }
  case MW_F32: {
    LOAD(float);
    lua_pushnumber(L, (lua_Number)value);
    break;
  }
  case MW_F64: {
    LOAD(double);
    lua_pushnumber(L, value);
    break;
  }
  case MW_I8: {
    LOAD(int8_t);
    lua_pushinteger(L, value);
    break;
  }
  case MW_I16: {
    LOAD(int16_t);
    lua_pushinteger(L, value);
    break;
  }
  case MW_I32: {
    LOAD(int32_t);
    lua_pushinteger(L, value);
    break;
  }
  case MW_U8: {
    LOAD(uint8_t);
    lua_pushinteger(L, value);
    break;
  }
  case MW_U16: {
    LOAD(uint16_t);
    lua_pushinteger(L, value);
    break;
  }
  case MW_U32: {
    LOAD(uint32_t);
    lua_pushinteger(L, value);
    break;
  }
  case MW_BOOL: {
    LOAD(uint8_t);
    lua_pushboolean(L, value);
    break;
  }
  default: {
    LOAD(int64_t);
    lua_pushinteger(L, value);
    break;
  }
  }
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
