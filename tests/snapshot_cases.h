/* Nasty snapshots, one a row; the notation is that of tests/pickle_text.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SNAPSHOT_CASES_H
#define ASHLAR_TESTS_SNAPSHOT_CASES_H

/* A place in a snapshot, with the least around it that makes it one. */
#define P "80 04 "
#define TOP(x) P "} ( 'segments' ] " x " u ."
#define SEGMENTS(x) P "} ( 'segments' ] ( " x " e u ."
#define SEGMENT(x) SEGMENTS("} ( " x " u")
#define PLACED(x) SEGMENT("'address' #4096 'total_size' #1024 " x)
#define BLOCKS(x) PLACED("'blocks' ] ( " x " e")
#define BLOCK(x) BLOCKS("} ( " x " u")
#define TRACES(x) TOP("'device_traces' ] ( " x " e")
#define EVENTS(x) TRACES("] ( " x " e")
#define EVENT(x) EVENTS("} ( " x " u")
#define ALLOC(x) EVENT("'action' 'alloc' 'addr' #4096 " x)
#define SIZED(x) ALLOC("'size' #512 " x)
#define FRAMES(x) SIZED("'frames' ] ( " x " e")
#define SETTINGS(x) TOP("'allocator_settings' } ( " x " u")

#define A_BLOCK "} ( 'size' #512 'state' 'inactive' u"
#define A_SEGMENT "} ( 'address' #4096 'total_size' #1024 'blocks' ] u"
#define AN_EVENT "} ( 'action' 'alloc' 'addr' #4096 'size' #512 u"

/* Integers of more than 8 bytes. */
#define UINT64_MAX_AS_LONG "8a 09 ff*8 00"
#define TWO_TO_127 "8a 11 00*15 80 00"

struct refused_case {
  const char *name;
  const char *pickle;  /* '@' marks the position of the error; without it, any will do */
  const char *message; /* a part of the error's text */
};

struct accepted_case {
  const char *name;
  const char *pickle;
};

static const struct refused_case REFUSED_CASES[] = {
    /* The header. */
    {"empty input", "", "the input is empty"},
    {"header cut short", "80 @", "cut short"},
    {"protocol 0 text", "@ ( l p 30 0a .", "no pickle of protocol 2 to 5"},
    {"protocol 1, no header", "@ } .", "no pickle of protocol 2 to 5"},
    {"protocol 0 in a header", "@ 80 00 } .", "protocol 0 is not supported"},
    {"protocol 1 in a header", "@ 80 01 } .", "protocol 1 is not supported"},
    {"protocol 6", "@ 80 06 } .", "protocol 6 is not supported"},
    {"protocol 255", "@ 80 ff } .", "protocol 255 is not supported"},
    {"second header of protocol 6", P "@ 80 06 } .", "protocol 6 is not supported"},
    {"JSON", "@ { 22 73 22 : [ ] }", "no pickle of protocol 2 to 5"},
    {"gzip", "@ 1f 8b 08 00", "no pickle of protocol 2 to 5"},
    {"zeros", "80 04 @ 00*40", "byte 0x00 is not a pickle opcode"},
    {"frame longer than the file", P "@ 95 00*7 80 } .", "more than the rest"},
    {"frame one byte too long", P "@ 95 16 00*7 } ( 'segments' ] u .", "more than the rest"},

    /* The end. */
    {"no STOP", P "} ( 'segments' ] u @", "cut short"},
    {"one byte after STOP", TOP("") " @ 2e", "bytes follow the end"},
    {"a second pickle after STOP", TOP("") " @ 80 04 } .", "bytes follow the end"},
    {"STOP with nothing", P "@ .", "too few values"},
    {"STOP within a mark", P "} ( @ .", "STOP leaves 1 values"},
    {"STOP with a value left over", P "} N @ .", "STOP leaves 1 values"},
    {"STOP within skipped data", P "} ( 'segments' ] 'frames' ] ( @ .", "STOP within a list"},

    /* Lengths. */
    {"text of 2^63 bytes", P "} ( @ 8d 00*7 80 N u .", "9223372036854775808 bytes is more"},
    {"text of 2^64 - 1 bytes", P "} ( @ 8d ff*8 N u .", "18446744073709551615 bytes is more"},
    {"text of 2^32 - 1 bytes", P "} ( @ X ff*4 N u .", "4294967295 bytes is more"},
    {"text of 255 bytes, 3 there", P "} ( @ 8c ff a b c", "255 bytes is more"},
    {"bytes of 2^63", P "} ( 'x' @ 8e 00*7 80 u .", "9223372036854775808 bytes is more"},
    {"bytearray of 2^63", P "} ( 'x' @ 96 00*7 80 u .", "9223372036854775808 bytes is more"},
    {"BINBYTES of 2^31", P "} ( 'x' @ B 00*3 80 u .", "2147483648 bytes is more"},
    {"BINSTRING of length -1", P "} ( @ T ff*4 N u .", "negative length"},
    {"LONG4 of length -1", P "} ( 'x' @ 8b ff*4 u .", "negative length"},
    {"LONG4 of length 2^31 - 1", P "} ( 'x' 8b ff*3 7f u .", "cut short"},
    {"LONG1 of 255 bytes, 2 there", P "} ( 'x' 8a ff u . @", "cut short"},
    {"text of 2^63 bytes in frames", P "} ( 'f' ] ( @ 8d 00*7 80 e u .", "is more than the rest"},

    /* The memo. */
    {"memo index 0 of an empty memo", P "@ h 00 .", "memo index 0 is not defined"},
    {"memo index 5 of an empty memo", P "} ( @ h 05 N u .", "memo index 5 is not defined"},
    {"memo index 2^32 - 1 fetched", P "} ( @ j ff*4 N u .", "index 4294967295 is not defined"},
    {"memo index undefined in frames", FRAMES("@ h 07"), "memo index 7 is not defined"},
    {"memo index undefined in frames, long", FRAMES("@ j 00 01 00 00"), "index 256 is not"},
    {"memo index undefined as value", ALLOC("'size' @ h 63"), "memo index 99 is not defined"},
    {"memo index in a hole", FRAMES("N q 05 @ h 04"), "memo index 4 is not defined"},
    {"memo index 2^32 - 1 stored", P "} @ r ff*4 .", "memo index 4294967295 is far beyond"},
    {"memo index 65537 stored first", P "} @ r 01 00 01 00 .", "memo index 65537 is far beyond"},
    {"memo index 2^31 stored in frames", FRAMES("N @ r 00*3 80"), "is far beyond"},
    {"MEMOIZE with nothing", P "@ 94 .", "too few values"},
    {"BINPUT with nothing", P "@ q 00 .", "too few values"},
    {"MEMOIZE on a mark", P "} ( @ 94 u .", "too few values"},
    {"MEMOIZE on a mark in frames", FRAMES("( @ 94 e"), "too few values"},

    /* The stack. */
    {"POP with nothing", P "@ 0 .", "too few values"},
    {"POP_MARK with no mark", P "N @ 1 .", "too few values"},
    {"DUP with nothing", P "@ 2 .", "too few values"},
    {"TUPLE with no mark", P "N N @ t .", "too few values"},
    {"LIST with no mark", P "@ l .", "too few values"},
    {"DICT with no mark", P "@ d .", "too few values"},
    {"DICT of one value", P "( N @ d .", "a key with no value"},
    {"FROZENSET with no mark", P "@ 91 .", "too few values"},
    {"TUPLE1 with nothing", P "@ 85 .", "too few values"},
    {"TUPLE2 of one value", P "N @ 86 .", "too few values"},
    {"TUPLE3 of two values", P "N N @ 87 .", "too few values"},
    {"TUPLE2 across a mark", P "N N ( @ 86 .", "too few values"},
    {"APPEND with no list", P "N @ a .", "too few values"},
    {"APPEND to a number", P "K 01 N @ a .", "no container to fill"},
    {"APPEND to a dictionary", P "} N @ a .", "no container to fill"},
    {"APPENDS with no mark", P "] N @ e .", "too few values"},
    {"APPENDS to a dictionary", P "} ( N @ e .", "no container to fill"},
    {"APPENDS with nothing below", P "( N @ e .", "no container to fill"},
    {"SETITEM with no dictionary", P "N N @ s .", "too few values"},
    {"SETITEM on a list", P "] N N @ s .", "no container to fill"},
    {"SETITEMS with no mark", P "} N N @ u .", "too few values"},
    {"SETITEMS of one value", P "} ( N @ u .", "a key with no value"},
    {"SETITEMS on a list", P "] ( N N @ u .", "no container to fill"},
    {"SETITEMS below two marks", P "} ( ( N N @ u .", "no container to fill"},
    {"ADDITEMS to a list", P "] ( N @ 90 .", "no container to fill"},
    {"APPENDS to a dictionary in frames", FRAMES("} ( N @ e"), "no container to fill"},
    {"APPENDS across marks in frames", FRAMES("( N @ e"), "too few values"},
    {"APPEND with one value in frames", FRAMES("N @ a"), "too few values"},
    {"APPEND to a number in frames", FRAMES("K 01 N @ a"), "no container to fill"},
    {"SETITEM with two values in frames", FRAMES("N N @ s"), "too few values"},
    {"SETITEMS of one value in frames", FRAMES("} ( N @ u"), "a key with no value"},
    {"SETITEMS closes a list of frames", SIZED("'frames' ] ( N N @ u"), "no container to fill"},
    {"TUPLE3 of two values in frames", FRAMES("N N @ 87"), "too few values"},
    {"DUP with nothing in frames", FRAMES("@ 2"), "too few values"},
    {"DICT of one value in frames", FRAMES("( N @ d"), "a key with no value"},
    {"ADDITEMS to a list in frames", FRAMES("] ( N @ 90"), "no container to fill"},
    {"2^20 + 1 values", P "] ( N*1048577 e .", "more than 1048576 values"},
    {"2^21 marks", P "] (*2097152 .", "more than 1048576 marks"},
    {"2^21 lists in a row of APPEND", P "]*2097152 a*2097151 .", "more than 1048576 values"},
    {"frames nested 2^21 deep", FRAMES("(*2097152"), "nested deeper than 1048576"},

    /* Containers of the snapshot twice, or out of their place. */
    {"the snapshot in itself", P "} q 00 ( 'segments' @ h 00 u .", "a container used twice"},
    {"a list of segments in itself", P "] q 00 @ h 00 a .", "a container used twice"},
    {"a segment twice", SEGMENTS("} q 00 ( 'address' #4096 'blocks' ] u @ h 00"),
     "a container used twice"},
    {"a block twice", BLOCKS("} q 00 ( 'size' #512 'state' 'inactive' u @ h 00"),
     "a container used twice"},
    {"an event twice", EVENTS("} q 00 ( 'action' 'oom' u @ h 00"), "a container used twice"},
    {"a trace twice", TRACES("] q 00 ( " AN_EVENT " e @ h 00"), "a container used twice"},
    {"a list of blocks in two segments",
     SEGMENTS("} ( 'address' #4096 'blocks' ] q 00 u } ( 'address' #8192 'blocks' @ h 00 u"),
     "a container used twice"},
    {"a segment filled through the memo", P "} q 00 ( 'segments' ] u h 00 ( N N @ u .",
     "no container to fill"},
    {"segments as device traces", P "} ( 'segments' ] q 00 'device_traces' @ h 00 u .",
     "a container used twice"},
    {"POP of a segment", SEGMENTS(A_SEGMENT " @ 0"), "POP takes a segment out of its place"},
    {"POP_MARK of segments", P "} ( 'segments' ] ( " A_SEGMENT " @ 1 u .", "POP_MARK takes"},
    {"DUP of a segment", SEGMENTS(A_SEGMENT " @ 2"), "DUP takes a segment"},
    {"TUPLE1 of an event", EVENTS(AN_EVENT " @ 85"), "TUPLE1 takes an event"},
    {"TUPLE of finished events", TOP("'device_traces' ] ( ] ( " AN_EVENT " " AN_EVENT " @ t"),
     "TUPLE takes an event"},
    {"a list of segments at two keys", P "} ( 'segments' ] 'segments' @ ] u .", "appears twice"},
    {"two lists of blocks", PLACED("'blocks' ] 'blocks' @ ]"), "'blocks' appears twice"},
    {"two settings", TOP("'allocator_settings' } 'allocator_settings' @ }"), "appears twice"},
    {"a segment filled by DICT", SEGMENTS("( 'address' #4096 @ d"), "holds a dictionary"},
    {"segments filled by LIST", P "} ( 'segments' ( } @ l u .", "holds a list"},
    {"a tuple of segments", P "} ( 'segments' @ ) u .", "holds another value"},

    /* Elements that do not belong there. */
    {"outermost number", P "@ K 01 .", "the outermost value is an integer"},
    {"outermost text", P "@ 'segments' .", "the outermost value is a text"},
    {"outermost tuple", P "} @ 85 .", "TUPLE1 takes the snapshot's dictionary"},
    {"outermost dictionary with no segments", P "} @ .", "key 'segments' is missing"},
    {"other data", P "} ( 'model' 'x' u @ .", "key 'segments' is missing"},
    {"segments is None", P "} ( 'segments' @ N u .", "key 'segments' holds None, not a list"},
    {"segments is a dictionary", P "} ( 'segments' @ } u .", "holds a dictionary, not a list"},
    {"device_traces is a number", TOP("'device_traces' @ K 07"), "holds 7, not a list"},
    {"settings is a list", TOP("'allocator_settings' @ ]"), "holds a list, not a dictionary"},
    {"a number among segments", SEGMENTS("@ K 01"), "the list of segments holds an integer"},
    {"a list among segments", SEGMENTS("@ ]"), "the list of segments holds a list"},
    {"a number between segments", SEGMENTS(A_SEGMENT " N @ " A_SEGMENT), "follows None"},
    {"a text among blocks", BLOCKS("@ 'x'"), "list of blocks holds a text"},
    {"None among events", EVENTS(AN_EVENT " @ N"), "list of events holds None"},
    {"a dictionary among traces", TRACES("@ }"), "the list of device traces holds a dictionary"},
    {"blocks is a number", PLACED("'blocks' @ K 01"), "key 'blocks' holds 1"},
    {"blocks is a dictionary", PLACED("'blocks' @ }"), "key 'blocks' holds a dictionary"},
    {"4097 device traces", TOP("'device_traces' ] ( ]*4097 e"), "more than 4096 device traces"},

    /* Values of a segment. */
    {"address missing", SEGMENT("'total_size' #512"), "segment 0: key 'address' is missing"},
    {"address negative", SEGMENT("'address' @ #-512"), "key 'address' holds -512, not a number"},
    {"address 2^63", SEGMENT("'address' @ #9223372036854775808"), "which is 2^63 or more"},
    {"address a float", SEGMENT("'address' @ G 40 b0 00*6"), "key 'address' holds a float"},
    {"address a text", SEGMENT("'address' @ '4096'"), "key 'address' holds a text"},
    {"total_size 2^64 - 1", SEGMENT("'address' #0 'total_size' @ " UINT64_MAX_AS_LONG),
     "key 'total_size' holds 18446744073709551615, which is 2^63 or more"},
    {"total_size 2^127", SEGMENT("'address' #0 'total_size' @ " TWO_TO_127), "more than 64 bits"},
    {"total_size of 255 bytes", SEGMENT("'address' #0 'total_size' @ 8a ff 00*254 01"),
     "more than 64 bits"},
    {"total_size reaches beyond 2^63", SEGMENT("'address' #9223372036854775807 'total_size' #2"),
     "reach beyond address 2^63"},
    {"second segment's size negative", SEGMENTS(A_SEGMENT " } ( 'total_size' @ #-1 u"),
     "segment 1: key 'total_size' holds -1"},
    {"device 2^31", PLACED("'device' @ #2147483648"), "key 'device' holds 2147483648"},
    {"device -2^31 - 1", PLACED("'device' @ #-2147483649"), "not a device number of 32 bits"},
    {"device a text", PLACED("'device' @ 'cuda'"), "key 'device' holds a text"},
    {"stream a text", PLACED("'stream' @ '0'"), "key 'stream' holds a text, not a stream"},
    {"stream of 128 bits", PLACED("'stream' @ " TWO_TO_127), "more than 64 bits"},
    {"segment_type medium", PLACED("'segment_type' @ 'medium'"), "neither 'small' nor 'large'"},
    {"is_expandable 2", PLACED("'is_expandable' @ K 02"), "neither True nor False"},
    {"pool id of one number", PLACED("'segment_pool_id' K 00 @ 85"), "not a pair"},
    {"pool id of three numbers", PLACED("'segment_pool_id' K 00 K 00 K 00 @ 87"), "not a pair"},
    {"pool id with a negative number", PLACED("'segment_pool_id' K 00 #-1 @ 86"), "not a pair"},
    {"pool id a list of three", PLACED("'segment_pool_id' @ ] ( K*1 00 K 00 K 00 e"), "a list"},
    {"pool id a list of one", PLACED("'segment_pool_id' @ ] K 00 a"), "a list"},
    {"pool id a number", PLACED("'segment_pool_id' @ K 00"), "not a pair"},

    /* Values of a block. */
    {"block size missing", BLOCK("'state' 'inactive'"),
     "block 0 of segment 0: key 'size' is missing"},
    {"block state missing", BLOCK("'size' #512"), "key 'state' is missing"},
    {"block state unknown", BLOCK("'size' #512 'state' @ 'lost'"), "not one of the states"},
    {"block state a number", BLOCK("'size' #512 'state' @ K 01"), "key 'state' holds 1"},
    {"block size negative", BLOCKS(A_BLOCK " } ( 'size' @ #-512 'state' 'inactive' u"),
     "block 1 of segment 0: key 'size' holds -512"},
    {"block size None", BLOCK("'size' N 'state' 'inactive'"), "key 'size' is missing"},
    {"block sizes sum beyond 2^63",
     BLOCKS("} ( 'size' #9223372036854775807 'state' 'inactive' u " A_BLOCK),
     "a block reaches beyond 2^63"},
    {"block address beyond 2^63",
     BLOCK("'address' #9223372036854775807 'size' #512 'state' 'inactive'"),
     "a block reaches beyond 2^63"},

    /* Values of an event. */
    {"action missing", EVENT("'addr' #0 'size' #0"),
     "event 0 of device 0: key 'action' is missing"},
    {"action a number", EVENT("'action' @ K 01"), "key 'action' holds 1"},
    {"action None", EVENT("'action' @ N"), "key 'action' holds None"},
    {"action not UTF-8", EVENT("'action' @ 8c 02 ff fe"), "not UTF-8"},
    {"action of 256 bytes", EVENT("'action' @ X 00 01 00 00 20*256"), "256 bytes is too long"},
    {"alloc with no addr", EVENT("'action' 'alloc' 'size' #512"), "key 'addr' is missing"},
    {"alloc with no size", ALLOC(""), "key 'size' is missing"},
    {"alloc with size None", ALLOC("'size' N"), "key 'size' is missing"},
    {"alloc with negative size", ALLOC("'size' @ #-1"), "key 'size' holds -1"},
    {"alloc with a float size", ALLOC("'size' @ G 40 80 00*6"), "key 'size' holds a float"},
    {"alloc of 2^64 - 1 bytes", ALLOC("'size' " UINT64_MAX_AS_LONG), "reach beyond address 2^63"},
    {"alloc of 2^127 bytes", ALLOC("'size' @ " TWO_TO_127), "more than 64 bits"},
    {"segment_free with no addr", EVENT("'action' 'segment_free' 'size' #512"),
     "key 'addr' is missing"},
    {"third event's size", EVENTS(AN_EVENT " " AN_EVENT " } ( 'action' 'alloc' 'size' @ 'x' u"),
     "event 2 of device 0: key 'size' holds a text"},
    {"second device's event", TRACES("] ] ( } ( 'action' 'alloc' u e"), "event 0 of device 1"},
    {"pool_id of an event a text", SIZED("'pool_id' @ '0'"), "key 'pool_id' holds a text"},
    {"stream of an event a float", SIZED("'stream' @ G 00*8"), "key 'stream' holds a float"},
    {"oom with negative device_free", EVENT("'action' 'oom' 'device_free' @ #-1"),
     "key 'device_free' holds -1"},

    /* Values of the settings. */
    {"settings string a number", SETTINGS("'PYTORCH_CUDA_ALLOC_CONF' @ K 01"), "holds 1"},
    {"settings string not UTF-8", SETTINGS("'PYTORCH_CUDA_ALLOC_CONF' @ 8c 01 80"), "not UTF-8"},
    {"settings string of 65536 bytes",
     SETTINGS("'PYTORCH_CUDA_ALLOC_CONF' @ X 00 00 01 00 20*65536"), "65536 bytes is too long"},
    {"max_split_size a float", SETTINGS("'max_split_size' @ G 00*8"), "not an integer"},
    {"expandable_segments a text", SETTINGS("'expandable_segments' @ 'True'"), "neither True"},
    {"gc threshold infinite", SETTINGS("'garbage_collection_threshold' @ G 7f f0 00*6"),
     "not a finite number"},
    {"gc threshold a text", SETTINGS("'garbage_collection_threshold' @ '0.5'"), "a text"},
    {"divisions a list", SETTINGS("'roundup_power2_divisions' @ ]"), "holds a list"},
    {"divisions negative", SETTINGS("'roundup_power2_divisions' } '1' @ #-1 s"), "holds -1"},
};

/* Accepted because Python accepts them and what is kept is certain. Those that must also read as
 * something particular have a test of their own. */
static const struct accepted_case ACCEPTED_CASES[] = {
    {"protocol 2", "80 02 } ( 'segments' ] u ."},
    {"protocol 3", "80 03 } ( 'segments' ] u ."},
    {"protocol 5", "80 05 } ( 'segments' ] u ."},
    {"a second protocol header", P "80 05 } ( 'segments' ] u ."},
    {"frames of any length", P "95 03 00*7 } ( 'segments' ] 95 00*8 u ."},
    {"empty list", P "] ."},
    {"empty list by LIST", P "( l ."},
    {"dictionary by DICT, filled later", P "( d ( 'segments' ( l u ."},
    {"SETITEM and APPEND only",
     P "} 'segments' ] } 'address' #4096 s 'blocks' ] } 'size' #512 s 'state' 'inactive' s a s a s "
       "'device_traces' ] ] } 'action' 'oom' s a a s ."},
    {"unknown keys everywhere",
     P "} ( 'x' N 'segments' ] ( } ( 'x' ] 'address' #4096 'y' } 'blocks' ] ( } ( 'x' ) 'size' #1 "
       "'state' 'inactive' u e u e 'device_traces' ] ( ] ( } ( 'x' K 01 'action' 'oom' u e e u ."},
    {"keys that are no texts", TOP("K 01 N N N ) 'x' G 00*8 88")},
    {"a bytearray and bytes in unknown keys",
     TOP("'x' 96 03 00*7 a b c 'y' C 02 a b 'z' 8e 01 00*7 a 'w' B 01 00*3 a")},
    {"a set and a frozenset", TOP("'x' 8f ( K 01 K 02 90 'y' ( K 01 91")},
    {"a tuple with a list", TOP("'x' ( ] ( N e K 01 t")},
    {"strings of Python 2", "80 02 } ( U 08 s e g m e n t s ] T 01 00*3 x N u ."},
    {"frames in themselves", SIZED("'frames' ] q 00 ( h 00 h 00 e")},
    {"a dictionary of frames in itself", SIZED("'frames' ] ( } q 05 ( 'x' h 05 u e")},
    {"a recursive tuple in frames", FRAMES("] q 01 ( ( h 01 t q 02 e 0 h 02")},
    {"frames with TUPLE, LIST, DICT", FRAMES("( K 01 N t ( N l ( N N d ( N 91 ) K 01 85 N N 86")},
    {"frames with POP, POP_MARK, DUP", FRAMES("N 0 ( N N 1 N 2 ( 0 8f ( N 90")},
    {"frames with SETITEM and APPEND", FRAMES("} 'name' 'f' s ] N a } 'x' ] N a s")},
    {"frames closed by TUPLE", SIZED("'frames' ] ( N t 'x'")},
    {"frames closed by LIST", SIZED("'x' ] ( N l 'y'")},
    {"frames closed by POP_MARK", SIZED("'frames' ] ( N N 1")},
    {"frames closed by POP of the mark", SIZED("'frames' ] ( 0")},
    {"frames in two batches", SIZED("'frames' ] ( N*1000 e ( N*5 e")},
    {"frames in a batch and one more", SIZED("'frames' ] ( N*1000 e N a")},
    {"frames as None", SIZED("'frames' N")},
    {"frames as a dictionary", SIZED("'frames' } ( 'x' N u")},
    {"frames empty, then keys", SIZED("'frames' ] 'time_us' #1")},
    {"frames nested 10^5 deep", FRAMES("]*100000 a*99999")},
    {"frames nested 10^5 deep by marks", FRAMES("(*100000 t*100000")},
    {"unknown value nested 10^5 deep", TOP("'x' ]*100000 a*99999")},
    {"file name that is not UTF-8", FRAMES("} ( 'filename' 8c 03 ff fe 80 'line' K 01 u")},
    {"line number 2^64 - 1", FRAMES("} ( 'line' " UINT64_MAX_AS_LONG " u")},
    {"line number of 255 bytes", FRAMES("} ( 'line' 8a ff ff*255 u")},
    {"line number a long of 0 bytes", FRAMES("} ( 'line' 8a 00 8b 00*4 N u")},
    {"old history of a block",
     BLOCK("'size' #512 'state' 'active_allocated' 'history' ] ( } ( 'addr' #4096 'real_size' #500 "
           "'frames' ] u e")},
    {"a block that says active_awaiting_free", BLOCK("'size' #512 'state' 'active_awaiting_free'")},
    {"sums that do not add up", PLACED("'allocated_size' #7 'active_size' #9 'requested_size' #1")},
    {"blocks that do not add up", BLOCKS(A_BLOCK)},
    {"overlapping segments", SEGMENTS(A_SEGMENT " } ( 'address' #4097 'total_size' #9 u")},
    {"one address on two devices", SEGMENTS("} ( 'device' #0 'address' #4096 u } ( 'device' #1 "
                                            "'address' #4096 u")},
    {"a segment of size 0", SEGMENT("'address' #4096 'total_size' #0 'blocks' ]")},
    {"a segment with no blocks", SEGMENT("'address' #4096 'total_size' #512")},
    {"a hole between blocks",
     BLOCKS("} ( 'address' #4096 'size' #512 'state' 'inactive' u } ( 'address' #9999 'size' #512 "
            "'state' 'inactive' u")},
    {"everything optional is None",
     PLACED("'device' N 'stream' N 'segment_type' N 'segment_pool_id' N 'is_expandable' N "
            "'allocated_size' N 'blocks' N")},
    {"traces, settings and annotations None",
     TOP("'device_traces' N 'allocator_settings' N 'external_annotations' N")},
    {"settings empty", SETTINGS("")},
    {"settings all None", SETTINGS("'PYTORCH_CUDA_ALLOC_CONF' N 'max_split_size' N "
                                   "'garbage_collection_threshold' N 'expandable_segments' N "
                                   "'roundup_power2_divisions' N")},
    {"annotations", TOP("'external_annotations' ] ( } ( 'name' 'step' 'stage' 'START' 'device' #0 "
                        "'time_us' #1 u e")},
    {"no event", TOP("'device_traces' ] ] a")},
    {"time as a float, a text, None, negative",
     EVENTS("} ( 'action' 'oom' 'time_us' G 40 80 00*6 u } ( 'action' 'oom' 'time_us' 'x' u "
            "} ( 'action' 'oom' 'time_us' N u } ( 'action' 'oom' 'time_us' #-1 u")},
    {"unknown action with odd numbers",
     EVENT("'action' 'workspace_snapshot' 'addr' 'x' 'size' #-1")},
    {"free of something unknown, twice",
     EVENTS("} ( 'action' 'free_completed' 'addr' #0 'size' #0 u "
            "} ( 'action' 'free_completed' 'addr' #0 'size' #0 u")},
    {"a key of an event twice", SIZED("'size' #1024")},
    {"an event's keys in two batches",
     EVENTS("} ( 'action' 'alloc' u ( 'addr' #1 u ( 'size' #2 u")},
    {"containers referred to in unknown keys",
     P "} q 00 ( 'segments' ] q 01 'x' h 00 'y' h 01 'z' ] ( h 00 h 01 e u ."},
    {"4096 device traces", TOP("'device_traces' ] ( ]*4096 e")},
    {"memo index 65536 stored first", FRAMES("N r 00 00 01 00 j 00 00 01 00")},
};

#endif
