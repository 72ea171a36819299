// SPDX-License-Identifier: Apache-2.0
/* The changes that a rollback makes. */
#ifndef AL_HISTORY_ROLLBACK_WAY_BACK_H
#define AL_HISTORY_ROLLBACK_WAY_BACK_H

#include "history/checkpoint.h"

/** The way back.  Zero-initialised is empty. */
struct al_way_back {
    struct al_differences changes; /**< from the present to the target */
    /** The checkpoint whose index, byte for byte, is the target's; "" when the index stays. */
    char index_of[AL_OID_TEXT];
    /** The checkpoint before the first execution that changed what is staged, or before an earlier
     * one that moved HEAD and is undone with it; "" when there is none or when it is so already. */
    char staged_of[AL_OID_TEXT];
};

void al_way_back_clear(struct al_way_back *way);

/**
 * Read what a rollback restores: HEAD, the index if it is restored, and of references and files of
 * the git directory those that change.  Release with al_saved_state_clear().
 *
 * @param present  The state of the present.
 */
int al_way_back_target(struct al_store *store, const struct al_way_back *way,
                       const struct al_saved_state *present, struct al_run_limits *budget,
                       struct al_saved_state *ret_target, struct al_error *err);

#endif
