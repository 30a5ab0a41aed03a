/* player.h - plays a script on a subject, with the checks of check.h after every operation.
 *
 * A script is words apart by blanks, each NAME(argument,...), with `!STATUS` behind it where the call must be refused.
 * Arguments: x a block by name, `p1..p5` several; n a size (`20M+512`, `2^64-1`, `SIZE_MAX-510`; K, M, G binary); s a
 * stream, made when first named: `s0`, `p0@1` of device 1, `none` for no stream at all. `repeat(N){ ... }` repeats.
 *
 *   settings, before all else
 *     cap(n[,device]) total(n) devices(N) place(ascending|adjacent|reuse|descending) va(n) handles(reuse)
 *     split(n) slack(n) large(n) divide(N) growable(on) ranges(small,large) callbacks(on)
 *     start         starts; without it the first call does. start!setting: the settings are refused, and that is all
 *   calls
 *     A(x,n,s)      allocates; x may be several; !oom: must end out of memory. s is the current stream, unless one is set
 *     AT(x,y+n,n,s) the same at an address
 *     F(x,...)      frees by handle; F(x,via s): called with s as the current stream · FA(x+n) FA(0x10) by address
 *     U(x,s)        records a use · retain(x) release(x)
 *     K(s,x:r,y:w)  queues work on s that reads and writes · D(s) runs what is queued on s · W(s2<-s1)
 *     E             polls events · EC, EC(P) empties the cache
 *     CB(g,s) CE(g) CX(g) R(g)   a capture into a pool of its own: begun, ended, ended with an error; the graph dropped
 *     pool(P[,N]) acquire(P) open(P[,s][,thread N]) close(P) leave(P) lend(P,on|off) nosplit(P)   N: allocator
 *     save(N,P) restore(N)       checkpoint N of a pool
 *     limit(n) collect(n) growable(on|off) reset(peaks|totals)
 *     gone(s) on(s) off thread(N) dev(N)     the stream goes · the current stream, thread, device
 *     MF(call,k|all|none)        the k-th call of a kind fails
 *     raw(x,n) drop(x)           memory of the device that is not the manager's; given back
 *     each(lo..hi,s)             every size, each freed at once
 *     random(N,seed,top,s,...)   N random requests and frees of at most `top` bytes; all freed at the end
 *   claims, of the state and of the last call
 *     same(x,y) apart(x,y) inside(x,y) outside(x,y) touch(x,y)   by what they have, or had
 *     size(x,n) stream(x,s) of(x,P) is(x,allocated|free|pending|none) base(x,n)   of the block that is there now
 *     reserved(n) allocated(n) active(n) requested(n) segments(N) free(n) largest(n) ooms(N) retries(N) syncs(N)
 *     peak(figure,n) totals(figure,gained,lost)
 *     steps(LETTERS) report(n)   of the last call, world.h; the size that the report of an out of memory has
 *     calls(call,N) most(call,N) calls to the machine · allocator(N,gives,takes) since the start
 *     alike                      the last two `random` gave the same places, and the same peak
 *     race(s1,s2) race(s1,host)  work of s1 is not ordered before what s2 got or did, or before its memory went back: a
 *                                race since the last claim is that one
 *     forbidden(N) faults(N)     so many calls, since the last claim, that a capture forbids; so much work on memory that
 *                                is gone
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SCENARIOS_PLAYER_H
#define ASHLAR_TESTS_SCENARIOS_PLAYER_H

#include "tests/scenarios/subject.h"

enum { PLAYER_FAULT = 512, PLAYER_LOG = 1 << 18 };

struct player_result {
  bool holds;
  char fault[PLAYER_FAULT]; /* where not: the word, and what did not hold */
  uint64_t calls;           /* how many there were */
  uint64_t claims;
  char log[PLAYER_LOG]; /* each call, what came of it, by which steps, and a digest of the state */
};

/* Plays a script in a policy and an order, then frees and drains everything, and gives all back. */
void player_play(const struct subject *subject, uint32_t policy, uint32_t order, const char *script,
                 struct player_result *result);

#endif
