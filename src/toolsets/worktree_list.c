// SPDX-License-Identifier: Apache-2.0
/* git_worktree, action list: the worktrees of the repository, who is in them and what is in them.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "gitops/plumbing/default_branch.h"
#include "gitops/worktree/list.h"
#include "gitops/worktree/place.h"
#include "gitops/worktree/record.h"
#include "guard/text.h"
#include "tool/worktree_calls.h"
#include "toolsets/worktree.h"
#include "util/fs.h"

#define SHORT_OID 8

/* What a list is made of. */
struct view {
    struct al_call *call;
    struct al_worktree_place place;
    struct al_worktrees worktrees;
    char *default_branch; /* full name; NULL: none */
    char **last_calls;    /* one for each; NULL: there is none */
};

static void view_clear(struct view *view)
{
    for (size_t i = 0; view->last_calls && i < view->worktrees.count; i++)
        free(view->last_calls[i]);
    free(view->last_calls);
    free(view->default_branch);
    al_worktrees_clear(&view->worktrees);
    al_worktree_place_clear(&view->place);
}

/* Worktrees that airlock made have a name; others have a path only. */
static const char *name_of(const struct view *view, const struct al_worktree_entry *entry)
{
    const char *below = al_fs_beneath(view->place.dir, entry->path);

    return below && *below && !strchr(below, '/') ? below : NULL;
}

static void add_count(struct al_str *out, size_t count, const char *what, bool *ret_any)
{
    if (!count)
        return;
    al_str_addf(out, "%s%zu %s", *ret_any ? ", " : "; ", count, what);
    *ret_any = true;
}

static void add_counts(const struct al_worktree_entry *entry, struct al_str *out)
{
    const struct al_worktree_counts *counts = &entry->counts;
    bool any = false;

    if (entry->is_bare)
        return;
    if (entry->is_gone)
        al_str_adds(out, "; its files are gone");
    else if (!counts->known)
        al_str_adds(out, "; cannot be looked at");
    add_count(out, counts->conflicts, counts->conflicts == 1 ? "conflict" : "conflicts", &any);
    add_count(out, counts->staged, "staged", &any);
    add_count(out, counts->modified, "modified", &any);
    add_count(out, counts->untracked, "untracked", &any);
    if (counts->known && !any)
        al_str_adds(out, "; clean");
}

static void add_branch(const struct view *view, const struct al_worktree_entry *entry,
                       struct al_str *out)
{
    const char *base = view->default_branch ? view->default_branch + strlen("refs/heads/") : NULL;
    al_auto(al_freep) char *safe_base = base ? al_text_sanitize_line(base) : NULL;
    al_auto(al_freep) char *branch = entry->branch ? al_text_sanitize_line(entry->branch) : NULL;

    al_str_addf(out, "  %s", entry->is_bare ? "bare" : branch ? branch : "detached");
    if (entry->head)
        al_str_addf(out, " %.*s", SHORT_OID, entry->head);
    else if (!entry->is_bare)
        al_str_adds(out, " without commits");
    if (!entry->is_compared || !(entry->ahead + entry->behind))
        return;
    al_str_adds(out, ", ");
    if (entry->ahead)
        al_str_addf(out, "%zu ahead%s", entry->ahead, entry->behind ? " and " : " of");
    if (entry->behind)
        al_str_addf(out, "%zu behind", entry->behind);
    al_str_addf(out, " %s", safe_base);
}

/* Whether the worktree is the one that airlock made: somebody may have made another one since. */
static bool is_recorded(const struct al_worktree_record *record, const char *path)
{
    al_auto(al_closep) int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_freep) char *tree = fd < 0 ? NULL : al_worktree_tree_id(fd);

    return tree && record->tree && !strcmp(tree, record->tree);
}

static void add_people(const struct view *view, size_t i, const char *name, struct al_str *out)
{
    const struct al_location *at = &al_call_repo(view->call)->at;
    const struct al_worktree_entry *entry = &view->worktrees.items[i];
    al_auto(al_worktree_record_clear) struct al_worktree_record record = AL_WORKTREE_RECORD_INIT;
    al_auto(al_freep) char *agent = NULL;

    if (entry->locked) {
        al_auto(al_freep) char *reason = al_text_join_lines(entry->locked);

        al_str_addf(out, "; locked%s%s", *reason ? ": " : "", reason);
    }
    if (name && al_worktree_record_read(at->git, at->common_dir, name, &record) == 0 &&
        record.agent && is_recorded(&record, entry->path))
        agent = al_text_sanitize_line(record.agent);
    if (agent)
        al_str_addf(out, "; made by agent %s", agent);
    if (view->last_calls[i])
        al_str_addf(out, "; last call: %s", view->last_calls[i]);
}

static void add_line(const struct view *view, size_t i, struct al_str *out)
{
    const struct al_worktree_entry *entry = &view->worktrees.items[i];
    const struct al_location *at = &al_call_repo(view->call)->at;
    const char *name = name_of(view, entry);
    al_auto(al_freep) char *path = al_text_sanitize_line(entry->path);
    al_auto(al_freep) char *safe = name ? al_text_sanitize_line(name) : NULL;

    al_str_addf(out, "%s%s  %s",
                safe     ? safe
                : i == 0 ? "(main)"
                         : "(elsewhere)",
                !strcmp(entry->path, at->top) ? " (this one)" : "", path);
    add_branch(view, entry, out);
    add_counts(entry, out);
    add_people(view, i, name, out);
    al_str_addc(out, '\n');
}

static void find_last_calls(struct view *view)
{
    const size_t count = view->worktrees.count;
    al_auto(al_freep) const char **tops = al_calloc(count + 1, sizeof(*tops));

    view->last_calls = al_calloc(count + 1, sizeof(*view->last_calls));
    for (size_t i = 0; i < count; i++)
        tops[i] = view->worktrees.items[i].path;
    al_call_last_in(view->call, tops, count, view->last_calls);
}

/* Lines are left out as a whole. */
static void add_lines(const struct view *view, struct al_result *result)
{
    const size_t max_bytes = al_call_max_bytes(view->call), count = view->worktrees.count;

    al_str_addf(&result->text, "%zu worktree%s\n", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

        add_line(view, i, &line);
        if (result->text.len + line.len > max_bytes) {
            result->truncated = true;
            break;
        }
        al_str_add(&result->text, line.buf, line.len);
    }
    al_str_trim_end(&result->text);
}

int al_worktree_tool_list(struct al_call *call, const void *args, struct al_result *result,
                          struct al_error *err)
{
    al_auto(view_clear) struct view view = { .call = call, .place = AL_WORKTREE_PLACE_INIT };
    struct al_run_limits *budget = al_call_budget(call);
    const struct al_repo *repo = al_call_repo(call);
    int r = al_worktree_place_find(repo, false, &view.place, err);

    (void)args;
    if (r == 0)
        r = al_worktree_list(repo, budget, &view.worktrees, err);
    view.default_branch = al_git_default_branch(&repo->at);
    for (size_t i = 0; r == 0 && i < view.worktrees.count; i++)
        r = al_worktree_look(repo, view.default_branch, budget, &view.worktrees.items[i], err);
    if (r < 0)
        return r;
    find_last_calls(&view);
    add_lines(&view, result);
    result->exit_code = 0;
    return 0;
}
