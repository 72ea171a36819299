// SPDX-License-Identifier: Apache-2.0
/*
 * Writing blobs and a commit into the store: a stream of git-fast-import(1), which is collected in
 * a file without a name and given to one git.  With the store's lock held.
 */
#ifndef AL_STAGING_IMPORT_H
#define AL_STAGING_IMPORT_H

#include <stdio.h>

#include "gitops/run.h"
#include "sandbox/sandbox.h"
#include "staging/base.h"
#include "staging/stage.h"
#include "util/error.h"

struct al_staging;

/** A stream that is being written.  A failure to write it is reported at its end. */
struct al_import {
    struct al_staging *staging; /* borrowed */
    FILE *file;                 /* NULL: not begun */
    const char *ref;            /* of the commit; NULL: there are blobs alone; borrowed */
};

/** Begin a stream.  Release it with al_import_clear(). */
int al_import_begin(struct al_staging *staging, struct al_import *ret_import, struct al_error *err);
void al_import_clear(struct al_import *import);

/** Put a blob that is in memory. */
void al_import_put(struct al_import *import, const void *data, size_t len);

/**
 * Put the content of a changed file of the sandbox.
 *
 * @return 0; AL_ERR_AGAIN when it is no longer what the change says.
 */
int al_import_put_file(struct al_import *import, const struct al_staged_file *change,
                       struct al_deadline *deadline, struct al_error *err);

/**
 * Begin a commit.  The first one of a stream has no parent and no file; a second one of the same
 * reference follows it and has its files.
 *
 * @param ref     Borrowed until the end.
 * @param time_s  Of author and committer.
 */
void al_import_commit(struct al_import *import, const char *ref, const char *message,
                      int64_t time_s);

/** Set a file of the commit, whose blob the store has or gets with this stream; mode 0 removes it.
 * What is removed comes first. */
void al_import_set(struct al_import *import, const char *path, unsigned mode,
                   const struct al_oid *oid);

/** Set all files of a base. */
void al_import_set_all(struct al_import *import, struct al_base *base);

/**
 * Make it durable: the blobs, the commit and the reference to it.
 *
 * @param[out] ret_commit  The last commit; may be NULL.
 */
int al_import_end(struct al_import *import, struct al_run_limits *budget, struct al_oid *ret_commit,
                  struct al_error *err);

#endif
