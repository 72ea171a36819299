// SPDX-License-Identifier: Apache-2.0
/*
 * The record of a base: sandboxes/<key>.json has its tree, and the commits of the branches that its
 * files came from.  refs/base/<key> has the tree as well, and is written before.
 */
#ifndef AL_STAGING_BASE_RECORD_H
#define AL_STAGING_BASE_RECORD_H

#include "gitops/oid.h"
#include "staging/heads.h"
#include "util/error.h"

struct al_run_limits;
struct al_staging;

/** A record.  Zero-initialised, it is empty. */
struct al_base_record {
    struct al_oid tree;
    struct al_heads heads;
};

void al_base_record_clear(struct al_base_record *record);

/**
 * Read a record.  A damaged one is renamed to `<key>.json.damaged-<n>`, which the log says, and
 * another one is made from the reference; it has no heads.
 *
 * @return 0; AL_ERR_NOT_FOUND when there is none, or a damaged one without a reference.
 */
int al_base_record_read(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                        struct al_base_record *ret_record, struct al_error *err);

/** Write a record, durable.  With the store's lock held. */
int al_base_record_write(struct al_staging *staging, const char *key,
                         const struct al_base_record *record, struct al_error *err);

#endif
