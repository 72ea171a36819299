// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/going_on.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gitops/inmemory/inmemory.h"
#include "gitops/location.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/sequencer/operation_state.h"
#include "gitops/sequencer/overwrite.h"
#include "gitops/sequencer/todo.h"

/* A commit that is left, as two trees: its change is that from `base` to `theirs`. */
struct step {
    char *base, *theirs;
};

struct steps {
    struct step *items;
    size_t count;
};

static void steps_clear(struct steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        free(steps->items[i].base);
        free(steps->items[i].theirs);
    }
    free(steps->items);
}

/* The line of `git log` that is about this commit: its id, and its parents. */
static const char *find_line(const struct al_buffer *lines, const char *commit)
{
    for (size_t at = 0; at < lines->len; at += strlen(lines->data + at) + 1)
        if (al_starts_with(lines->data + at, commit))
            return lines->data + at;
    return NULL;
}

/* A word of a line, from 0; NULL: it has not so many.  Caller frees. */
static char *word_of(const char *line, unsigned number)
{
    for (; number && *line; number--) {
        line += strcspn(line, " ");
        line += *line == ' ';
    }
    return *line ? al_strndup(line, strcspn(line, " ")) : NULL;
}

static void add_step(const struct al_repo *repo, const char *line, unsigned mainline, bool reverts,
                     struct steps *steps)
{
    char *commit = word_of(line, 0), *parent = word_of(line, mainline ? mainline : 1);

    if (!parent)
        parent = al_strdup(al_git_empty_tree(repo));
    steps->items = al_reallocarray(steps->items, steps->count + 1, sizeof(*steps->items));
    steps->items[steps->count++] = reverts ? (struct step){ .base = commit, .theirs = parent }
                                           : (struct step){ .base = parent, .theirs = commit };
}

/* What is left to do.  A commit that is not there stops git, too. */
static int read_steps(const struct al_repo *repo, struct al_run_limits *budget, struct steps *steps,
                      struct al_error *err)
{
    const enum al_operation_state state = al_git_operation_state(repo);
    const unsigned mainline = state == AL_IN_PROGRESS_REBASE ? 0 : al_todo_mainline(repo);
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    struct al_buffer lines = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    const char *line = "";
    int r = 0;

    al_todo_left(repo, &left);
    for (size_t i = 0; i < left.count; i++)
        al_str_addf(&input, "%s\n", left.items[i]);
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "log", "--stdin", "--no-walk=unsorted", "--format=%H %P",
                 "-z", "--no-show-signature", "--no-notes", "--no-decorate", "--no-color",
                 "--no-patch", NULL);
    if (left.count)
        r = al_git_list_paths(repo, &command, budget, &lines, err);
    for (size_t i = 0; r == 0 && line && i < left.count; i++) {
        line = find_line(&lines, left.items[i]);
        if (line)
            add_step(repo, line, mainline, state == AL_IN_PROGRESS_REVERT, steps);
    }
    al_buffer_clear(&lines);
    return r;
}

/* git stops at the first conflict, and what comes after it is looked at when it goes on. */
static int check_merges(struct al_inmemory *memory, const struct steps *steps, char *tree,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *ours = tree;
    bool conflicted = false;
    int r = 0;

    for (size_t i = 0; r == 0 && !conflicted && i < steps->count; i++) {
        al_auto(al_merged_clear) struct al_merged merged = AL_MERGED_INIT;

        r = al_inmemory_merge_with_base(memory, steps->items[i].base, ours, steps->items[i].theirs,
                                        budget, &merged, err);
        if (r == 0)
            r = al_overwrite_check(al_inmemory_repo(memory), ours, merged.tree, budget, err);
        conflicted = merged.conflicted;
        if (r == 0) {
            free(ours);
            ours = al_take(&merged.tree);
        }
    }
    return r;
}

static int check(const struct al_repo *repo, const struct steps *steps, bool skips,
                 struct al_run_limits *budget, struct al_error *err)
{
    struct al_inmemory *memory = NULL;
    char *tree = NULL;
    int r = al_inmemory_open(repo, &memory, err);

    if (r == 0 && skips)
        tree = al_ref_head(&repo->at);
    else if (r == 0)
        r = al_inmemory_index_tree(memory, budget, &tree, err);
    if (r == 0)
        r = check_merges(memory, steps, tree, budget, err);
    al_inmemory_free(memory);
    return r;
}

int al_going_on_check(const struct al_repo *repo, bool skips, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(steps_clear) struct steps steps = { .count = 0 };
    int r = read_steps(repo, budget, &steps, err);

    if (r < 0 || !steps.count)
        return r;
    return check(repo, &steps, skips, budget, err);
}
