/* SPDX-License-Identifier: MIT
 *
 * Element by element comparison of two arrays, wherever they are, for mw.check. The bytes pass through the host in
 * pieces, so arrays of any size are compared in little memory. */
#include "core/bind/bind.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PIECE = 1 << 23 }; /* bytes fetched at a time */

typedef struct comparison {
  mw_dtype dtype;
  double absolute, relative;
  size_t wrong, most;
  double max_absolute, max_relative, squares; /* squares: the sum of those of the errors, where it is wanted */
} comparison;

/* An error that is not a number is larger than any. */
static void raise_to(double *most, double error) {
  if (isnan(error) || error > *most) *most = error;
}

/* Equal bits are right whatever the type (also NaN where NaN is expected); a NaN on one side only is wrong. */
static bool element_fits(comparison *c, const void *got, const void *expected, size_t width) {
  if (memcmp(got, expected, width) == 0) return true;
  double g = load_number(c->dtype, got), e = load_number(c->dtype, expected);
  if (isnan(g) && isnan(e)) return true;
  double error = fabs(g - e);
  double relative = !isfinite(error) ? error : e != 0 ? error / fabs(e) : 0;
  raise_to(&c->max_absolute, error);
  raise_to(&c->max_relative, relative);
  if (!isfinite(error)) return false;
  bool exact = !mw_dtype_is_float(c->dtype) && c->absolute == 0 && c->relative == 0;
  return !exact && error <= c->absolute + c->relative * fabs(e);
}

/* Appends {index, expected, got} to the list below the top; index counts from 0. */
static void note_wrong(lua_State *L, int list, comparison *c, size_t index, const void *got, const void *expected) {
  if (++c->wrong > c->most) return;
  lua_createtable(L, 3, 0);
  lua_pushinteger(L, (lua_Integer)index);
  lua_rawseti(L, -2, 1);
  push_element(L, c->dtype, expected);
  lua_rawseti(L, -2, 2);
  push_element(L, c->dtype, got);
  lua_rawseti(L, -2, 3);
  lua_rawseti(L, list, (lua_Integer)c->wrong);
}

/* The common case, a piece that is right, in a loop that the compiler can make short. False: some element is wrong or
 * not a number, and nothing is noted; the caller then looks at each. */
#define FITS_ALL(name, type, absolute_of)                                                                              \
  static bool name(comparison *c, const type *got, const type *expected, size_t count) {                               \
    double most = c->max_absolute, most_relative = c->max_relative;                                                    \
    bool fits = true;                                                                                                  \
    for (size_t i = 0; i < count; i++) {                                                                               \
      double e = absolute_of(expected[i]), error = fabs((double)got[i] - (double)expected[i]);                         \
      fits &= (error <= c->absolute + c->relative * e) & (error <= DBL_MAX); /* an infinity's tolerance is one */      \
      double relative = e > 0 ? error / e : 0;                                                                         \
      most = error > most ? error : most;                                                                              \
      most_relative = relative > most_relative ? relative : most_relative;                                             \
    }                                                                                                                  \
    if (!fits) return false;                                                                                           \
    c->max_absolute = most;                                                                                            \
    c->max_relative = most_relative;                                                                                   \
    return true;                                                                                                       \
  }
FITS_ALL(fits_all_f64, double, fabs)
FITS_ALL(fits_all_f32, float, fabsf)

static bool fits_all(comparison *c, const void *got, const void *expected, size_t count) {
  if (c->dtype == MW_F64) return fits_all_f64(c, got, expected, count);
  return c->dtype == MW_F32 && fits_all_f32(c, got, expected, count);
}

static void compare_piece(lua_State *L, int list, comparison *c, size_t first, const char *got, const char *expected,
                          size_t count) {
  size_t width = mw_dtype_size(c->dtype);
  if (memcmp(got, expected, count * width) == 0 || fits_all(c, got, expected, count)) return;
  for (size_t i = 0; i < count; i++)
    if (!element_fits(c, got + i * width, expected + i * width, width))
      note_wrong(L, list, c, first + i, got + i * width, expected + i * width);
}

/* An error that is not a number counts as infinite. */
static double squares_of(mw_dtype dtype, const char *got, const char *expected, size_t count) {
  const size_t width = mw_dtype_size(dtype);
  double sum = 0;
  for (size_t i = 0; i < count * width; i += width) {
    const double g = load_number(dtype, got + i), e = load_number(dtype, expected + i);
    const double error = g == e || (isnan(g) && isnan(e)) ? 0 : g - e;
    sum += isnan(error) ? INFINITY : error * error;
  }
  return sum;
}

/* core.compare(got, expected, absolute, relative, most, rms): { wrong =, first = { {index from 0, expected, got}, ... up
 * to most }, max_absolute =, max_relative =, rms = (where true is given) } over two arrays of one type and count. An
 * element is right when |got - expected| <= absolute + relative * |expected|. */
static int compare(lua_State *L) {
  bind_array *got = check_array(L, 1), *expected = check_array(L, 2);
  check_type(L, 3, LUA_TNUMBER);
  check_type(L, 4, LUA_TNUMBER);
  comparison c = {got->dtype, lua_tonumber(L, 3), lua_tonumber(L, 4), 0, (size_t)check_integer(L, 5), 0, 0, 0};
  const bool rms = lua_toboolean(L, 6);
  if (got->dtype != expected->dtype || got->count != expected->count)
    return bind_fail(L, MW_INVALID, "compare: two arrays of one type and length expected");
  size_t width = mw_dtype_size(c.dtype), piece = PIECE / width;
  if (piece > got->count) piece = got->count;
  char *a = lua_newuserdatauv(L, piece * width, 0), *b = lua_newuserdatauv(L, piece * width, 0);
  lua_newtable(L);
  int list = lua_gettop(L);
  for (size_t first = 0; first < got->count; first += piece) {
    size_t count = got->count - first < piece ? got->count - first : piece;
    array_read(L, got, first, count, a);
    array_read(L, expected, first, count, b);
    compare_piece(L, list, &c, first, a, b, count);
    if (rms) c.squares += squares_of(c.dtype, a, b, count);
  }
  lua_createtable(L, 0, 5);
  lua_pushinteger(L, (lua_Integer)c.wrong);
  lua_setfield(L, -2, "wrong");
  lua_pushnumber(L, c.max_absolute); /* may be a NaN, which a field leaves out */
  lua_setfield(L, -2, "max_absolute");
  lua_pushnumber(L, c.max_relative);
  lua_setfield(L, -2, "max_relative");
  if (rms) {
    lua_pushnumber(L, sqrt(c.squares / (double)got->count));
    lua_setfield(L, -2, "rms");
  }
  lua_pushvalue(L, list);
  lua_setfield(L, -2, "first");
  return 1;
}

static double largest_in(mw_dtype dtype, const char *at, size_t count, double most) {
  size_t width = mw_dtype_size(dtype);
  for (size_t i = 0; i < count; i++) {
    double value = fabs(load_number(dtype, at + i * width));
    if (value > most && !isinf(value)) most = value;
  }
  return most;
}

/* core.largest(array): the largest finite magnitude of its elements, 0 if none. */
static int largest(lua_State *L) {
  bind_array *array = check_array(L, 1);
  size_t width = mw_dtype_size(array->dtype), piece = PIECE / width;
  if (piece > array->count) piece = array->count;
  char *at = lua_newuserdatauv(L, piece * width, 0);
  double most = 0;
  for (size_t first = 0; first < array->count; first += piece) {
    size_t count = array->count - first < piece ? array->count - first : piece;
    array_read(L, array, first, count, at);
    most = largest_in(array->dtype, at, count, most);
  }
  lua_pushnumber(L, most);
  return 1;
}

const luaL_Reg compare_functions[] = {{"compare", compare}, {"largest", largest}, {NULL, NULL}};
