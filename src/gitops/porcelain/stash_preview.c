// SPDX-License-Identifier: Apache-2.0
/*
 * The preview of a stash command for an approval.
 *
 * A stash entry is a commit.  Its first parent is the commit it was made on, the second has the
 * staged changes, and the third, which only some entries have, the untracked files.  All of them
 * matter, so the existence of an entry is never derived from one of these diffs.
 *
 * Source: git-stash(1) "DISCUSSION".
 */
#include "gitops/porcelain/stash_preview.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/failure.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/revision.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/porcelain/stash.h"
#include "gitops/preview/affected_files.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/preview/verify_objects.h"
#include "gitops/refs.h"
#include "gitops/run.h"

#define IDS_MAX_BYTES (64u * 1024u)
/* Limits on what the preview of a clear shows beyond the list: number of entries, and bytes. */
#define ENTRIES_MAX       10
#define ENTRIES_MAX_BYTES (16u * 1024u)

static int preview_push(const struct al_repo *repo, const struct al_strv *files,
                        struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    static const struct al_diff_options staged = { .cached = true, .unified = -1 };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_git_diff_excerpt(repo, &staged, budget, &text, err);

    if (r < 0)
        return r;
    al_git_files_excerpt(repo, files,
                         "Changes to these files are put aside, staged ones too:", budget, out);
    if (text.len)
        al_str_addf(out, "This is staged, and put aside:\n%s", text.buf);
    al_str_reset(&text);
    r = al_git_unseen_changes_excerpt(repo, NULL, budget, &text, err);
    if (r == 0 && text.len)
        al_str_addf(out, "This is not put aside, and may be lost:\n%s", text.buf);
    return r;
}

/* Run `git rev-parse` or `git log` and return the ids it prints, one a line; none when git
 * fails. */
static int find_ids(const struct al_repo *repo, struct al_git_command *command,
                    struct al_run_limits *budget, struct al_strv *ret_ids, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    char *save = NULL;
    int r = al_git_run(&repo->at, command, &(struct al_git_run){ .max_bytes = IDS_MAX_BYTES },
                       budget, &output, err);

    if (r < 0 || output.exit_code != 0)
        return r;
    for (char *id = strtok_r(output.out.out.buf, "\n", &save); id; id = strtok_r(NULL, "\n", &save))
        al_strv_add(ret_ids, id);
    return 0;
}

static int find_entry(const struct al_repo *repo, const struct al_stash_options *options,
                      struct al_run_limits *budget, struct al_strv *ret_ids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "rev-parse", "--verify", "--quiet", NULL);
    al_strv_take(&command.argv, al_git_stash_entry(options));
    return find_ids(repo, &command, budget, ret_ids, err);
}

static int find_parents(const struct al_repo *repo, const char *entry, struct al_run_limits *budget,
                        struct al_strv *ret_ids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "rev-parse", NULL);
    al_strv_addf(&command.argv, "%s^@", entry);
    return find_ids(repo, &command, budget, ret_ids, err);
}

/* Whether the staged content differs from the files as they were on disk. */
static int has_own_index(const struct al_repo *repo, const char *entry,
                         const struct al_strv *parents, struct al_run_limits *budget, bool *ret_has,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv trees = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "rev-parse", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", parents->items[0]);
    al_strv_addf(&command.argv, "%s^{tree}", parents->items[1]);
    al_strv_addf(&command.argv, "%s^{tree}", entry);
    r = find_ids(repo, &command, budget, &trees, err);
    *ret_has = trees.count != 3 || (strcmp(trees.items[1], trees.items[0]) != 0 &&
                                    strcmp(trees.items[1], trees.items[2]) != 0);
    return r;
}

/* Append one diff of an entry, below its title. */
static int add_part(const struct al_repo *repo, const char *from, const char *to, const char *title,
                    struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    const struct al_diff_options change = { .from_ref = from, .to_ref = to, .unified = -1 };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_git_diff_excerpt(repo, &change, budget, &text, &why);

    if (al_git_exited_with_error(r, budget)) {
        al_str_addf(out, "%s(git cannot show it)\n", title);
        return 0;
    }
    if (r < 0 && err) {
        *err = why;
        why = AL_ERROR_INIT;
    }
    if (r == 0 && text.len)
        al_str_addf(out, "%s%s", title, text.buf);
    return r;
}

/* Append everything in an entry. The staged content is shown if the action does not restore it. */
static int add_entry(const struct al_repo *repo, const char *entry, enum al_stash_action action,
                     struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    size_t before = out->len;
    bool own_index = false;
    int r = find_parents(repo, entry, budget, &parents, err);

    if (r == 0 && parents.count)
        r = add_part(repo, parents.items[0], entry, "", budget, out, err);
    if (r == 0 && parents.count > 1 && action != AL_STASH_APPLY)
        r = has_own_index(repo, entry, &parents, budget, &own_index, err);
    if (r == 0 && own_index)
        r = add_part(repo, parents.items[0], parents.items[1],
                     action == AL_STASH_POP ? "This was staged, and comes back only as above:\n"
                                            : "This was staged:\n",
                     budget, out, err);
    if (r == 0 && parents.count > 2)
        r = add_part(repo, al_git_empty_tree(repo), parents.items[2], "Untracked files:\n", budget,
                     out, err);
    if (r == 0 && out->len == before)
        al_str_adds(out, "(it has no changes)\n");
    return r;
}

static int list_entries(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_strv *ret_ids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "log", "--format=%H", "-g", "--no-patch",
                 "--no-show-signature", NULL);
    al_strv_addf(&command.argv, "--max-count=%d", ENTRIES_MAX + 1);
    al_strv_adds(&command.argv, "refs/stash", "--", NULL);
    return find_ids(repo, &command, budget, ret_ids, err);
}

/* Append the content of the first entries. */
static int add_entries(const struct al_repo *repo, const struct al_strv *ids,
                       struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    const size_t begin = out->len;
    size_t i = 0;
    int r = 0;

    for (; r == 0 && i < ids->count && i < ENTRIES_MAX && out->len - begin < ENTRIES_MAX_BYTES;
         i++) {
        int64_t index = (int64_t)i;

        (void)al_git_stash_find(repo, ids->items[i], &index);
        al_str_addf(out, "In stash@{%" PRId64 "}:\n", index);
        r = add_entry(repo, ids->items[i], AL_STASH_CLEAR, budget, out, err);
    }
    if (i < ids->count)
        al_str_adds(out, "What is in the other entries is not shown.\n");
    return r;
}

/* Append the entries of this working tree. */
static int preview_clear_own(const struct al_repo *repo, const char *entries,
                             struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_freep) char *words = al_strdup(entries);
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    char *save = NULL;

    for (char *id = strtok_r(words, " ", &save); id; id = strtok_r(NULL, " ", &save))
        al_strv_add(&ids, id);
    if (!ids.count)
        return 0;
    al_str_addf(out, "This is lost, %zu entr%s of this worktree:\n", ids.count,
                ids.count == 1 ? "y" : "ies");
    return add_entries(repo, &ids, budget, out, err);
}

/* Append the list of entries, then the content of the first ones. */
static int preview_clear(const struct al_repo *repo, struct al_run_limits *budget,
                         struct al_str *out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    const size_t begin = out->len;
    size_t i = 0;
    int r = al_git_stash_list(repo, al_git_excerpt_bytes(budget, AL_GIT_EXCERPT_MAX_BYTES), budget,
                              &output, err);

    if (r == 0)
        r = list_entries(repo, budget, &ids, err);
    if (r < 0)
        return r;
    al_str_adds(out, "This is lost:\n");
    al_git_add_excerpt(budget, output.out.out.buf, output.out.out.len, output.stopped, out);
    if (!ids.count) /* there is no reflog; git deletes the commit that refs/stash points to */
        al_strv_add(&ids, "refs/stash");
    for (; r == 0 && i < ids.count && i < ENTRIES_MAX && out->len - begin < ENTRIES_MAX_BYTES;
         i++) {
        al_str_addf(out, "In stash@{%zu}:\n", i);
        r = add_entry(repo, ids.items[i], AL_STASH_CLEAR, budget, out, err);
    }
    if (i < ids.count)
        al_str_addf(out, "What is in the entries from stash@{%zu} on is not shown.\n", i);
    return r;
}

int al_git_stash_preview(const struct al_repo *repo, const struct al_stash_options *options,
                         const struct al_strv *files, struct al_run_limits *budget,
                         struct al_str *out, bool *ret_any, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    const size_t before = out->len;
    int r;

    *ret_any = false;
    if (options->action == AL_STASH_PUSH) {
        r = preview_push(repo, files, budget, out, err);
        *ret_any = out->len > before;
        return r;
    }
    if (!al_ref_exists(&repo->at, "refs/stash"))
        return 0;
    if (options->action == AL_STASH_CLEAR && options->entries) {
        r = preview_clear_own(repo, options->entries, budget, out, err);
        *ret_any = out->len > before;
        return r;
    }
    if (options->action == AL_STASH_CLEAR) {
        *ret_any = true;
        return preview_clear(repo, budget, out, err);
    }
    r = find_entry(repo, options, budget, &ids, err);
    if (r < 0 || !ids.count) /* git reports it when it runs */
        return r;
    *ret_any = true;
    if (options->action == AL_STASH_DROP)
        al_str_adds(out, "This is lost:\n");
    return add_entry(repo, ids.items[0], options->action, budget, out, err);
}
