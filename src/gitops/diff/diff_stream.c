// SPDX-License-Identifier: Apache-2.0
/* Parse `git diff` into hunks while git runs, and count the changed files. */
#include "gitops/diff/diff_stream.h"

#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/diff/hunks.h"
#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/run.h"

/** Counts the names of a list. A conflicted file is listed twice in a row. */
struct file_count {
    char *last;
    size_t files;
};

static bool count_file(void *payload, char *const *fields)
{
    struct file_count *count = payload;

    if (count->last && !strcmp(count->last, fields[0]))
        return true;
    free(count->last);
    count->last = al_strdup(fields[0]);
    count->files++;
    return true;
}

static int count_files(const struct al_repo *repo, const struct al_diff_options *options,
                       struct al_run_limits *budget, size_t *ret_files, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    struct file_count count = { .last = NULL };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, count_file, &count);
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--name-only", "-z", NULL);
    r = al_git_diff_add_args(repo, options, budget, &command.argv, err);
    if (r == 0)
        r = al_git_read_records(&repo->at, &command, &records, budget, err);
    free(count.last);
    if (r == 0)
        *ret_files = count.files;
    return r;
}

/** A patch, read up to its byte limit. */
struct reading {
    struct al_hunks *hunks;
    size_t room;
};

static bool add_patch(void *payload, const char *data, size_t len)
{
    struct reading *reading = payload;
    size_t kept = len < reading->room ? len : reading->room;

    al_hunks_add(reading->hunks, data, kept);
    reading->room -= kept;
    return kept == len;
}

static int read_patch(const struct al_repo *repo, const struct al_diff_options *options,
                      size_t max_bytes, struct al_run_limits *budget, struct al_hunks *hunks,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct reading reading = { hunks, max_bytes };
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--src-prefix=" AL_HUNKS_OLD_PREFIX,
                 "--dst-prefix=" AL_HUNKS_NEW_PREFIX, NULL);
    r = al_git_diff_add_args(repo, options, budget, &command.argv, err);
    if (r == 0)
        r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = { add_patch, &reading } },
                       budget, &output, err);
    if (r == 0 && !al_git_read_well(&output))
        r = al_git_failed(&output, err);
    hunks->truncated = output.stopped;
    return r;
}

int al_git_read_diff(const struct al_repo *repo, const struct al_diff_options *options,
                     size_t max_bytes, struct al_run_limits *budget, struct al_hunks *hunks,
                     struct al_error *err)
{
    int r = read_patch(repo, options, max_bytes, budget, hunks, err);

    if (r < 0)
        return r;
    al_hunks_end(hunks);
    return hunks->truncated ? count_files(repo, options, budget, &hunks->files, err) : 0;
}
