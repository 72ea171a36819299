// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/grep.h"

#include <inttypes.h>
#include <string.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/plumbing/batch.h"
#include "gitops/reading/grep_reader.h"
#include "gitops/run.h"

static int add_words(const struct al_repo *repo, const struct al_grep_query *query,
                     struct al_run_limits *budget, struct al_strv *argv, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t at = 0;
    int r;

    al_strv_adds(argv, "git", "grep", "-z", "-I", "--full-name", "--no-color", "--no-textconv",
                 "--no-recurse-submodules", query->regex ? "-E" : "-F", NULL);
    if (query->files_only)
        al_strv_add(argv, "-l");
    else
        al_strv_adds(argv, "-n", "--column", "--no-heading", "--no-break", NULL);
    if (query->ignore_case)
        al_strv_add(argv, "-i");
    if (query->word)
        al_strv_add(argv, "-w");
    if (query->context > 0)
        al_strv_addf(argv, "-C%" PRId64, query->context);
    al_strv_adds(argv, "-e", query->pattern, NULL);
    if (query->rev)
        al_strv_add(argv, query->rev);
    al_strv_add(argv, "--");
    r = query->paths ? al_repo_pathspecs(repo, query->paths, budget, &words, err) : 0;
    if (r == 0 && words.len == 0 && strcmp(repo->at.dir, repo->at.top) != 0)
        al_strv_add(argv, ":/"); /* otherwise git searches below the working directory only */
    if (r == 0 && al_batch_add(argv, &words, &at))
        r = al_error_set(err, AL_ERR_BAD_ARGS,
                         "paths: more than one git grep takes; name fewer, or their directory");
    return r;
}

int al_git_grep(const struct al_repo *repo, const struct al_grep_query *query,
                bool (*take)(void *payload, const struct al_grep_line *line), void *payload,
                struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_grep_reader_clear) struct al_grep_reader reader =
        AL_GREP_READER_INIT(query, take, payload);
    int r;

    command.bulk = true;
    r = add_words(repo, query, budget, &command.argv, err);
    if (r == 0)
        r = al_git_run(&repo->at, &command,
                       &(struct al_git_run){ .sink = { al_grep_reader_add, &reader } }, budget,
                       &output, err);
    if (r < 0 || al_git_read_well(&output) || (output.exit_code == 1 && !output.err.out.len))
        return r;
    return al_git_failed(&output, err);
}
