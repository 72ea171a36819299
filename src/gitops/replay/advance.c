// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/advance.h"

#include "gitops/failure.h"
#include "gitops/run.h"
#include "gitops/sequencer/merge.h"
#include "gitops/sequencer/overwrite.h"
#include "util/str.h"

#define OUTPUT_BYTES (64u * 1024u)

static int run(struct al_repo *repo, struct al_git_command *command, struct al_run_limits *budget,
               bool checked, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command->class = AL_GIT_WRITE;
    return al_git_run(&repo->at, command,
                      &(struct al_git_run){
                          .max_bytes = OUTPUT_BYTES, .waits_for_lock = true, .checked = checked },
                      budget, &output, err);
}

/* Files may look changed by their times alone, which would stop git read-tree. */
static int refresh(struct al_repo *repo, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "update-index", "-q", "--refresh", NULL);
    return run(repo, &command, budget, false, err);
}

static int move_files(struct al_repo *repo, const struct al_advance *advance,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "read-tree", "-m", "-u", advance->from,
                 advance->to, NULL);
    r = run(repo, &command, budget, true, err);
    if (r == AL_ERR_EXECUTION && err && err->message &&
        (strstr(err->message, "not uptodate") || strstr(err->message, "would be overwritten") ||
         strstr(err->message, "would be removed")))
        err->code = AL_CODE_DIRTY_WORKDIR;
    return r;
}

/* The old value makes sure that HEAD has not moved meanwhile. */
static int move_head(struct al_repo *repo, const struct al_advance *advance,
                     struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    if (advance->sets_orig_head)
        al_str_addf(&input, "update ORIG_HEAD %s\n", advance->from);
    if (advance->detaches)
        al_str_adds(&input, "option no-deref\n");
    al_str_addf(&input, "update HEAD %s %s\n", advance->to, advance->from);
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "update-ref", "-m", advance->reflog, "--stdin", NULL);
    return run(repo, &command, budget, true, err);
}

/* Fail if content of these files goes through a filter. */
static int check_filters(const struct al_repo *repo, const struct al_advance *advance,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;

    al_strv_add(&sides, advance->to);
    return al_git_check_merge_programs(repo, advance->from, &sides, budget, err);
}

int al_git_advance_checked(struct al_repo *repo, const struct al_advance *advance,
                           struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = move_files(repo, advance, budget, &why);

    if (why.code == AL_CODE_DIRTY_WORKDIR) { /* git looks at all files before it writes one */
        r = refresh(repo, budget, err);
        if (r == 0)
            r = move_files(repo, advance, budget, err);
    } else if (r < 0 && err) {
        *err = why;
        why = AL_ERROR_INIT;
    }
    return r < 0 || advance->keeps_head ? r : move_head(repo, advance, budget, err);
}

int al_git_advance(struct al_repo *repo, const struct al_advance *advance,
                   struct al_run_limits *budget, struct al_error *err)
{
    int r = check_filters(repo, advance, budget, err);

    if (r == 0)
        r = al_overwrite_check(repo, advance->from, advance->to, budget, err);
    return r < 0 ? r : al_git_advance_checked(repo, advance, budget, err);
}
