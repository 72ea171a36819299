// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/commit_shown.h"

#include <stdlib.h>
#include <string.h>

#include "answer/failure.h"
#include "gitops/inmemory/inmemory.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/preview/stable_read.h"
#include "gitops/sequencer/expected_commit.h"

/* Choosing writes objects aside, and git gives one that exists already a new time.  Only what is
 * read from here on must stay as it is. */
static void begin_reading(struct al_call *call)
{
    struct al_run_limits *budget = al_call_budget(call);

    if (!budget->stable_read)
        return;
    al_stable_read_wait(budget);
    al_stable_read_begin(budget->stable_read);
}

static int show(struct al_call *call, struct al_repo *repo, const char *index, struct al_str *out,
                struct al_error *err)
{
    const struct al_diff_options options = { .unified = -1, .cached = true, .index = index };
    char *expected = NULL;
    int r = al_git_expect_commit_of(repo, index, al_call_budget(call), &expected, err);

    if (r < 0)
        return r;
    al_call_set_expected(call, expected);
    return al_git_diff_excerpt(repo, &options, al_call_budget(call), out, err);
}

int al_commit_show_part(struct al_call *call, const struct al_commit_part *part, struct al_str *out,
                        struct al_error *err)
{
    al_auto(al_commit_indexes_clear) struct al_commit_indexes indexes = { .commit = NULL };
    struct al_inmemory *memory = NULL;
    struct al_repo repo;
    int r = al_inmemory_open(al_call_repo(call), &memory, err);

    if (r < 0)
        return r;
    repo = *al_inmemory_repo(memory);
    r = al_git_choose_commit(&repo, part, al_call_budget(call), &indexes, err);
    if (r == 0) {
        begin_reading(call);
        r = show(call, &repo, indexes.commit, out, err);
    }
    al_inmemory_free(memory);
    return r;
}

int al_commit_show_staged(struct al_call *call, struct al_str *out, struct al_error *err)
{
    return show(call, al_call_repo(call), NULL, out, err);
}

int al_commit_check_shown(struct al_call *call, const char *index, struct al_error *err)
{
    const char *shown = al_call_expected(call);
    al_auto(al_freep) char *now = NULL;
    int r = 0;

    if (shown)
        r = al_git_expect_commit_of(al_call_repo(call), index, al_call_budget(call), &now, err);
    if (r < 0 || !shown || !strcmp(shown, now))
        return r;
    return al_failure_set(err, "git_commit again shows the change as it is now.",
                          "The commit would not be what was shown, since another program changed a "
                          "file or the index meanwhile; nothing was done");
}
