/* variants_test.c - a test is built with the capacity that it asks for, and its _asan variant dies of faults.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_capacity(void **state)
{
  (void)state;
  assert_int_equal(ASHLAR_SLOTS, 64);
}

#ifdef __SANITIZE_ADDRESS__
/* Volatile, so that the compiler cannot see the faults coming. */
static volatile size_t past_the_end = 16;
static volatile int largest = INT_MAX;
static volatile int sink;

static void read_past_the_end(void)
{
  char *bytes = calloc(past_the_end, 1);
  sink = bytes == NULL ? 0 : bytes[past_the_end];
  free(bytes);
}

static void overflow(void)
{
  sink = largest + 1;
}

/* Whether a process that runs the fault ends with status 0; its report is not shown. */
static bool survives(void (*fault)(void))
{
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    fault();
    _exit(0);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  return status == 0;
}

static void harmless(void)
{
}

static void test_sanitizers(void **state)
{
  (void)state;
  assert_true(survives(harmless));
  assert_false(survives(read_past_the_end));
  assert_false(survives(overflow));
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_capacity),
#ifdef __SANITIZE_ADDRESS__
      cmocka_unit_test(test_sanitizers),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
