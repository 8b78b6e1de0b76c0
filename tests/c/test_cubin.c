/* SPDX-License-Identifier: MIT
 *
 * Reading compiled code: a real cubin of every architecture that NVRTC knows, damaged ones, and PTX. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/backend/cuda/cubin.h"
#include "core/backend/cuda/driver.h"

static const char source[] =
    "__constant__ float coef[8]; __device__ double total;\n"
    "extern \"C\" __global__ void __launch_bounds__(128) one(float *x, char c, double d, int n) {\n"
    "  __shared__ float tile[256]; tile[threadIdx.x] = x[n] + coef[c & 7]; __syncthreads();\n"
    "  x[n] = tile[255 - threadIdx.x]; total = d; }\n"
    "extern \"C\" __global__ void two(float *x) { x[0] = 1; }\n";

static void *compile(int arch, bool ptx, size_t *size) {
  cuda_program program;
  char option[64];
  const char *options[] = {option};
  void *image;
  snprintf(option, sizeof option, "--gpu-architecture=%s_%d", ptx ? "compute" : "sm", arch);
  assert_int_equal(cuda_nvrtc.nvrtcCreateProgram(&program, source, "t.cu", 0, NULL, NULL), 0);
  assert_int_equal(cuda_nvrtc.nvrtcCompileProgram(program, 1, options), 0);
  assert_int_equal((ptx ? cuda_nvrtc.nvrtcGetPTXSize : cuda_nvrtc.nvrtcGetCUBINSize)(program, size), 0);
  image = malloc(*size);
  assert_int_equal((ptx ? cuda_nvrtc.nvrtcGetPTX : cuda_nvrtc.nvrtcGetCUBIN)(program, image), 0);
  cuda_nvrtc.nvrtcDestroyProgram(&program);
  return image;
}

static const cuda_entry *entry_named(const cuda_image *image, const char *name) {
  for (int i = 0; i < image->nentries; i++)
    if (strcmp(image->entries[i].symbol, name) == 0) return &image->entries[i];
  fail_msg("no kernel %s", name);
  return NULL;
}

static void check_slots(const cuda_entry *one) {
  static const cuda_slot want[] = {{0, 8}, {8, 1}, {16, 8}, {24, 4}};
  assert_int_equal(one->nslots, 4);
  assert_memory_equal(one->slots, want, sizeof want);
  assert_int_equal(one->args_bytes, 28);
}

static void check_globals(const cuda_image *image) {
  assert_int_equal(image->nglobals, 2);
  for (int i = 0; i < 2; i++) {
    bool constant = strcmp(image->globals[i].symbol, "coef") == 0;
    assert_int_equal(image->globals[i].constant, constant);
    assert_int_equal(image->globals[i].bytes, constant ? 32 : 8);
  }
  assert_int_equal(image->const_bytes, 32);
}

static void every_architecture(void **state) {
  (void)state;
  if (!cuda_nvrtc_load(NULL, 0)) skip();
  for (int i = 0; i < cuda_nvrtc.narchs; i++) {
    cuda_image image;
    size_t size;
    void *bytes = compile(cuda_nvrtc.archs[i], false, &size);
    assert_true(cuda_cubin_read(bytes, size, &image));
    free(bytes); /* what is read does not depend on it */
    assert_int_equal(image.nentries, 2);
    const cuda_entry *one = entry_named(&image, "one"), *two = entry_named(&image, "two");
    check_slots(one);
    check_globals(&image);
    assert_int_equal(one->shared_bytes, 1024);
    assert_int_equal(one->max_threads, 128);
    assert_in_range(one->registers, 6, 64);
    assert_int_equal(two->nslots, 1);
    assert_int_equal(two->shared_bytes, 0);
    assert_int_equal(two->max_threads, 0);
    cuda_image_free(&image);
  }
}

/* A launch writes each argument where its slot says. */
static void check_room(cuda_image *image) {
  for (int i = 0; i < image->nentries; i++)
    for (int k = 0; k < image->entries[i].nslots; k++) {
      const cuda_slot *slot = &image->entries[i].slots[k];
      assert_true((size_t)slot->offset + slot->size <= image->entries[i].args_bytes);
    }
  cuda_image_free(image);
}

/* Cut short anywhere, or with any byte of its tables changed: rejected or read, never a bad access. */
static void damaged(void **state) {
  (void)state;
  if (!cuda_nvrtc_load(NULL, 0)) skip();
  size_t size;
  unsigned char *bytes = compile(cuda_nvrtc.archs[cuda_nvrtc.narchs - 1], false, &size);
  cuda_image image;
  for (size_t cut = 0; cut < size; cut += 7) {
    void *part = malloc(cut ? cut : 1);
    memcpy(part, bytes, cut);
    if (cuda_cubin_read(part, cut, &image)) cuda_image_free(&image);
    free(part);
  }
  for (size_t at = 0; at < size; at++) {
    unsigned char kept = bytes[at];
    for (int change = 0; change < 3; change++) {
      bytes[at] = (unsigned char)(change == 0 ? 0xff : change == 1 ? kept ^ 0x80 : kept + 1);
      if (cuda_cubin_read(bytes, size, &image)) check_room(&image);
    }
    bytes[at] = kept;
  }
  assert_false(cuda_cubin_read("not an ELF file, but long enough to be one: 0123456789012345678901234567890123456789",
                               80, &image));
  free(bytes);
}

static void ptx(void **state) {
  (void)state;
  if (!cuda_nvrtc_load(NULL, 0)) skip();
  for (int i = 0; i < cuda_nvrtc.narchs; i++) {
    cuda_image image;
    size_t size;
    char *text = compile(cuda_nvrtc.archs[i], true, &size);
    assert_true(cuda_ptx_read(text, &image));
    assert_int_equal(image.nentries, 2);
    check_slots(entry_named(&image, "one"));
    check_globals(&image);
    cuda_image_free(&image);
    free(text);
  }
  cuda_image image;
  assert_false(cuda_ptx_read("nothing of the kind", &image));
  static const char large[] =
      ".target sm_90\n.visible .entry k(\n.param .u32 c,\n.param .align 8 .b64 a[%s],\n.param .u32 b\n)\n{ }\n";
  static const char *const counts[] = {"4294967304", "18446744073709551615", "2305843009213693953", "32765"};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    char text[256];
    snprintf(text, sizeof text, large, counts[i]);
    assert_true(cuda_ptx_read(text, &image));
    assert_true(image.entries[0].args_bytes > MW_MOST_ARGS);
    cuda_image_free(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_architecture), cmocka_unit_test(damaged),
                                     cmocka_unit_test(ptx)};
  return cmocka_run_group_tests_name("cubin", tests, NULL, NULL);
}
