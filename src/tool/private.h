// SPDX-License-Identifier: Apache-2.0
/* One call on its way through the pipeline, and the stage that has a file of its own. */
#ifndef AL_TOOL_PRIVATE_H
#define AL_TOOL_PRIVATE_H

#include "gitops/repo.h"
#include "tool/call.h"

struct al_record;

/** One call on its way through the stages. */
struct al_call {
    const struct al_session *session;
    const struct al_call_input *input;
    const struct al_tool *tool;
    struct al_record *record; /* NULL: the journal cannot be written */
    int64_t began_ms;
    void *args;                           /* decoded, from stage 2 on */
    const struct al_operation *operation; /* from stage 3 on */
    char *summary;                        /* safe, one line */
    struct al_repo *repo;                 /* from stage 4 on */
    struct al_budget budget;
    const char *decision, *decided_by; /* how stage 5 ended, for the journal */
    char *branches;                    /* HEAD's when rules were consulted, NULL without rules */
    char state[65];                    /* what the approval is bound to, "" when nobody was asked */
    struct al_strv concerned;          /* what `concerns` gave last */
    bool knows_concerned;
};

/** The branches and paths a call concerns, for policy; from stage 4 on.  Refuses what resolving a
 * path refuses. */
int al_call_concern(struct al_call *call, struct al_strv *ret_branches, struct al_strv *ret_paths,
                    struct al_error *err);

/** What policy says to a call. */
struct al_ruling al_call_rule(const struct al_call *call, const struct al_strv *branches,
                              const struct al_strv *paths);

/** Stage 5: policy, then the approvers in order.  0 means go on. */
int al_approval_obtain(struct al_call *call, struct al_error *err);

/** Whether the repository still is what the person was shown; true when nobody was asked. */
int al_approval_check(struct al_call *call, bool *ret_current, struct al_error *err);

#endif
