// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/stash_drop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/refs.h"

#define OUTPUT_MAX_BYTES (64u << 10)

/* The number of times that other gits may change the stash just then. */
#define ATTEMPTS_MAX 16

static int gone(struct al_error *err)
{
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_STASH_EMPTY,
                              "The stash entry is no longer there");

    if (err)
        err->reason = "not_found";
    return r;
}

static int run(struct al_repo *repo, struct al_git_command *command, struct al_run_limits *budget,
               struct al_git_output *ret_output, struct al_error *err)
{
    command->class = AL_GIT_WRITE;
    command->starts_children = true; /* git stash runs git reflog and git update-ref */
    return al_git_run(&repo->at, command,
                      &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES, .checked = true },
                      budget, ret_output, err);
}

/* git says "Dropped stash@{1} (<id>)".  Caller frees. */
static char *dropped_id(const struct al_git_output *output)
{
    const char *at = strrchr(output->out.out.buf, '(');
    const size_t len = at ? strcspn(at + 1, ")") : 0;

    return at && al_is_oid(at + 1, len) ? al_strndup(at + 1, len) : NULL;
}

/* It is the newest one again, as it was: only a push changes the indexes. */
static int put_back(struct al_repo *repo, const char *oid, struct al_run_limits *budget,
                    struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command show = AL_GIT_CONTENT_INIT;
    al_auto(al_git_command_clear) struct al_git_command store = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output said = { .exit_code = -1 };
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&show.argv, "git", "log", "-1", "--no-walk", "--format=%s", oid, "--", NULL);
    r = al_git_run(&repo->at, &show,
                   &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES, .checked = true }, budget,
                   &said, err);
    if (r < 0)
        return r;
    al_str_trim_end(&said.out.out);
    al_strv_adds(&store.argv, "git", "stash", "store", "-q", "-m", said.out.out.buf, oid, NULL);
    return run(repo, &store, budget, &output, err);
}

/* git drops what has an index, and another git may push just then: so it is looked at what was
 * dropped, and another entry comes back. */
int al_git_stash_drop(struct al_repo *repo, const char *oid, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    int64_t index;
    int r = 0;

    for (int i = 0; r == 0 && i < ATTEMPTS_MAX; i++) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
        al_auto(al_freep) char *dropped = NULL;

        if (!al_git_stash_find(repo, oid, &index))
            return gone(err);
        al_strv_adds(&command.argv, "git", "stash", "drop", NULL);
        al_strv_addf(&command.argv, "stash@{%" PRId64 "}", index);
        r = run(repo, &command, budget, &output, err);
        dropped = r == 0 ? dropped_id(&output) : NULL;
        if (dropped && strcmp(dropped, oid) != 0) {
            r = put_back(repo, dropped, budget, err);
            continue;
        }
        if (r == 0) {
            *ret_output = output;
            output = (struct al_git_output){ .exit_code = -1 };
            return 0;
        }
    }
    return r < 0 ? r
                 : al_error_set(err, AL_ERR_EXECUTION,
                                "Another git keeps changing the stash, and the entry was not "
                                "dropped");
}
