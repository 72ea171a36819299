// SPDX-License-Identifier: Apache-2.0
/* The record of a staged commit on disk, staged/<uuid>.json, for the files of this folder. */
#ifndef AL_STAGING_STAGED_RECORD_H
#define AL_STAGING_STAGED_RECORD_H

#include "staging/staged.h"
#include "staging/store.h"

/** Read a record.  `ret_pushed` gets the push that has to be completed, or NULL; the caller owns
 * the reference.  AL_ERR_EXECUTION when it is damaged. */
int al_staged_read(const struct al_staging *staging, const char *id, struct al_staged *ret_staged,
                   json_t **ret_pushed, struct al_error *err);

/** Write a record, durable.  `pushed` is borrowed; NULL: it was not pushed. */
int al_staged_write(const struct al_staging *staging, const struct al_staged *staged,
                    const json_t *pushed, struct al_error *err);

/** Complete the pushes that a killed process began to record.  One that cannot be completed now is
 * left to the next call, which the log says.  With the lock held. */
int al_staged_recover(struct al_staging *staging, struct al_run_limits *budget,
                      struct al_error *err);

/** Append the ids of all records, in no order. */
int al_staged_ids(const struct al_staging *staging, struct al_strv *ret_ids, struct al_error *err);

/** Remove the record and then the reference. */
int al_staged_remove(struct al_staging *staging, const char *id, struct al_run_limits *budget,
                     struct al_error *err);

#endif
