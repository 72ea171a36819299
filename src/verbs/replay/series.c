// SPDX-License-Identifier: Apache-2.0
#include "verbs/replay/series.h"

#include <stdlib.h>
#include <string.h>

#include "git/command.h"
#include "git/hunks/hunk_list.h"
#include "git/plumbing/index_scan.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/text.h"
#include "verbs/replay/work.h"
#include "verbs/sequencer/conflict_hunks.h"

void al_series_made_clear(struct al_series_made *made)
{
    al_inmemory_free(made->memory);
    al_commit_indexes_clear(&made->indexes);
    al_strv_clear(&made->commits);
    free(made->tip);
    *made = (struct al_series_made){ .memory = NULL };
}

/* --- The conflict of a replay that must not stop --- */

#define CONFLICT_BYTES 2000u
#define CONFLICT_FILES 5u
#define SIDE_BYTES     200u

/* Append lines as one: "line 5 / line 6". */
static void add_side(struct al_bytes lines, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str side = AL_STR_INIT;
    size_t at = 0;

    while (at < lines.len && side.len < SIDE_BYTES) {
        const size_t len = strcspn(lines.data + at, "\n");

        al_str_addf(&side, "%s%.*s", at ? " / " : "", (int)len, lines.data + at);
        at += len + 1;
    }
    al_str_addf(out, "\"%.*s%s\"", (int)(side.len < SIDE_BYTES ? side.len : SIDE_BYTES), side.buf,
                at < lines.len ? "…" : "");
}

/* Append the hunks in conflict of a file, as the merge has them: what is there, and the change. */
static void add_hunks(const struct al_str *text, struct al_str *out)
{
    struct al_conflict_blocks blocks;

    al_conflict_blocks_find((struct al_bytes){ text->buf, text->len }, AL_CONFLICT_MARKER_SIZE,
                            NULL, &blocks);
    for (size_t i = 0; i < blocks.count && out->len < CONFLICT_BYTES; i++) {
        al_str_adds(out, i ? "; has " : ": has ");
        add_side(blocks.items[i].sides[AL_STAGE_OURS], out);
        al_str_adds(out, ", not ");
        add_side(blocks.items[i].sides[AL_STAGE_THEIRS], out);
    }
    al_conflict_blocks_clear(&blocks);
}

static void add_file(const struct al_repo *view, const char *tree, const char *path,
                     struct al_str *out)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    al_str_addf(out, "%s%s", out->len ? ", " : "", path);
    al_strv_adds(&command.argv, "git", "cat-file", "blob", NULL);
    al_strv_addf(&command.argv, "%s:%s", tree, path);
    if (al_git_run(&view->at, &command, &(struct al_git_run){ .max_bytes = 1u << 20 }, &output,
                   NULL) == 0 &&
        output.exit_code == 0)
        add_hunks(&output.out.out, out);
}

int al_replay_conflict(const struct al_inmemory *memory, const struct al_replayed *replayed,
                       const char *commit, const char *what, const char *remedy,
                       struct al_error *err)
{
    const struct al_merged *conflict = &replayed->conflict;
    al_auto(al_freep) char *subject =
        al_message_subject(al_inmemory_known(memory, commit)->message);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *shown = al_text_sanitize_line(subject);
    al_auto(al_freep) char *safe = NULL;

    for (size_t i = 0; i < conflict->files.count && i < CONFLICT_FILES; i++)
        add_file(al_inmemory_repo(memory), conflict->tree, conflict->files.items[i].path, &text);
    safe = al_text_sanitize_line(text.buf);
    return al_error_remedy(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                             "%.8s %s %s; nothing was done. In conflict: %s",
                                             commit, shown, what, safe),
                           err, remedy);
}

/* --- Choose --- */

/* Write the tree of the parts up to one. */
static int choose_up_to(const struct al_series *series, size_t last, struct al_series_made *made,
                        char **ret_tree, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv hunks = AL_STRV_INIT, paths = AL_STRV_INIT;
    struct al_commit_part part = series->items[last].part;
    struct al_repo view = *al_inmemory_repo(made->memory);
    int r;

    for (size_t i = 0; series->count > 1 && i <= last; i++) {
        const struct al_commit_part *of = &series->items[i].part;

        al_strv_add_all(&hunks, of->hunks);
        al_strv_add_all(&paths, of->paths);
    }
    if (series->count > 1) {
        part.hunks = hunks.count ? &hunks : NULL;
        part.paths = paths.count ? &paths : NULL;
    }
    al_commit_indexes_clear(&made->indexes);
    r = al_git_choose_commit(&view, &part, &made->indexes, err);
    return r < 0 ? r : al_inmemory_index_tree(made->memory, made->indexes.commit, ret_tree, err);
}

static int has_nothing(const struct al_series *series, size_t i, struct al_error *err)
{
    if (series->count == 1)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES,
                                 "nothing to commit");
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES,
                             "commits[%zu] has nothing to commit that those before it do not have",
                             i);
}

/* A chain of commits on HEAD, one for each item that changes something; "" for the others. */
static int make_chain(const struct al_series *series, struct al_series_made *made, char **ret_tree,
                      struct al_error *err)
{
    const char *parent = series->head;
    int r = al_inmemory_tree(made->memory, *parent ? parent : NULL, ret_tree, err);

    for (size_t i = 0; r == 0 && i < series->count; i++) {
        const struct al_series_item *item = &series->items[i];
        al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
        al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
        al_auto(al_freep) char *tree = NULL;
        char *oid = NULL;

        if (item->changes || !item->into)
            r = choose_up_to(series, i, made, &tree, err);
        if (r == 0 && tree && !strcmp(tree, *ret_tree) && (item->into || !series->allow_empty))
            return has_nothing(series, i, err);
        if (r < 0 || !tree) {
            al_strv_add(&made->commits, "");
            continue;
        }
        al_message_strip_space(item->message ? item->message : "change\n", &message);
        if (*parent)
            al_strv_add(&parents, parent);
        r = al_inmemory_commit(made->memory,
                               &(struct al_new_commit){ .tree = tree,
                                                        .parents = &parents,
                                                        .author = series->author,
                                                        .message = message.buf },
                               &oid, err);
        if (r < 0)
            return r;
        al_strv_take(&made->commits, oid);
        parent = oid;
        free(*ret_tree);
        *ret_tree = al_take(&tree);
    }
    if (r == 0)
        made->tip = al_strdup(parent);
    return r;
}

/* --- Go into earlier commits --- */

/* List the commits from the oldest target on. */
static int find_base(const struct al_repo *repo, const struct al_strv *targets, char **ret_onto,
                     struct al_rebase_list *list, struct al_error *err)
{
    const struct al_strv *merges = &list->merges;
    al_auto(al_freep) char *oldest = NULL;
    int r = al_commit_list_base(repo, targets, &oldest, ret_onto, err);

    if (r == 0)
        r = al_commit_list_rebase(repo, *ret_onto, "HEAD", list, err);
    if (r == 0 && merges->count)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "%.8s is a merge, and lies between %.8s and the tip of the branch: it "
                            "cannot be replayed, and nothing was done",
                            merges->items[merges->count - 1], targets->items[0]);
    for (size_t i = 0; r == 0 && i < targets->count; i++)
        if (!al_strv_contains(&list->all, targets->items[i]))
            return al_error_set(err, AL_ERR_BAD_ARGS, "into: %.8s is not a commit of this branch",
                                targets->items[i]);
    return r;
}

/* The steps of the replay: each earlier commit, then what goes into it; at the end the new ones. */
static void add_steps(const struct al_series *series, const struct al_series_made *made,
                      const struct al_strv *commits, struct al_replay_work *work)
{
    for (size_t i = 0; i < commits->count; i++) {
        const char *commit = commits->items[i], *message = NULL;

        for (size_t k = 0; k < series->count; k++)
            if (series->items[k].into && !strcmp(series->items[k].into, commit) &&
                series->items[k].message)
                message = series->items[k].message;
        al_replay_work_add(work, message ? AL_REPLAY_REWORD : AL_REPLAY_PICK, commit, message, 0);
        for (size_t k = 0; k < series->count; k++)
            if (series->items[k].into && !strcmp(series->items[k].into, commit) &&
                *made->commits.items[k])
                al_replay_work_add(work, AL_REPLAY_FIXUP, made->commits.items[k], NULL, 0);
    }
    for (size_t k = 0; k < series->count; k++)
        if (!series->items[k].into)
            al_replay_work_add(work, AL_REPLAY_PICK, made->commits.items[k], NULL, 0);
}

static size_t step_of(const struct al_replay_work *work, const char *commit)
{
    size_t i = 0;

    while (strcmp(work->steps[i].commit, commit) != 0)
        i++;
    return i;
}

/* Fail with what it stopped at. */
static int stopped(const struct al_replay_work *work, struct al_error *err)
{
    size_t at = work->replayed.commits.count;
    const bool melds = work->steps[at].kind == AL_REPLAY_FIXUP;

    while (work->steps[at].kind == AL_REPLAY_FIXUP)
        at--;
    return al_replay_conflict(work->memory, &work->replayed, work->steps[at].commit,
                              melds ? "does not have the lines that the change is about"
                                    : "cannot be replayed on the change",
                              "Choose a later commit, or make one on top.", err);
}

/* The tree that the change of a commit is on. */
static int tree_before(struct al_inmemory *memory, const struct al_commit_read *commit,
                       char **ret_tree, struct al_error *err)
{
    const struct al_strv *parents = &commit->parents;

    return al_inmemory_tree(memory, parents->count ? parents->items[0] : NULL, ret_tree, err);
}

/* Fail if a commit that something went into has no change any more. */
static int check_emptied(const struct al_replay_work *work, const char *into, struct al_error *err)
{
    const struct al_commit_read *now =
        al_inmemory_known(work->memory, work->replayed.commits.items[step_of(work, into)]);
    al_auto(al_freep) char *before = NULL;
    int r = now ? tree_before(work->memory, now, &before, err) : 0;

    if (r < 0 || (now && strcmp(before, now->tree) != 0))
        return r;
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION,
                     "The change takes back all of %.8s, which would be empty; nothing was done",
                     into),
        err, "git_rebase with a plan drops a commit, with do: \"drop\".");
}

/* Take what came of the replay. */
static int take_replayed(const struct al_series *series, const struct al_replay_work *work,
                         const char *tree, struct al_series_made *made, struct al_error *err)
{
    const struct al_replayed *replayed = &work->replayed;
    al_auto(al_freep) char *now = NULL;
    int r = al_inmemory_tree(work->memory, replayed->tip, &now, err);

    if (r == 0 && strcmp(now, tree) != 0)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "Replayed on the change, the later commits would change files on disk; "
                         "nothing was done");
    for (size_t k = 0; r == 0 && k < series->count; k++) {
        const char *into = series->items[k].into;
        const size_t step = step_of(work, into ? into : made->commits.items[k]);

        if (into && series->items[k].changes)
            r = check_emptied(work, into, err);
        else if (!into && !*replayed->commits.items[step])
            r = has_nothing(series, k, err);
        free(made->commits.items[k]);
        made->commits.items[k] = al_strdup(replayed->commits.items[step]);
    }
    free(made->tip);
    made->tip = al_strdup(replayed->tip);
    return r;
}

static int replay_chain(const struct al_repo *repo, const struct al_series *series,
                        const char *onto, const struct al_strv *commits, const char *tree,
                        struct al_series_made *made, struct al_error *err)
{
    struct al_replay_work *work = al_replay_work_new();
    int r;

    work->kind = AL_WORK_REBASE;
    work->memory = made->memory;
    work->onto = onto ? al_strdup(onto) : NULL;
    work->is_root = !onto;
    add_steps(series, made, commits, work);
    r = al_replay_work_try(repo, work, err);
    if (r == 0 && work->replayed.stopped)
        r = stopped(work, err);
    if (r == 0)
        r = take_replayed(series, work, tree, made, err);
    made->replayed = commits->count;
    for (size_t i = 0; r == 0 && i < work->nsteps; i++)
        made->dropped +=
            work->steps[i].kind != AL_REPLAY_FIXUP && !*work->replayed.commits.items[i];
    work->memory = NULL; /* it is `made`'s */
    al_replay_work_free(work);
    return r;
}

int al_series_make(const struct al_repo *repo, const struct al_series *series,
                   struct al_series_made *made, struct al_error *err)
{
    al_auto(al_rebase_list_clear) struct al_rebase_list list = AL_REBASE_LIST_INIT;
    al_auto(al_freep) char *onto = NULL;
    al_auto(al_strv_clear) struct al_strv targets = AL_STRV_INIT;
    al_auto(al_freep) char *tree = NULL;
    int r = al_inmemory_open(repo, &made->memory, err);

    for (size_t i = 0; i < series->count; i++)
        if (series->items[i].into)
            al_strv_add(&targets, series->items[i].into);
    if (r == 0 && targets.count)
        r = find_base(repo, &targets, &onto, &list, err);
    if (r == 0)
        r = make_chain(series, made, &tree, err);
    return r < 0 || !targets.count ? r
                                   : replay_chain(repo, series, onto, &list.all, tree, made, err);
}

/* --- Do --- */

/* The entry of the reflog, as git words it. */
static char *reflog_of(const struct al_series *series)
{
    const struct al_series_item *last = &series->items[series->count - 1];

    for (size_t i = 0; i < series->count; i++)
        if (series->items[i].into)
            return al_asprintf("commit (into %.8s)", series->items[i].into);
    return al_asprintf("commit%s: %.*s", *series->head ? "" : " (initial)",
                       (int)strcspn(last->message, "\n"), last->message);
}

static int move_branch(struct al_repo *repo, const struct al_series *series, const char *tip,
                       const char *reflog, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command attach = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    int r;

    if (series->branch)
        al_str_addf(&input, "create %s %s\n", series->branch, tip);
    else if (*series->head)
        al_str_addf(&input, "update HEAD %s %s\n", tip, series->head);
    else
        al_str_addf(&input, "create HEAD %s\n", tip);
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "update-ref", "--create-reflog", "-m", reflog, "--stdin",
                 NULL);
    r = al_git_write(&repo->at, &command, 0, err);
    if (r < 0 || !series->branch)
        return r;
    al_strv_adds(&attach.argv, "git", "symbolic-ref", "-m", reflog, "HEAD", series->branch, NULL);
    return al_git_write(&repo->at, &attach, 0, err);
}

/* The index that is left may have what no commit has: a staged hunk beside a chosen one. */
static int accept_index(struct al_series_made *made, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_freep) char *tree = NULL;
    al_auto(al_freep) char *oid = NULL;
    int r = al_inmemory_index_tree(made->memory, made->indexes.after, &tree, err);

    al_strv_add(&parents, made->tip);
    if (r == 0)
        r = al_inmemory_commit(
            made->memory,
            &(struct al_new_commit){ .tree = tree, .parents = &parents, .message = "index\n" },
            &oid, err);
    return r < 0 ? r : al_inmemory_accept(made->memory, oid, err);
}

int al_series_do(struct al_repo *repo, const struct al_series *series, struct al_series_made *made,
                 struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *reflog = reflog_of(series);
    int r;

    if (strcmp(head, series->head) != 0)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                                 "The branch moved while this was prepared; nothing was done");
    r = al_inmemory_accept(made->memory, made->tip, err);
    if (r == 0 && made->indexes.after)
        r = accept_index(made, err);
    return r < 0 ? r : move_branch(repo, series, made->tip, reflog, err);
}

/* --- Split --- */

/* Choose the hunks of one part.  Paths are what is left of their files. */
static int choose_part(const struct al_repo *view, const struct al_hunk_query *all,
                       const struct al_commit_part *part, size_t i, struct al_hunk_choice *choice,
                       struct al_error *err)
{
    al_auto(al_hunk_choice_clear) struct al_hunk_choice named = { .list = NULL };
    al_auto(al_hunk_list_clear) struct al_hunk_list files = AL_HUNK_LIST_INIT;
    struct al_hunk_query query = *all;
    const size_t before = choice->count;
    int r = part->hunks ? al_hunks_choose(choice->list, part->hunks, &named, err) : 0;

    for (size_t k = 0; r == 0 && part->hunks && k < choice->list->count; k++) {
        if (named.chosen[k] && choice->chosen[k])
            return al_error_set(err, AL_ERR_BAD_ARGS, "hunk %s is in two parts",
                                choice->list->items[k].id);
        choice->count += named.chosen[k];
        choice->chosen[k] |= named.chosen[k];
    }
    query.paths = part->paths;
    if (r == 0 && part->paths)
        r = al_git_read_hunks(view, &query, &files, err);
    for (size_t k = 0; r == 0 && k < files.count; k++) {
        const struct al_hunk_item *item = al_hunk_find(choice->list, files.items[k].id);

        if (!item || choice->chosen[item - choice->list->items])
            continue;
        choice->chosen[item - choice->list->items] = true;
        choice->count++;
    }
    if (r == 0 && choice->count == before)
        r = al_error_set(err, AL_ERR_BAD_ARGS, "into[%zu] has no hunk of the commit", i);
    return r;
}

/* The tree of the chosen hunks on what was before. */
static int apply_part(struct al_inmemory *memory, struct al_repo *view, const char *before,
                      const struct al_hunk_choice *choice, char **ret_tree, struct al_error *err)
{
    al_auto(al_scratch_index_removep) char *index = NULL;
    int r = al_scratch_index_make(view, NULL, &index, err);

    if (r == 0)
        r = al_index_read_tree(view, index, (const char *const[]){ before, NULL }, err);
    if (r == 0)
        r = al_git_apply_hunks(view, choice, AL_HUNKS_STAGE, index, err);
    return r < 0 ? r : al_inmemory_index_tree(memory, index, ret_tree, err);
}

/* Write a commit of the chain on the one before. */
static int add_part(struct al_inmemory *memory, const struct al_commit_read *of, const char *tree,
                    const char *message, struct al_strv *chain, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *oid = NULL;
    int r;

    al_message_strip_space(message, &text);
    if (chain->count || of->parents.count)
        al_strv_add(&parents, chain->count ? chain->items[chain->count - 1] : of->parents.items[0]);
    r = al_inmemory_commit(
        memory,
        &(struct al_new_commit){
            .tree = tree, .parents = &parents, .author = of->author, .message = text.buf },
        &oid, err);
    if (r == 0)
        al_strv_take(chain, oid);
    return r;
}

/* Write the commit of what is not chosen, which is none of the chain. */
static int add_rest(struct al_inmemory *memory, const struct al_commit_read *of,
                    struct al_hunk_choice *choice, struct al_strv *chain, char **ret_rest,
                    struct al_strv *ret_paths, struct al_error *err)
{
    int r;

    for (size_t k = 0; k < choice->list->count; k++)
        choice->chosen[k] = !choice->chosen[k];
    al_hunk_choice_paths(choice, ret_paths);
    r = add_part(memory, of, of->tree, "rest\n", chain, err);
    if (r == 0)
        *ret_rest = chain->items[--chain->count];
    return r;
}

/* A commit, and the tree that its change is on. */
static int read_commit(struct al_inmemory *memory, const char *commit,
                       const struct al_commit_read **ret_commit, char **ret_before,
                       struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    int r;

    al_strv_add(&oids, commit);
    r = al_inmemory_read(memory, &oids, err);
    *ret_commit = al_inmemory_known(memory, commit);
    return r < 0 ? r : tree_before(memory, *ret_commit, ret_before, err);
}

void al_split_clear(struct al_split *split)
{
    al_strv_clear(&split->commits);
    al_strv_clear(&split->paths);
    free(al_take(&split->rest));
}

int al_series_split(struct al_inmemory *memory, const char *commit,
                    const struct al_series_item *items, size_t count, struct al_split *ret_split,
                    struct al_error *err)
{
    struct al_repo view = *al_inmemory_repo(memory);
    const struct al_commit_read *read = NULL;
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_choice_clear) struct al_hunk_choice choice = { .list = &list };
    al_auto(al_freep) char *before = NULL;
    struct al_hunk_query query = { .side = AL_HUNKS_COMMITTED, .to = commit, .binary = true };
    int r = read_commit(memory, commit, &read, &before, err);

    query.from = before;
    if (r == 0)
        r = al_git_read_hunks(&view, &query, &list, err);
    if (r < 0)
        return r;
    choice.chosen = al_calloc(list.count + 1, sizeof(bool));
    for (size_t i = 0; r == 0 && i < count; i++) {
        al_auto(al_freep) char *tree = NULL;

        r = choose_part(&view, &query, &items[i].part, i, &choice, err);
        if (r == 0)
            r = apply_part(memory, &view, before, &choice, &tree, err);
        if (r == 0)
            r = add_part(memory, read, tree, items[i].message, &ret_split->commits, err);
    }
    return r < 0 || choice.count == list.count
               ? r
               : add_rest(memory, read, &choice, &ret_split->commits, &ret_split->rest,
                          &ret_split->paths, err);
}

/* --- Autosquash --- */

/*
 * The order of commits whose subjects begin with "fixup! ", "squash! " and "amend! ".
 *
 * Source: git-rebase(1), "--autosquash".
 */

/* One commit of the list. */
struct entry {
    const char *oid;
    char *subject;
    const char *message;
    enum al_replay_kind kind;
    size_t head; /* the entry at whose commit its chain begins; its own number: it is not moved */
};

/* Read a prefix and skip it, several of them too.  False when there is none. */
static bool skip_prefix(const char **subject, enum al_replay_kind *ret_kind, bool *ret_amends)
{
    static const struct {
        const char *word;
        enum al_replay_kind kind;
        bool amends;
    } prefixes[] = { { "fixup!", AL_REPLAY_FIXUP, false },
                     { "squash!", AL_REPLAY_SQUASH, false },
                     { "amend!", AL_REPLAY_SQUASH, true } };

    for (size_t i = 0; i < AL_COUNT(prefixes); i++) {
        if (!al_starts_with(*subject, prefixes[i].word))
            continue;
        *subject += strlen(prefixes[i].word);
        *subject += strspn(*subject, " \t");
        *ret_kind = prefixes[i].kind;
        *ret_amends = prefixes[i].amends;
        return true;
    }
    return false;
}

/* The entry before `i` that a subject means: by its subject, else by an id, else by the beginning
 * of its subject.  `i` itself when there is none. */
static size_t find_target(const struct entry *entries, size_t i, const char *subject)
{
    size_t len = strlen(subject);

    for (size_t k = 0; k < i; k++)
        if (!strcmp(entries[k].subject, subject))
            return k;
    for (size_t k = 0; len >= 4 && !strchr(subject, ' ') && al_is_oid(subject, len) && k < i; k++)
        if (!strncmp(entries[k].oid, subject, len))
            return k;
    for (size_t k = 0; k < i; k++)
        if (!strncmp(entries[k].subject, subject, len))
            return k;
    return i;
}

/* The message that an amend! commit gives: its own without the first paragraph. */
static const char *amended_message(const char *message)
{
    const char *rest = strstr(message, "\n\n");

    return rest ? rest + 2 : message;
}

/* Find what an entry is melded into, and how. */
static size_t place(struct entry *entries, size_t i)
{
    const char *subject = entries[i].subject;
    enum al_replay_kind kind = AL_REPLAY_PICK, inner;
    bool amends = false, ignored;
    size_t target;

    if (!skip_prefix(&subject, &kind, &amends))
        return i;
    while (skip_prefix(&subject, &inner, &ignored))
        continue;
    target = find_target(entries, i, subject);
    if (target == i)
        return i;
    entries[i].kind = kind;
    entries[i].message = amends ? amended_message(entries[i].message) : NULL;
    return target;
}

int al_replay_autosquash(const struct al_repo *repo, const struct al_strv *list,
                         struct al_replay_work *work, struct al_error *err)
{
    al_auto(al_freep) struct entry *entries = al_calloc(list->count + 1, sizeof(*entries));
    int r = al_inmemory_open(repo, &work->memory, err);

    if (r == 0)
        r = al_inmemory_read(work->memory, list, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list->count; i++) {
        const char *message = al_inmemory_known(work->memory, list->items[i])->message;
        size_t target;

        entries[i] = (struct entry){ .oid = list->items[i],
                                     .subject = al_message_subject(message),
                                     .message = message,
                                     .kind = AL_REPLAY_PICK,
                                     .head = i };
        target = place(entries, i);
        entries[i].head = entries[target].head;
    }
    for (size_t head = 0; head < list->count; head++)
        for (size_t i = head; i < list->count && entries[head].head == head; i++)
            if (entries[i].head == head)
                al_replay_work_add(work, entries[i].kind, entries[i].oid,
                                   entries[i].kind == AL_REPLAY_SQUASH ? entries[i].message : NULL,
                                   0);
    work->autosquashes = true;
    for (size_t i = 0; i < list->count; i++)
        free(entries[i].subject);
    return 0;
}
