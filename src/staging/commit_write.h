// SPDX-License-Identifier: Apache-2.0
/* Writing the objects of a staged commit into the store, for the files of this folder. */
#ifndef AL_STAGING_COMMIT_WRITE_H
#define AL_STAGING_COMMIT_WRITE_H

#include "gitops/deadline.h"
#include "odb/objects.h"
#include "sandbox/sandbox.h"
#include "staging/base.h"
#include "staging/changes.h"
#include "util/error.h"

/**
 * Put the content of a changed file.
 *
 * @param[out] ret_has_no_crlf  Set when the content was read and no line of it ends with CRLF.
 * @return 0; AL_ERR_AGAIN when it is no longer what the change says.
 */
int al_staging_put_blob(struct al_objects *objects, struct al_sandbox *sandbox,
                        const struct al_sandbox_change *change, struct al_deadline *deadline,
                        bool *ret_has_no_crlf, struct al_error *err);

/**
 * Put a commit of the files of a base.
 *
 * @param parent   NULL: none.
 * @param message  NULL: the commit stands for a base, and two of the same files are the same.
 */
int al_staging_put_commit(struct al_objects *objects, struct al_base *base,
                          const struct al_oid *parent, const char *message,
                          struct al_oid *ret_commit, struct al_error *err);

#endif
