// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/advance.h"

#include "gitops/failure.h"
#include "gitops/preview/written_files.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/sequencer/merge.h"
#include "gitops/sequencer/savepoint.h"
#include "util/fs.h"
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

int al_git_advance_unsaved(struct al_repo *repo, const struct al_advance *advance,
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

/* List the files that differ between the two commits, relative to the top: git read-tree writes no
 * others.  Not known if HEAD is elsewhere. */
static int list_written(const struct al_repo *repo, const struct al_advance *advance,
                        struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                        struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    int r;

    *ret_known = false;
    if (strcmp(head, advance->from) != 0)
        return 0;
    if (advance->files) {
        *ret_known = al_git_index_tells(repo);
        for (size_t i = 0; i < advance->files->count; i++)
            al_strv_add(out, advance->files->items[i]);
        return 0;
    }
    r = al_git_switched_files(repo, advance->to, budget, ret_known, &files, err);
    for (size_t i = 0; r == 0 && i < files.count; i++) {
        const char *file = files.items[i], *below = al_fs_beneath(repo->at.top, file);

        if (!below || al_fs_beneath(repo->at.git_dir, file) ||
            al_fs_beneath(repo->at.common_dir, file))
            *ret_known = false;
        else
            al_strv_add(out, below);
    }
    return r;
}

int al_git_advance(struct al_repo *repo, const struct al_advance *advance,
                   struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_savepoint_clear) struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    al_auto(al_strv_clear) struct al_strv incoming = AL_STRV_INIT, written = AL_STRV_INIT;
    bool known = false;
    int r = check_filters(repo, advance, budget, err);

    al_strv_add(&incoming, advance->to);
    if (r == 0)
        r = list_written(repo, advance, budget, &known, &written, err);
    if (r == 0)
        r = al_savepoint_create_for(repo, &incoming, known ? &written : NULL, budget, &savepoint,
                                    err);
    if (r == 0)
        r = al_savepoint_check_no_overwrite(repo, &savepoint, budget, err);
    if (r < 0)
        return r;
    r = al_git_advance_unsaved(repo, advance, budget, err);
    return al_savepoint_restore_if_failed(repo, &savepoint, r, err);
}
