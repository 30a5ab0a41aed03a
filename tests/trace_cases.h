/* trace_cases.h - texts that a trace reader takes, and texts that it refuses, for trace_test.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_TRACE_CASES_H
#define ASHLAR_TESTS_TRACE_CASES_H

#include <stddef.h>
#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define V "ashlar-trace 1\n"
#define FIFTY "12345678901234567890123456789012345678901234567890"

static const struct {
  const char *text;
  size_t operations;
  size_t allocations;
  size_t frees;
  uint64_t peak;
} GOOD[] = {
    {V, 0, 0, 0, 0},
    {"ashlar-trace 1", 0, 0, 0, 0},
    {"ashlar-trace 1\r\n", 0, 0, 0, 0},
    {"ashlar-trace 1\r", 0, 0, 0, 0},
    {V "a 0 512", 1, 1, 0, 512},
    {V "a 0 512\n\n\nf 0\n", 2, 1, 1, 512},
    {V "a 0 512\r\nf 0\r\n", 2, 1, 1, 512},
    {V "a 0 512\r\nf 0\r", 2, 1, 1, 512},
    {V "a 0 0\nu 0 1\nf 0\n", 3, 1, 1, 0},
    {V "a 18446744073709551615 18446744073709551615\n", 1, 1, 0, UINT64_MAX},
    {V "a 1 18446744073709551615\na 2 1\nf 1\nf 2\na 1 5\n", 5, 3, 2, UINT64_MAX},
    {V "a 1 9223372036854775808\na 2 9223372036854775808\nf 1\n", 3, 2, 1, UINT64_MAX},
    {V "a 5 1\nf 5\na 5 2\nf 5\na 5 3\n", 5, 3, 2, 3},
    {V "a 1 10\na 2 20\nf 1\na 3 5\nf 2\nf 3\n", 6, 3, 3, 30},
    {V "a 1 1 0\na 2 1 7 127\na 3 1 0xFfFf00000000000A\na 4 1 0x0000000000000001 0\n", 4, 4, 0, 4},
    {V "a 1 1 18446744073709551615\nu 1 0xffffffffffffffff\n", 2, 1, 0, 1},
    {V "e\ne 0\ne 127\ns x\ns step-1:forward/~!\n", 5, 0, 0, 0},
    {V "# note \t \xc3\xa9\n#\n#x\ns a\n# later\n#\n", 1, 0, 0, 0},
    {V "peak 12\n# between\nfrees 1\n\nallocations 2\na 0 4\na 1 8\nf 0\n", 3, 2, 1, 12},
    {V "peak 18446744073709551615\na 0 18446744073709551615\na 1 9\n", 2, 2, 0, UINT64_MAX},
    {V "#" FIFTY FIFTY FIFTY FIFTY FIFTY "1234\ns a\n", 1, 0, 0, 0},
    {V "s 1234567890123" FIFTY "\n", 1, 0, 0, 0},
};

/* `line`: where the refusal must point; `reason`: part of its text. `length` 0: terminated text. */
static const struct {
  const char *text;
  size_t length;
  uint64_t line;
  const char *reason;
} BAD[] = {
    /* the first line */
    {"", 0, 1, "no trace"},
    {"\n", 0, 1, "no trace"},
    {"a 0 512\n", 0, 1, "no trace"},
    {"# comment\n" V, 0, 1, "no trace"},
    {"\n" V, 0, 1, "no trace"},
    {"ashlar-trace\n", 0, 1, "version"},
    {"ashlar-trace 2\n", 0, 1, "version"},
    {"ashlar-trace 01\n", 0, 1, "version"},
    {"ashlar-trace 1 1\n", 0, 1, "version"},
    {"ashlar-trace 11\n", 0, 1, "version"},
    {"Ashlar-trace 1\n", 0, 1, "no trace"},
    {"ashlar-traces 1\n", 0, 1, "no trace"},
    {"ashlar-trace 1 \n", 0, 1, "stray space"},
    {" ashlar-trace 1\n", 0, 1, "stray space"},
    {"ashlar-trace  1\n", 0, 1, "stray space"},
    {"\xef\xbb\xbf" V, 0, 1, "byte order mark"},
    {V V, 0, 2, "'ashlar-trace' is no operation"},
    /* bytes */
    {V "a 0 5\0\n", sizeof V - 1 + 7, 2, "byte 0x00"},
    {V "\0", sizeof V, 2, "byte 0x00"},
    {V "# a\0b\n", sizeof V - 1 + 6, 2, "byte 0x00"},
    {V "s a\n# a\0b\n", sizeof V - 1 + 10, 3, "byte 0x00"},
    {V "# a\x1b[2J\n", 0, 2, "byte 0x1b"},
    {V "# a\x7f\n", 0, 2, "byte 0x7f"},
    {V "s a\n# a\x1b\n", 0, 3, "byte 0x1b"},
    {V "a\t0 5\n", 0, 2, "byte 0x09"},
    {V "a 0 5\r\r\n", 0, 2, "byte 0x0d"},
    {V "a 0\r 5\n", 0, 2, "byte 0x0d"},
    {V "# \r x\n", 0, 2, "byte 0x0d"},
    {"ashlar-trace 1\ra 0 5\r", 0, 1, "byte 0x0d"},
    {V "s caf\xc3\xa9\n", 0, 2, "byte 0xc3"},
    {V "s a\x7f\n", 0, 2, "byte 0x7f"},
    {V "a 0\xc2\xa0"
       "5\n",
     0, 2, "byte 0xc2"},
    /* spaces and length */
    {V "a  0 5\n", 0, 2, "stray space"},
    {V " a 0 5\n", 0, 2, "stray space"},
    {V "a 0 5 \n", 0, 2, "stray space"},
    {V " \n", 0, 2, "stray space"},
    {V "a 0 5 \r\n", 0, 2, "stray space"},
    {V "#" FIFTY FIFTY FIFTY FIFTY FIFTY "12345\n", 0, 2, "a line of 256 bytes"},
    {V "s a\n#" FIFTY FIFTY FIFTY FIFTY FIFTY "12345\n", 0, 3, "a line of 256 bytes"},
    {V "a 0 " FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "\n", 0, 2, "a line of 304 bytes"},
    /* operations and fields */
    {V "x 0\n", 0, 2, "'x' is no operation"},
    {V "A 0 5\n", 0, 2, "'A' is no operation"},
    {V "alloc 0 5\n", 0, 2, "'alloc' is no operation"},
    {V "aa 0 5\n", 0, 2, "'aa' is no operation"},
    {V "0\n", 0, 2, "'0' is no operation"},
    {V "a\n", 0, 2, "missing field: the form is 'a ID SIZE [STREAM [DEVICE]]'"},
    {V "a 0\n", 0, 2, "missing field"},
    {V "a 0 5 0 0 0\n", 0, 2, "extra field"},
    {V "a 0 5\nf\n", 0, 3, "missing field: the form is 'f ID'"},
    {V "a 0 5\nf 0 5\n", 0, 3, "extra field: the form is 'f ID'"},
    {V "a 0 5\nu 0\n", 0, 3, "missing field: the form is 'u ID STREAM'"},
    {V "a 0 5\nu 0 1 0\n", 0, 3, "extra field"},
    {V "e 0 0\n", 0, 2, "extra field"},
    {V "s\n", 0, 2, "missing field: the form is 's NAME'"},
    {V "s a b\n", 0, 2, "extra field"},
    {V "s 12345678901234" FIFTY "\n", 0, 2, "a name of 64 bytes"},
    {V "a 0 5 # comment\n", 0, 2, "'#' is no decimal number"},
    /* numbers */
    {V "a -1 5\n", 0, 2, "'-1' is no decimal number"},
    {V "a +1 5\n", 0, 2, "'+1' is no decimal number"},
    {V "a 0 1e3\n", 0, 2, "'1e3' is no decimal number"},
    {V "a 0 5a\n", 0, 2, "'5a' is no decimal number"},
    {V "a 0 0x20\n", 0, 2, "'0x20' is no decimal number"},
    {V "a 0x1 5\n", 0, 2, "'0x1' is no decimal number"},
    {V "a 0 010\n", 0, 2, "'010' is no decimal number"},
    {V "a 00 5\n", 0, 2, "'00' is no decimal number"},
    {V "a 0 5.0\n", 0, 2, "'5.0' is no decimal number"},
    {V "a 0 18446744073709551616\n", 0, 2, "above 2^64 - 1"},
    {V "a 0 18446744073709551620\n", 0, 2, "above 2^64 - 1"},
    {V "a 0 99999999999999999999\n", 0, 2, "above 2^64 - 1"},
    {V "a 18446744073709551616 1\n", 0, 2, "above 2^64 - 1"},
    {V "a 0 " FIFTY "\n", 0, 2, "'1234567890123456789012345678901234567890' is above"},
    {V "a 0 1 0x\n", 0, 2, "'0x' is no stream handle"},
    {V "a 0 1 0xg\n", 0, 2, "'0xg' is no stream handle"},
    {V "a 0 1 0x1 2 3\n", 0, 2, "extra field"},
    {V "a 0 1 0x10000000000000000\n", 0, 2, "is no stream handle"},
    {V "a 0 1 0X1\n", 0, 2, "'0X1' is no decimal number"},
    {V "a 0 1 x1\n", 0, 2, "'x1' is no decimal number"},
    {V "a 0 1 07\n", 0, 2, "'07' is no decimal number"},
    {V "a 0 1 18446744073709551616\n", 0, 2, "above 2^64 - 1"},
    {V "a 0 1 0 128\n", 0, 2, "device 128"},
    {V "a 0 1 0 255\n", 0, 2, "device 255"},
    {V "a 0 1 0 256\n", 0, 2, "device 256"},
    {V "a 0 1 0 -1\n", 0, 2, "'-1' is no decimal number"},
    {V "e 128\n", 0, 2, "device 128"},
    {V "e 255\n", 0, 2, "device 255"},
    {V "a 0 5\nu 0 x\n", 0, 3, "'x' is no decimal number"},
    {V "a 0 5\nf 0x0\n", 0, 3, "'0x0' is no decimal number"},
    {V "a 0 5\nu 00 1\n", 0, 3, "'00' is no decimal number"},
    /* ids */
    {V "f 0\n", 0, 2, "id 0 was never allocated"},
    {V "u 7 1\n", 0, 2, "id 7 was never allocated"},
    {V "a 0 5\nf 1\n", 0, 3, "id 1 was never allocated"},
    {V "a 0 5\nf 0\nf 0\n", 0, 4, "id 0 was freed before"},
    {V "a 0 5\nf 0\nu 0 1\n", 0, 4, "id 0 was freed before"},
    {V "a 0 5\n\n# c\na 0 5\n", 0, 5, "id 0 is allocated and not freed yet"},
    {V "a 0 0\na 0 0\n", 0, 3, "id 0 is allocated and not freed yet"},
    {V "a 0 5\nf 0\na 0 5\na 0 5\n", 0, 5, "id 0 is allocated"},
    {V "a 0 5 0 0\na 0 5 0 1\n", 0, 3, "id 0 is allocated"},
    /* statements */
    {V "allocations\n", 0, 2, "missing field: the form is 'allocations N'"},
    {V "allocations 1 2\n", 0, 2, "extra field"},
    {V "allocations x\n", 0, 2, "'x' is no decimal number"},
    {V "allocation 1\n", 0, 2, "'allocation' is no operation"},
    {V "allocations 1\n", 0, 2, "'allocations 1' is stated, but there are 0"},
    {V "allocations 0\na 0 5\n", 0, 2, "'allocations 0' is stated, but there are 1"},
    {V "allocations 1\nfrees 1\na 0 5\n", 0, 3, "'frees 1' is stated, but there are 0"},
    {V "frees 0\na 0 5\nf 0\n", 0, 2, "'frees 0' is stated, but there are 1"},
    {V "peak 4\na 0 5\n", 0, 2, "'peak 4' is stated, but there are 5"},
    {V "peak 6\na 0 5\n", 0, 2, "'peak 6' is stated, but there are 5"},
    {V "peak 1\nfrees 0\npeak 1\n", 0, 4, "'peak' is stated already, in line 2"},
    {V "s a\npeak 0\n", 0, 3, "'peak' after the first operation"},
};

#endif
