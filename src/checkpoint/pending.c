// SPDX-License-Identifier: Apache-2.0
/* Checkpoints that the store gets only when they are accepted. */
#include <stdlib.h>

#include "checkpoint/create.h"
#include "checkpoint/quarantine.h"
#include "gitops/deadline.h"

struct al_pending_checkpoint {
    struct al_checkpoint_reason reason;
    struct al_checkpoint_writer writer;
    struct al_quarantine quarantine;
};

int al_checkpoint_create_pending(struct al_store *store, const struct al_checkpoint_reason *reason,
                                 struct al_run_limits *budget,
                                 struct al_pending_checkpoint **ret_pending,
                                 char ret_id[AL_OID_TEXT], struct al_error *err)
{
    struct al_pending_checkpoint *pending = al_calloc(1, sizeof(*pending));
    struct al_deadline deadline = al_deadline_begin(budget);
    int r;

    pending->reason = *reason;
    pending->writer = AL_CHECKPOINT_WRITER_INIT;
    pending->quarantine = AL_QUARANTINE_INIT;
    r = al_quarantine_begin(&pending->quarantine, store, err);
    if (r == 0)
        r = al_checkpoint_write(&pending->writer, store, &pending->reason,
                                pending->quarantine.pack_fd, &deadline, err);
    al_deadline_sync(&deadline);
    if (r < 0) {
        al_pending_checkpoint_free(pending);
        return al_checkpoint_result(r, err);
    }
    al_oid_text(&pending->writer.commit, store->sha256, ret_id);
    *ret_pending = pending;
    return 0;
}

int al_checkpoint_accept(struct al_pending_checkpoint *pending, const struct al_strv *dropping,
                         struct al_run_limits *budget, struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    int r = al_quarantine_migrate(&pending->quarantine, err);

    pending->writer.deadline = &deadline;
    pending->writer.err = err;
    if (r == 0)
        r = al_checkpoint_publish(&pending->writer, dropping);
    al_deadline_sync(&deadline);
    return al_checkpoint_result(r, err);
}

void al_pending_checkpoint_free(struct al_pending_checkpoint *pending)
{
    if (!pending)
        return;
    al_checkpoint_writer_clear(&pending->writer); /* before the directory that it writes to */
    al_quarantine_end(&pending->quarantine);
    free(pending);
}
