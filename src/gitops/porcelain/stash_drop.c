// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/stash_drop.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/plumbing/stash_owners.h"

#define OUTPUT_BYTES 4096u

/* The number of times that other gits may change the stash just then. */
#define ATTEMPTS_MAX 16

static int run(struct al_repo *repo, struct al_git_command *command, struct al_run_limits *budget,
               struct al_git_output *ret_output, struct al_error *err)
{
    return al_git_run(&repo->at, command,
                      &(struct al_git_run){ .max_bytes = OUTPUT_BYTES, .checked = true }, budget,
                      ret_output, err);
}

static int drop_index(struct al_repo *repo, int64_t index, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git stash runs git reflog and git rev-parse */
    al_strv_adds(&command.argv, "git", "stash", "drop", NULL);
    al_strv_addf(&command.argv, "stash@{%" PRId64 "}", index);
    return run(repo, &command, budget, ret_output, err);
}

/* The id in "Dropped stash@{0} (<id>)"; NULL: git has said something else.  Caller frees. */
static char *dropped_id(const struct al_git_output *output)
{
    const char *id = strrchr(output->out.out.buf, '(');

    return id && al_starts_with(output->out.out.buf, "Dropped ")
               ? al_strndup(id + 1, strcspn(id + 1, ")"))
               : NULL;
}

/* The message of an entry is the subject of its commit. */
static int store_again(struct al_repo *repo, const char *oid, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command log = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command store = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output subject = { .exit_code = -1 };
    al_auto(al_git_output_clear) struct al_git_output stored = { .exit_code = -1 };
    int r;

    al_strv_adds(&log.argv, "git", "log", "-1", "--format=%s", "--no-show-signature", oid, "--",
                 NULL);
    r = run(repo, &log, budget, &subject, err);
    if (r < 0)
        return r;
    al_str_trim_end(&subject.out.out);
    store.class = AL_GIT_WRITE;
    store.starts_children = true;
    al_strv_adds(&store.argv, "git", "stash", "store", NULL);
    al_strv_addf(&store.argv, "--message=%s", subject.out.out.buf);
    al_strv_add(&store.argv, oid);
    return run(repo, &store, budget, &stored, err);
}

static int gone(struct al_error *err)
{
    int r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_STASH_EMPTY,
                              "The stash entry is no longer there");

    if (err)
        err->reason = "not_found";
    return r;
}

int al_git_stash_drop(struct al_repo *repo, const char *oid, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
        al_auto(al_freep) char *dropped = NULL;
        int64_t index;
        int r;

        if (!al_git_stash_find(repo, oid, &index))
            return gone(err);
        r = drop_index(repo, index, budget, &output, err);
        if (r < 0)
            return r;
        dropped = dropped_id(&output);
        if (!dropped || !strcmp(dropped, oid)) {
            *ret_output = output;
            output = (struct al_git_output){ .exit_code = -1 };
            return 0;
        }
        r = store_again(repo, dropped, budget, err);
        if (r < 0)
            return r;
    }
    return al_error_set(err, AL_ERR_EXECUTION,
                        "Another git keeps changing the stash, and the entry was not dropped");
}
