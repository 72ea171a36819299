// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/read_log.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/revision.h"
#include "gitops/reading/log_reader.h"
#include "gitops/reading/read_changes.h"
#include "gitops/refs.h"
#include "gitops/run.h"

/* Make every character of a text stand for itself in an extended regular expression. */
static void add_literal(struct al_strv *argv, const char *option, const char *value)
{
    al_auto(al_str_clear) struct al_str word = AL_STR_INIT;

    for (; *value; value++) {
        if (strchr("\\^$.|?*+()[]{}", *value))
            al_str_addc(&word, '\\');
        al_str_addc(&word, *value);
    }
    al_strv_addf(argv, "%s=%s", option, word.buf);
}

static void add_filters(const struct al_log_query *query, struct al_strv *argv)
{
    if (query->max_count)
        al_strv_addf(argv, "--max-count=%" PRIu64, query->max_count);
    if (query->author || query->grep)
        al_strv_add(argv, "--extended-regexp");
    if (query->author)
        add_literal(argv, "--author", query->author);
    if (query->grep)
        al_strv_addf(argv, "--grep=%s", query->grep);
    if (query->since)
        al_strv_addf(argv, "--since=%s", query->since);
    if (query->until)
        al_strv_addf(argv, "--until=%s", query->until);
    if (query->changed)
        al_strv_addf(argv, "-%c%s", query->regex ? 'G' : 'S', query->changed);
    if (query->follow)
        al_strv_add(argv, "--follow");
    if (query->first_parent)
        al_strv_add(argv, "--first-parent");
    if (query->no_walk)
        al_strv_add(argv, "--no-walk");
}

static int add_paths(const struct al_repo *repo, const struct al_log_query *query,
                     struct al_run_limits *budget, struct al_strv *argv, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t at = 0;
    int r;

    if (query->range)
        al_strv_add(argv, query->range);
    al_strv_add(argv, "--");
    if (!query->paths)
        return 0;
    r = al_repo_pathspecs(repo, query->paths, budget, &words, err);
    if (r == 0 && al_batch_add(argv, &words, &at))
        r = al_error_set(err, AL_ERR_BAD_ARGS,
                         "paths: more than one git log takes; name fewer, or their directory");
    return r;
}

static void add_format(const struct al_log_query *query, struct al_strv *argv)
{
    al_strv_adds(argv, "--encoding=UTF-8", "--date=short", "--decorate=short",
                 "--no-show-signature", NULL);
    al_git_add_patch_options(argv);
    if (query->no_walk)
        al_strv_adds(argv, "-z", AL_LOG_FORMAT_SHOW, "--diff-merges=first-parent", "--numstat",
                     NULL);
    else if (query->stat)
        al_strv_adds(argv, "-z", AL_LOG_FORMAT_LONG, "--numstat", NULL);
    else if (query->patch)
        al_strv_add(argv, AL_LOG_FORMAT_LONG);
    else
        al_strv_adds(argv, "-z", AL_LOG_FORMAT_SHORT, "--no-patch", NULL);
    if (query->patch)
        al_strv_add(argv, "--patch");
}

/* Whether HEAD is on an unborn branch, whose history is empty. */
static bool is_unborn(const struct al_repo *repo, const struct al_log_query *query)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    return !*head && (!query->range || !strcmp(query->range, "HEAD"));
}

int al_git_read_commits(const struct al_repo *repo, const struct al_log_query *query,
                        const struct al_log_taker *to, struct al_run_limits *budget,
                        bool *ret_unborn, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_log_reader_clear) struct al_log_reader reader;
    int r;

    al_log_reader_init(&reader, query, to);
    command.buffered = !query->patch;
    al_strv_adds(&command.argv, "git", "log", NULL);
    add_format(query, &command.argv);
    add_filters(query, &command.argv);
    r = add_paths(repo, query, budget, &command.argv, err);
    if (r == 0)
        r = al_git_run(&repo->at, &command,
                       &(struct al_git_run){ .sink = { al_log_reader_add, &reader } }, budget,
                       &output, err);
    if (r < 0)
        return r;
    *ret_unborn = false;
    if (al_git_read_well(&output)) {
        al_log_reader_end(&reader);
        return 0;
    }
    *ret_unborn = is_unborn(repo, query);
    return *ret_unborn ? 0 : al_git_failed(&output, err);
}

int al_git_commit_time(const struct al_repo *repo, const char *word, struct al_run_limits *budget,
                       bool *ret_found, int64_t *ret_time, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_freep) char *seconds = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "log", "--max-count=1", "--format=%ct", "--no-patch",
                 "--no-show-signature", "--end-of-options", word, "--", NULL);
    r = al_git_run_word(repo, &command, budget, &seconds, err);
    if (r < 0)
        return r;
    *ret_found = seconds && *seconds;
    *ret_time = *ret_found ? (int64_t)strtoull(seconds, NULL, 10) : 0;
    return 0;
}
