/* SPDX-License-Identifier: MIT
 *
 * The least of OpenCL that tests/bench/cpu_pocl.lua needs: a kernel built from source on the first CPU device of the
 * first platform, arguments by position, one blocking run. A Lua module of its own; arrays come as addresses and are used
 * in place. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>
#include <string.h>

enum { ARGUMENTS = 16 };

typedef struct twin {
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
  cl_mem buffers[ARGUMENTS];
} twin;

static void try(lua_State *L, cl_int code, const char *call) {
  if (code != CL_SUCCESS) luaL_error(L, "%s failed with code %d", call, (int)code);
}

static cl_device_id first_device(lua_State *L) {
  cl_platform_id platform;
  cl_device_id device;
  cl_uint count = 0;
  if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0)
    luaL_error(L, "no OpenCL platform is installed (on Debian and Ubuntu: apt install pocl-opencl-icd)");
  try(L, clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), "clGetDeviceIDs");
  return device;
}

static void build(lua_State *L, twin *t, cl_device_id device) {
  static const char options[] = "-cl-std=CL1.2";
  if (clBuildProgram(t->program, 1, &device, options, NULL, NULL) == CL_SUCCESS) return;
  char log[4096] = "";
  clGetProgramBuildInfo(t->program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  luaL_error(L, "clBuildProgram failed:\n%s", log);
}

/* kernel(source, name) -> twin */
static int opencl_kernel(lua_State *L) {
  const char *source = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  cl_device_id device = first_device(L);
  cl_int code;
  twin *t = lua_newuserdatauv(L, sizeof *t, 0);
  memset(t, 0, sizeof *t);
  luaL_setmetatable(L, "opencl.twin");
  t->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  try(L, code, "clCreateContext");
  t->queue = clCreateCommandQueue(t->context, device, 0, &code);
  try(L, code, "clCreateCommandQueue");
  t->program = clCreateProgramWithSource(t->context, 1, &source, NULL, &code);
  try(L, code, "clCreateProgramWithSource");
  build(L, t, device);
  t->kernel = clCreateKernel(t->program, name, &code);
  try(L, code, "clCreateKernel");
  return 1;
}

static twin *check_twin(lua_State *L) {
  return luaL_checkudata(L, 1, "opencl.twin");
}

static cl_uint check_position(lua_State *L) {
  lua_Integer position = luaL_checkinteger(L, 2);
  luaL_argcheck(L, position >= 1 && position <= ARGUMENTS, 2, "position of an argument expected");
  return (cl_uint)(position - 1);
}

/* t:array(position, address, bytes) */
static int twin_array(lua_State *L) {
  twin *t = check_twin(L);
  cl_uint i = check_position(L);
  void *at = (void *)(uintptr_t)luaL_checkinteger(L, 3);
  cl_int code;
  t->buffers[i] =
      clCreateBuffer(t->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, (size_t)luaL_checkinteger(L, 4), at, &code);
  try(L, code, "clCreateBuffer");
  try(L, clSetKernelArg(t->kernel, i, sizeof(cl_mem), &t->buffers[i]), "clSetKernelArg");
  return 0;
}

/* t:double(position, value), t:int(position, value) */
static int twin_double(lua_State *L) {
  cl_double value = luaL_checknumber(L, 3);
  try(L, clSetKernelArg(check_twin(L)->kernel, check_position(L), sizeof value, &value), "clSetKernelArg");
  return 0;
}

static int twin_int(lua_State *L) {
  cl_int value = (cl_int)luaL_checkinteger(L, 3);
  try(L, clSetKernelArg(check_twin(L)->kernel, check_position(L), sizeof value, &value), "clSetKernelArg");
  return 0;
}

/* t:shared(position, bytes): local memory */
static int twin_shared(lua_State *L) {
  try(L, clSetKernelArg(check_twin(L)->kernel, check_position(L), (size_t)luaL_checkinteger(L, 3), NULL),
      "clSetKernelArg");
  return 0;
}

/* t:run(gx, gy, bx, by): gx by gy groups of bx by by work items; returns when they are done */
static int twin_run(lua_State *L) {
  twin *t = check_twin(L);
  size_t local[2] = {(size_t)luaL_checkinteger(L, 4), (size_t)luaL_checkinteger(L, 5)};
  size_t global[2] = {(size_t)luaL_checkinteger(L, 2) * local[0], (size_t)luaL_checkinteger(L, 3) * local[1]};
  try(L, clEnqueueNDRangeKernel(t->queue, t->kernel, 2, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  try(L, clFinish(t->queue), "clFinish");
  return 0;
}

static int twin_collect(lua_State *L) {
  twin *t = check_twin(L);
  for (int i = 0; i < ARGUMENTS; i++)
    if (t->buffers[i]) clReleaseMemObject(t->buffers[i]);
  if (t->kernel) clReleaseKernel(t->kernel);
  if (t->program) clReleaseProgram(t->program);
  if (t->queue) clReleaseCommandQueue(t->queue);
  if (t->context) clReleaseContext(t->context);
  return 0;
}

int luaopen_opencl(lua_State *L);
int luaopen_opencl(lua_State *L) {
  static const luaL_Reg functions[] = {{"kernel", opencl_kernel}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"array", twin_array}, {"double", twin_double}, {"int", twin_int},
                                     {"run", twin_run},     {"shared", twin_shared}, {NULL, NULL}};
  static const luaL_Reg metamethods[] = {{"__gc", twin_collect}, {NULL, NULL}};
  luaL_newmetatable(L, "opencl.twin");
  luaL_setfuncs(L, metamethods, 0);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
