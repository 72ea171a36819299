// SPDX-License-Identifier: Apache-2.0
/* Read the hunks of a diff from git. */
#include "gitops/diff/diff.h"
#include "gitops/diff/hunks.h"
#include "gitops/hunks/hunk_list.h"
#include "gitops/run.h"

/** The text of a patch, up to its limit. */
struct reading {
    struct al_str *text;
    size_t max_bytes;
    bool cut;
};

static bool add_text(void *payload, const char *data, size_t len)
{
    struct reading *reading = payload;
    const size_t room = reading->max_bytes - reading->text->len;

    reading->cut = len > room;
    al_str_add(reading->text, data, len < room ? len : room);
    return !reading->cut;
}

/* Every setting that changes a patch is given, so that the same change is always the same patch. */
static void add_options(const struct al_hunk_query *query, struct al_strv *argv)
{
    al_strv_adds(argv, "git", "diff", "--src-prefix=" AL_HUNKS_OLD_PREFIX,
                 "--dst-prefix=" AL_HUNKS_NEW_PREFIX, "--no-renames", "--no-relative",
                 "--full-index", "--diff-algorithm=myers", "--indent-heuristic",
                 "--inter-hunk-context=0", "--no-color", "--submodule=short", NULL);
    if (query->binary)
        al_strv_add(argv, "--binary");
}

static int read_side(const struct al_repo *repo, const struct al_hunk_query *query,
                     enum al_hunk_side side, struct al_run_limits *budget,
                     struct al_hunk_list *ret_list, struct al_error *err)
{
    const struct al_diff_options options = { .cached = side == AL_HUNKS_STAGED,
                                             .unified = AL_HUNKS_CONTEXT,
                                             .paths = query->paths };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    struct reading reading = { .text = &ret_list->text, .max_bytes = AL_HUNKS_MAX_BYTES };
    int r;

    if (query->max_bytes && query->max_bytes < AL_HUNKS_MAX_BYTES)
        reading.max_bytes = query->max_bytes;
    ret_list->side = side;
    add_options(query, &command.argv);
    command.index = query->index;
    command.quotes_names = false;
    r = al_git_diff_add_args(repo, &options, budget, &command.argv, err);
    if (r == 0)
        r = al_git_read(&repo->at, &command, (struct al_sink){ add_text, &reading }, budget, err);
    if (r < 0)
        return r;
    ret_list->truncated = reading.cut;
    al_hunk_list_parse(ret_list);
    return 0;
}

int al_git_read_hunks(const struct al_repo *repo, const struct al_hunk_query *query,
                      struct al_run_limits *budget, struct al_hunk_list *ret_list,
                      struct al_error *err)
{
    const enum al_hunk_side other_side =
        query->side == AL_HUNKS_STAGED ? AL_HUNKS_UNSTAGED : AL_HUNKS_STAGED;
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_list_clear) struct al_hunk_list other = AL_HUNK_LIST_INIT;
    int r = read_side(repo, query, query->side, budget, &list, err);

    if (r == 0 && list.count && !query->index)
        r = read_side(repo, query, other_side, budget, &other, err);
    if (r < 0)
        return r;
    al_hunk_list_number(&list, &other);
    *ret_list = list;
    list = AL_HUNK_LIST_INIT;
    return 0;
}

int al_git_read_both_hunks(const struct al_repo *repo, const struct al_hunk_query *query,
                           struct al_run_limits *budget, struct al_hunk_list *ret_staged,
                           struct al_hunk_list *ret_unstaged, struct al_error *err)
{
    al_auto(al_hunk_list_clear) struct al_hunk_list staged = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_list_clear) struct al_hunk_list unstaged = AL_HUNK_LIST_INIT;
    int r = read_side(repo, query, AL_HUNKS_STAGED, budget, &staged, err);

    if (r == 0)
        r = read_side(repo, query, AL_HUNKS_UNSTAGED, budget, &unstaged, err);
    if (r < 0)
        return r;
    al_hunk_list_number(&staged, &unstaged);
    al_hunk_list_number(&unstaged, &staged);
    *ret_staged = staged;
    *ret_unstaged = unstaged;
    staged = unstaged = AL_HUNK_LIST_INIT;
    return 0;
}
