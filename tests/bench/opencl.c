/* SPDX-License-Identifier: MIT
 *
 * The least of OpenCL that tests/bench/cpu_pocl.lua needs: one kernel at a time, built from source on the first CPU
 * device of the first platform, arguments by position from 1, one blocking run. Arrays are used in place. */
#define CL_TARGET_OPENCL_VERSION 120
#include "native.h"

#include <CL/cl.h>
#include <stdio.h>

native_function open_kernel, set_array, set_double, set_int, set_shared, run, close_kernel;

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel kernel;
static cl_mem buffers[NATIVE_ARGUMENTS];

static char message[4200];

static const char *outcome(cl_int code, const char *call) {
  snprintf(message, sizeof message, "%s failed with code %d", call, (int)code);
  return code == CL_SUCCESS ? NULL : message;
}

static const char *build(cl_device_id device) {
  static char log[4096];
  if (clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL) == CL_SUCCESS) return NULL;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  snprintf(message, sizeof message, "clBuildProgram failed:\n%s", log);
  return message;
}

/* open_kernel(source, name) */
const char *open_kernel(const native_value *v, double *result) {
  const char *source = v[0].text, *error;
  cl_platform_id platform;
  cl_device_id device;
  cl_uint count = 0;
  cl_int code;
  (void)result;
  if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0)
    return "no OpenCL platform is installed (on Debian and Ubuntu: apt install pocl-opencl-icd)";
  code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL);
  if (code != CL_SUCCESS) return outcome(code, "clGetDeviceIDs");
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  if (!context) return outcome(code, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &code);
  if (!queue) return outcome(code, "clCreateCommandQueue");
  program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  if (!program) return outcome(code, "clCreateProgramWithSource");
  if ((error = build(device))) return error;
  kernel = clCreateKernel(program, v[1].text, &code);
  return outcome(code, "clCreateKernel");
}

static const char *set(const native_value *position, size_t bytes, const void *value) {
  return outcome(clSetKernelArg(kernel, (cl_uint)(position->integer - 1), bytes, value), "clSetKernelArg");
}

/* set_array(position, address, bytes) */
const char *set_array(const native_value *v, double *result) {
  cl_mem *buffer = &buffers[v[0].integer - 1];
  cl_int code;
  (void)result;
  *buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, (size_t)v[2].integer,
                           NATIVE_ARRAY(void, v[1]), &code);
  return *buffer ? set(&v[0], sizeof *buffer, buffer) : outcome(code, "clCreateBuffer");
}

/* set_double(position, value) */
const char *set_double(const native_value *v, double *result) {
  cl_double value = v[1].number;
  (void)result;
  return set(&v[0], sizeof value, &value);
}

/* set_int(position, value) */
const char *set_int(const native_value *v, double *result) {
  cl_int value = (cl_int)v[1].integer;
  (void)result;
  return set(&v[0], sizeof value, &value);
}

/* set_shared(position, bytes): local memory */
const char *set_shared(const native_value *v, double *result) {
  (void)result;
  return set(&v[0], (size_t)v[1].integer, NULL);
}

/* run(gx, gy, bx, by): gx by gy groups of bx by by work items; returns when they are done */
const char *run(const native_value *v, double *result) {
  size_t local[2] = {(size_t)v[2].integer, (size_t)v[3].integer};
  size_t global[2] = {(size_t)v[0].integer * local[0], (size_t)v[1].integer * local[1]};
  (void)result;
  cl_int code = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
  return code == CL_SUCCESS ? outcome(clFinish(queue), "clFinish") : outcome(code, "clEnqueueNDRangeKernel");
}

/* close_kernel() */
const char *close_kernel(const native_value *v, double *result) {
  (void)v;
  (void)result;
  for (int i = 0; i < NATIVE_ARGUMENTS; i++) {
    if (buffers[i]) clReleaseMemObject(buffers[i]);
    buffers[i] = NULL;
  }
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return NULL;
}
