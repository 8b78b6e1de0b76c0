/* SPDX-License-Identifier: MIT
 *
 * Running other programs: output, input, exit status, limits. */
#include "core/compile/process.h"

#include <pthread.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "tests/c/test.h"

static mw_status shell(const char *script, const char *input, double seconds, mw_process_result *result,
                       mw_error *error) {
  const char *argv[] = {"sh", "-c", script, NULL};
  const mw_process process = {
      .argv = argv, .input = input, .input_size = input ? strlen(input) : 0, .seconds = seconds};
  return mw_process_run(&process, result, error);
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
  assert_int_equal(mw_process_run(&(mw_process){.argv = argv}, &result, &error), MW_IO);
  assert_string_equal(error.text, "cannot run 'no-such-program-here': not found on the PATH");
  char path[256];
  assert_false(mw_process_find("no-such-program-here", path, sizeof path));
  assert_true(mw_process_find("sh", path, sizeof path));
  assert_int_equal(path[0], '/');
  assert_true(mw_process_find("/bin/sh", path, sizeof path));
  assert_false(mw_process_find("sh", path, 3));
}

/* Dead, even if no one has waited for it yet. */
static bool is_gone(int pid) {
  char path[64], state = 'Z';
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file) return true;
  if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
  fclose(file);
  return state == 'Z' || state == 'X';
}

static int number_in(const char *path) {
  int number = 0;
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  if (fscanf(file, "%d", &number) != 1) number = 0;
  fclose(file);
  return number;
}

/* What takes a thousand seconds is over at once, or this test is not; the limit grows until the script has begun. */
static void a_limit_kills_it_and_its_children(void **state) {
  (void)state;
  static const double limits[] = {0.1, 1, 10, 60};
  mw_process_result result;
  mw_error error = {0};
  char folder[256], note[300], script[400];
  int child = 0;
  scratch_folder(folder);
  snprintf(note, sizeof note, "%s/child", folder);
  snprintf(script, sizeof script, "echo begun; sleep 1000 & echo $! >'%s'; sleep 1000", note);
  for (int i = 0; i < 4 && child == 0; i++) {
    char want[64];
    assert_int_equal(shell(script, NULL, limits[i], &result, &error), MW_IO);
    snprintf(want, sizeof want, "'sh' did not finish within %g s", limits[i]);
    assert_string_equal(error.text, want);
    assert_null(result.out); /* what it had said was lost to its caller, and leaked */
    assert_null(result.err);
    child = number_in(note);
  }
  assert_true(child > 0);
  while (!is_gone(child)) usleep(1000); /* SIGKILL is on its way to it */
  assert_int_equal(shell("exec >&- 2>&-; sleep 1000", NULL, 0.1, &result, &error), MW_IO);
  scratch_remove(folder);
}

static char begun[300];

static void *interrupt_when_begun(void *unused) {
  while (access(begun, F_OK) != 0) usleep(1000);
  atomic_store(&mw_interrupted, true);
  return unused;
}

static void an_interrupt_kills_it(void **state) {
  (void)state;
  mw_process_result result;
  mw_error error = {0};
  pthread_t thread;
  char folder[256], script[400];
  scratch_folder(folder);
  snprintf(begun, sizeof begun, "%s/begun", folder);
  snprintf(script, sizeof script, "echo >'%s'; sleep 1000", begun);
  pthread_create(&thread, NULL, interrupt_when_begun, NULL);
  assert_int_equal(shell(script, NULL, 0, &result, &error), MW_INTERRUPTED);
  assert_string_equal(error.text, "interrupted while 'sh' was running");
  pthread_join(thread, NULL);
  atomic_store(&mw_interrupted, false);
  assert_null(result.out);
  scratch_remove(folder);
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
