/* status.h - what a call to the pretend device answers.
 *
 * Whatever can go wrong has a status of its own. A call that does not answer OK has changed nothing
 * but counts, unless its own description says otherwise.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_STATUS_H
#define ASHLAR_CUDA_SIM_STATUS_H

enum ashlar_sim_status {
  ASHLAR_SIM_OK = 0,

  /* memory */
  ASHLAR_SIM_REFUSED,      /* no memory, by capacity or by the script */
  ASHLAR_SIM_NOT_SCRIPTED, /* allocate: the script has no such segment here; counts as refused */
  ASHLAR_SIM_OVERLAP,      /* the range is not apart from what is held or reserved */
  ASHLAR_SIM_UNKNOWN,      /* not the start of a segment, range or piece that is held */
  ASHLAR_SIM_RANGE,        /* size 0 or above ASHLAR_SIM_ADDRESS_END, or addresses used up */
  ASHLAR_SIM_HOST_MEMORY,  /* the machine that pretends is short of memory */

  /* virtual memory */
  ASHLAR_SIM_ADDRESS_BUDGET, /* reserve: more addresses than may be reserved at a time */
  ASHLAR_SIM_MISALIGNED,     /* address or size is no multiple of ASHLAR_SIM_ALIGNMENT */
  ASHLAR_SIM_NOT_RESERVED,   /* the range is not inside one reservation */
  ASHLAR_SIM_ALREADY_MAPPED, /* map: something is mapped in the range */
  ASHLAR_SIM_NOT_MAPPED,     /* nothing is mapped in a part of the range */
  ASHLAR_SIM_CUTS_MAPPING,   /* the range begins or ends within a mapping */
  ASHLAR_SIM_STILL_MAPPED,   /* unreserve: something is mapped in the range */

  /* streams and events */
  ASHLAR_SIM_NO_STREAM, /* no open stream has the handle */
  ASHLAR_SIM_NO_EVENT,  /* no open event has the handle */
  ASHLAR_SIM_LIMIT,     /* more of them than there may be at a time */
  ASHLAR_SIM_NOT_READY, /* query: work before the event is not done */
  ASHLAR_SIM_IDLE,      /* drain: the stream has no work */
  ASHLAR_SIM_BLOCKED,   /* drain: the next item waits for work of another stream */
  ASHLAR_SIM_HELD,      /* drain: the next item is a gate that is closed */
  ASHLAR_SIM_DEADLOCK,  /* what is waited for is behind a gate that is closed */
  ASHLAR_SIM_NO_GATE,   /* open: no closed gate in the stream */

  /* devices */
  ASHLAR_SIM_NO_DEVICE,    /* no device has the number */
  ASHLAR_SIM_WRONG_DEVICE, /* another device is current, or the event is another device's */

  /* capture */
  ASHLAR_SIM_CAPTURING,       /* begin: the stream is capturing */
  ASHLAR_SIM_NOT_CAPTURING,   /* end, invalidate: the stream is not, or did not begin it */
  ASHLAR_SIM_CAPTURE_FORBIDS, /* the call is one that a capture forbids; the capture is invalid now */
  ASHLAR_SIM_CAPTURE_INVALID,   /* the capture was made invalid before */
  ASHLAR_SIM_CAPTURE_UNJOINED,  /* end: work of another stream has not come back to the first one */
  ASHLAR_SIM_CAPTURE_ISOLATION, /* a wait would cross the border of a capture; invalid now */

  ASHLAR_SIM_FAILED /* the test asked for this call to fail */
};

#endif
