/* SPDX-License-Identifier: MIT
 *
 * Running other programs: output, input, exit status, limits. */
#include "core/compile/process.h"

#include <pthread.h>
#include <time.h>

#include "tests/c/test.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static mw_status shell(const char *script, const char *input, double seconds, mw_process_result *result,
                       mw_error *error) {
  const char *argv[] = {"sh", "-c", script, NULL};
  return mw_process_run(argv, input, input ? strlen(input) : 0, seconds, result, error);
}

static void output_and_status(void **state) {
  (void)state;
  mw_process_result result;
  mw_error error = {0};
  assert_int_equal(shell("echo out; echo err >&2; exit 3", NULL, 0, &result, &error), MW_OK);
  assert_int_equal(result.exit, 3);
  assert_string_equal(result.out, "out\n");
  assert_string_equal(result.err, "err\n");
  mw_process_result_free(&result);
  assert_int_equal(shell("kill -9 $$", NULL, 0, &result, &error), MW_OK);
  assert_int_equal(result.exit, 128 + 9);
  assert_string_equal(result.out, "");
  mw_process_result_free(&result);
}

static void large_input_and_output(void **state) {
  (void)state;
  enum { SIZE = 3000000 };
  char *input = malloc(SIZE + 1);
  memset(input, 'x', SIZE);
  input[SIZE] = '\0';
  mw_process_result result;
  mw_error error = {0};
  assert_int_equal(shell("tee /dev/stderr", input, 0, &result, &error), MW_OK);
  assert_int_equal(result.out_size, SIZE);
  assert_int_equal(result.err_size, SIZE);
  assert_string_equal(result.out, input);
  mw_process_result_free(&result);
  assert_int_equal(shell("true", input, 0, &result, &error), MW_OK); /* never reads it */
  mw_process_result_free(&result);
  assert_int_equal(shell("cat", NULL, 0, &result, &error), MW_OK); /* no input: the end of file at once */
  assert_string_equal(result.out, "");
  mw_process_result_free(&result);
  free(input);
}

static void not_found(void **state) {
  (void)state;
  mw_process_result result;
  mw_error error = {0};
  const char *argv[] = {"no-such-program-here", NULL};
  assert_int_equal(mw_process_run(argv, NULL, 0, 0, &result, &error), MW_IO);
  assert_string_equal(error.text, "cannot run 'no-such-program-here': not found on the PATH");
  char path[256];
  assert_false(mw_process_find("no-such-program-here", path, sizeof path));
  assert_true(mw_process_find("sh", path, sizeof path));
  assert_int_equal(path[0], '/');
  assert_true(mw_process_find("/bin/sh", path, sizeof path));
  assert_false(mw_process_find("sh", path, 3));
}

static void a_limit_kills_it_and_its_children(void **state) {
  (void)state;
  mw_process_result result;
  mw_error error = {0};
  double from = now();
  assert_int_equal(shell("echo begun; sleep 30 & sleep 30", NULL, 0.2, &result, &error), MW_INTERRUPTED);
  assert_true(now() - from < 5);
  assert_string_equal(error.text, "'sh' did not finish within 0.2 s");
  assert_string_equal(result.out, "begun\n");
  mw_process_result_free(&result);
  assert_int_equal(shell("exec >&- 2>&-; sleep 30", NULL, 0.2, &result, &error), MW_INTERRUPTED);
  mw_process_result_free(&result);
}

static void *interrupt_soon(void *unused) {
  usleep(100000);
  atomic_store(&mw_interrupted, true);
  return unused;
}

static void an_interrupt_kills_it(void **state) {
  (void)state;
  mw_process_result result;
  mw_error error = {0};
  pthread_t thread;
  pthread_create(&thread, NULL, interrupt_soon, NULL);
  double from = now();
  assert_int_equal(shell("sleep 30", NULL, 0, &result, &error), MW_INTERRUPTED);
  assert_true(now() - from < 5);
  assert_string_equal(error.text, "interrupted while 'sh' was running");
  pthread_join(thread, NULL);
  atomic_store(&mw_interrupted, false);
  mw_process_result_free(&result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_and_status),
      cmocka_unit_test(large_input_and_output),
      cmocka_unit_test(not_found),
      cmocka_unit_test(a_limit_kills_it_and_its_children),
      cmocka_unit_test(an_interrupt_kills_it),
  };
  return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
