/* Numbers distinct pairs of 64-bit integers 0, 1, 2, … in the order of their first appearance.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_ID_TABLE_H
#define ASHLAR_TOOLS_ID_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* A hash table, because a hostile file may name 65 536 distinct streams in millions of events. */
struct ashlar_id_table;

/* An empty table for at most 65 536 pairs, or NULL when memory is short. It starts small and grows
 * to about 2.5 MiB. Free with ashlar_id_table_free, which takes NULL too. */
struct ashlar_id_table *ashlar_id_table_new(void);
void ashlar_id_table_free(struct ashlar_id_table *table);

/* Stores the number of (first, second) in *index and in *is_new whether it was added by this call.
 * False, with the table unchanged, when it is new and memory is short or the table is full.
 * Expected constant time. */
bool ashlar_id_table_find(struct ashlar_id_table *table, uint64_t first, uint64_t second,
                          uint16_t *index, bool *is_new);

#endif
