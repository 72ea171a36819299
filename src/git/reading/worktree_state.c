// SPDX-License-Identifier: Apache-2.0
#include "git/reading/worktree_state.h"

#include <stdlib.h>
#include <string.h>

#include "git/command.h"
#include "git/refs.h"
#include "git/run.h"

/* Fields of a record before the path: "1 XY sub mH mI mW hH hI path". */
#define FIELDS_CHANGED  8
#define FIELDS_RENAMED  9
#define FIELDS_CONFLICT 10

struct reader {
    bool (*take)(void *payload, const struct al_file_state *file);
    void *payload;
    struct al_worktree_state *to;
    bool has_ahead;
    char *renamed; /* a record of a rename, whose old name is the next one; NULL: none */
};

void al_worktree_state_clear(struct al_worktree_state *state)
{
    free(al_take(&state->branch));
    free(al_take(&state->head));
    free(al_take(&state->upstream));
}

static const char *after_spaces(const char *text, int n)
{
    while (text && n-- > 0) {
        text = strchr(text, ' ');
        if (text)
            text++;
    }
    return text;
}

static void replace(char **text, const char *with)
{
    free(*text);
    *text = al_strdup(with);
}

/* "+3 -1"; git prints "+? -?" when it was not asked to count. */
static void read_distance(struct reader *reader, const char *value)
{
    char *rest;

    reader->to->ahead = strtoull(value + strlen("+"), &rest, 10);
    reader->has_ahead = al_starts_with(rest, " -");
    if (reader->has_ahead)
        reader->to->behind = strtoull(rest + strlen(" -"), NULL, 10);
}

/* A line of the header: "# branch.head main". */
static void take_header(struct reader *reader, const char *record)
{
    struct al_worktree_state *to = reader->to;
    const char *value = after_spaces(record, 2);

    if (!value)
        return;
    if (al_starts_with(record, "# branch.oid "))
        replace(&to->head, strcmp(value, "(initial)") != 0 ? value : "");
    else if (al_starts_with(record, "# branch.head "))
        replace(&to->branch, value);
    else if (al_starts_with(record, "# branch.upstream "))
        replace(&to->upstream, value);
    else if (al_starts_with(record, "# branch.ab +"))
        read_distance(reader, value);
}

static void count(struct al_worktree_state *to, const struct al_file_state *file)
{
    if (file->kind == 'u') {
        to->conflicts++;
    } else if (file->kind == '?') {
        to->untracked++;
    } else {
        to->staged += file->staged != '.';
        to->unstaged += file->unstaged != '.';
    }
}

static unsigned read_mode(const char *record, int field)
{
    const char *text = after_spaces(record, field);

    return text ? (unsigned)strtoull(text, NULL, 8) : 0;
}

static bool read_tracked(const char *record, struct al_file_state *file)
{
    const char *changes = after_spaces(record, 1);

    file->path = after_spaces(record, *record == 'u'   ? FIELDS_CONFLICT
                                      : *record == '2' ? FIELDS_RENAMED
                                                       : FIELDS_CHANGED);
    if (!file->path || strcspn(changes, " ") != 2)
        return false;
    file->staged = changes[0];
    file->unstaged = changes[1];
    file->is_submodule = *after_spaces(record, 2) == 'S';
    file->old_mode = read_mode(record, 3);
    file->index_mode = read_mode(record, 4);
    file->mode = read_mode(record, *record == 'u' ? 6 : 5);
    return true;
}

static bool take_file(struct reader *reader, const char *record, const char *old_path)
{
    struct al_file_state file = { .kind = *record,
                                  .path = after_spaces(record, 1),
                                  .old_path = old_path,
                                  .staged = '.',
                                  .unstaged = '.' };

    if (!file.path || !*file.path || (*record != '?' && !read_tracked(record, &file)))
        return true;
    count(reader->to, &file);
    return !reader->take || reader->take(reader->payload, &file);
}

static bool take_record(void *payload, char *const *fields)
{
    struct reader *reader = payload;
    const char *record = fields[0];
    al_auto(al_freep) char *renamed = al_take(&reader->renamed);

    if (renamed)
        return take_file(reader, renamed, record);
    if (*record && strchr("1u?", *record))
        return take_file(reader, record, NULL);
    if (*record == '#')
        take_header(reader, record);
    else if (*record == '2')
        reader->renamed = al_strdup(record);
    return true;
}

void al_worktree_state_read_head(const struct al_repo *repo, struct al_worktree_state *state)
{
    static const char heads[] = "refs/heads/";
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_freep) char *broken = al_ref_broken(&repo->at, NULL);

    al_ref_follow_head(&repo->at, &refs);
    free(al_take(&state->branch));
    if (refs.count)
        state->branch = al_strdup(
            al_starts_with(refs.items[0], heads) ? refs.items[0] + strlen(heads) : refs.items[0]);
    free(state->head);
    state->head = broken ? al_strdup("") : al_ref_head(&repo->at);
    state->is_broken = broken;
}

/* git prints "(detached)" when HEAD is on no branch, but a branch may have that name too; and no
 * name of a branch that is broken. */
static void settle_branch(const struct al_repo *repo, const struct reader *reader)
{
    struct al_worktree_state *to = reader->to;

    if (!to->head || !*to->head || (to->branch && !strcmp(to->branch, "(detached)")))
        al_worktree_state_read_head(repo, to);
    to->is_gone = to->upstream && *to->head && !reader->has_ahead;
}

int al_git_read_worktree_state(const struct al_repo *repo, const char *untracked,
                               bool (*take)(void *payload, const struct al_file_state *file),
                               void *payload, struct al_worktree_state *ret_state,
                               struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct reader reader = { .take = take, .payload = payload, .to = ret_state };
    int r;

    command.lists_untracked = strcmp(untracked, "no") != 0;
    al_strv_adds(&command.argv, "git", "status", "--porcelain=v2", "--branch", "-z",
                 "--find-renames", "--ignore-submodules=dirty", NULL);
    al_strv_addf(&command.argv, "--untracked-files=%s", untracked);
    r = al_git_read_records(&repo->at, &command, 1, take_record, &reader, err);
    free(reader.renamed);
    if (r == 0)
        settle_branch(repo, &reader);
    return r;
}

int al_git_status(const struct al_repo *repo, const struct al_status_options *options,
                  size_t max_bytes, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.lists_untracked = options->untracked;
    al_strv_adds(&command.argv, "git", "status", NULL);
    if (options->porcelain) {
        al_strv_add(&command.argv, "--porcelain=1");
        if (options->branch)
            al_strv_add(&command.argv, "-b");
    }
    if (!options->untracked)
        al_strv_add(&command.argv, "-uno");
    al_strv_add(&command.argv, "--ignore-submodules=dirty");
    return al_git_run_checked(&repo->at, &command, max_bytes, ret_output, err);
}
