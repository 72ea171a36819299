// SPDX-License-Identifier: Apache-2.0
/*
 * The newest checkpoints of a store, in one file that a power failure cannot tear: `recent2`.
 *
 * A checkpoint is written here first, with its objects and its reference in one record.  One
 * fdatasync(2) of this file therefore makes the checkpoint durable, and every checkpoint before it.
 * The pack and the reference that git reads are made when a git is to read the store, or when the
 * file is full.
 *
 *   add      append a record
 *   look     find the records that others appended
 *   publish  make packs and references of the records that are in no other file
 *   settle   join the packs of all records into one, pack the references, synchronise both, and
 *            begin the file anew
 *   recover  after another boot of the machine: settle the records that are whole, and remove packs
 *            and references that are not
 *
 * Format: a head of 512 bytes, then records.  Head and records have a nonce, so that what remains
 * of records before the last settling does not count.  A record that is not whole is the last one.
 */
#ifndef AL_CHECKPOINT_RECENT_H
#define AL_CHECKPOINT_RECENT_H

#include <stdbool.h>

#include "checkpoint/store.h"
#include "gitops/deadline.h"
#include "odb/pack_image.h"
#include "util/error.h"

/** Open the file, and recover if another boot wrote it.  A store without this file gets one if the
 * store may be created. */
int al_recent_open(struct al_store *store, bool create, struct al_deadline *deadline,
                   struct al_error *err);

/** Whether the store has the file, so that al_recent_add() can be called. */
bool al_recent_is_open(const struct al_store *store);

/** Whether this boot of the machine wrote the file. */
bool al_recent_is_of_this_boot(const struct al_store *store);

/** Look for records that this handle does not know yet, without a lock.  Their objects and
 * references are known afterwards.  Does nothing without the file. */
void al_recent_look(struct al_store *store);

/**
 * Append a checkpoint.
 *
 * It is in no other file then: al_recent_publish() or al_recent_settle() write it.
 *
 * @param image    Its objects, as far as the store does not have them already.
 * @param durable  Synchronise this record and all before it.
 * @return 0 or AL_ERR_EXECUTION; then the record does not count.
 */
int al_recent_add(struct al_store *store, const char *reference, const struct al_oid *commit,
                  const struct al_pack_image *image, bool durable, struct al_error *err);

/** The bytes of the records that are in no other file, as far as this handle knows them. */
uint64_t al_recent_bytes(const struct al_store *store);

/** Whether it is time to settle.  False unless this handle added a record. */
bool al_recent_is_full(const struct al_store *store);

/** Make packs and references of the records that are in no other file yet.  They are not
 * synchronised, and the records stay. */
int al_recent_publish(struct al_store *store, struct al_error *err);

/** Settle.  With `alone`, no other process uses the store: the single packs and references are
 * removed. */
int al_recent_settle(struct al_store *store, bool alone, struct al_error *err);

#endif
