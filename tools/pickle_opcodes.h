/* The opcodes of Python's pickle format.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_PICKLE_OPCODES_H
#define ASHLAR_TOOLS_PICKLE_OPCODES_H

#include <stdint.h>

/* Those that the reader accepts or the writer emits. All others are refused: they import, call or
 * build objects, name things outside the file, or belong to the text protocols 0 and 1. */
enum ashlar_pickle_opcode {
  ASHLAR_OP_MARK = '(',
  ASHLAR_OP_EMPTY_TUPLE = ')',
  ASHLAR_OP_STOP = '.',
  ASHLAR_OP_POP = '0',
  ASHLAR_OP_POP_MARK = '1',
  ASHLAR_OP_DUP = '2',
  ASHLAR_OP_BINBYTES = 'B',
  ASHLAR_OP_SHORT_BINBYTES = 'C',
  ASHLAR_OP_BINFLOAT = 'G',
  ASHLAR_OP_BININT = 'J',
  ASHLAR_OP_BININT1 = 'K',
  ASHLAR_OP_BININT2 = 'M',
  ASHLAR_OP_NONE = 'N',
  ASHLAR_OP_BINSTRING = 'T',
  ASHLAR_OP_SHORT_BINSTRING = 'U',
  ASHLAR_OP_BINUNICODE = 'X',
  ASHLAR_OP_EMPTY_LIST = ']',
  ASHLAR_OP_APPEND = 'a',
  ASHLAR_OP_DICT = 'd',
  ASHLAR_OP_APPENDS = 'e',
  ASHLAR_OP_BINGET = 'h',
  ASHLAR_OP_LONG_BINGET = 'j',
  ASHLAR_OP_LIST = 'l',
  ASHLAR_OP_BINPUT = 'q',
  ASHLAR_OP_LONG_BINPUT = 'r',
  ASHLAR_OP_SETITEM = 's',
  ASHLAR_OP_TUPLE = 't',
  ASHLAR_OP_SETITEMS = 'u',
  ASHLAR_OP_EMPTY_DICT = '}',
  ASHLAR_OP_PROTO = 0x80,
  ASHLAR_OP_TUPLE1 = 0x85,
  ASHLAR_OP_TUPLE2 = 0x86,
  ASHLAR_OP_TUPLE3 = 0x87,
  ASHLAR_OP_NEWTRUE = 0x88,
  ASHLAR_OP_NEWFALSE = 0x89,
  ASHLAR_OP_LONG1 = 0x8a,
  ASHLAR_OP_LONG4 = 0x8b,
  ASHLAR_OP_SHORT_BINUNICODE = 0x8c,
  ASHLAR_OP_BINUNICODE8 = 0x8d,
  ASHLAR_OP_BINBYTES8 = 0x8e,
  ASHLAR_OP_EMPTY_SET = 0x8f,
  ASHLAR_OP_ADDITEMS = 0x90,
  ASHLAR_OP_FROZENSET = 0x91,
  ASHLAR_OP_MEMOIZE = 0x94,
  ASHLAR_OP_FRAME = 0x95,
  ASHLAR_OP_BYTEARRAY8 = 0x96
};

/* Name of an opcode byte, accepted or not; NULL for a byte that is no opcode. Static text. */
const char *ashlar_pickle_opcode_name(uint8_t opcode);

/* Bytes that directly follow an accepted opcode: its number, or the length of the text or bytes
 * that come after. 0 for all others. At most 8. */
unsigned ashlar_pickle_argument_bytes(uint8_t opcode);

#endif
