// SPDX-License-Identifier: Apache-2.0
#include "verbs/replay/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/str.h"
#include "git/command.h"
#include "git/git_lock.h"
#include "git/location.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/nofollow.h"
#include "verbs/porcelain/resume.h"
#include "verbs/replay/along.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"
#include "verbs/sequencer/overwrite.h"

/* --- Work --- */

/* --- Commit list --- */

/* More commits than this are refused. */
#define COMMIT_LIST_MAX 10000

/** The bytes of one line of rev-list, with a parent. */
#define LINE_BYTES 160

void al_rebase_list_clear(struct al_rebase_list *list)
{
    al_strv_clear(&list->commits);
    al_strv_clear(&list->all);
    al_strv_clear(&list->merges);
}

/* Run a command that prints ids, one a line, perhaps with a mark in front, and those of parents
 * behind. */
static int read_ids(const struct al_repo *repo, struct al_git_command *command, struct al_strv *out,
                    struct al_error *err)
{
    al_auto(al_buffer_clear) struct al_buffer ids =
        AL_BUFFER_INIT((size_t)COMMIT_LIST_MAX * LINE_BYTES);
    int r = al_git_read(&repo->at, command, al_buffer_sink(&ids), err);

    if (r == 0 && ids.total > ids.max_bytes)
        r = al_error_set(err, AL_ERR_EXECUTION, "These are more than %d commits", COMMIT_LIST_MAX);
    al_strv_split(out, r == 0 ? ids.text.buf : NULL, "\n");
    return r;
}

static void begin_list(struct al_git_command *command)
{
    al_strv_adds(&command->argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", NULL);
}

int al_commit_list_add(const struct al_repo *repo, const char *word, bool newest_first,
                       struct al_strv *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *oid = NULL;
    int r;

    if (!strstr(word, "..")) {
        r = al_git_resolve_commit(repo, word, &oid, err);
        if (r == 0)
            al_strv_take(out, al_take(&oid));
        return r;
    }
    begin_list(&command);
    al_strv_add(&command.argv, "--topo-order");
    if (!newest_first)
        al_strv_add(&command.argv, "--reverse");
    al_strv_adds(&command.argv, "--end-of-options", word, "--", NULL);
    return read_ids(repo, &command, out, err);
}

/* Append the full ids of commits whose ids may be abbreviated.  One git child. */
static int commit_list_full(const struct al_repo *repo, const struct al_strv *words,
                            struct al_strv *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    for (size_t i = 0; i < words->count; i++)
        al_str_addf(&input, "%s\n", words->items[i]);
    al_git_command_feed(&command, &input);
    begin_list(&command);
    al_strv_adds(&command.argv, "--no-walk=unsorted", "--stdin", NULL);
    return read_ids(repo, &command, out, err);
}

int al_commit_list_rebase(const struct al_repo *repo, const char *onto, const char *tip,
                          struct al_rebase_list *ret_list, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv marked = AL_STRV_INIT;
    al_auto(al_freep) char *range = onto ? al_asprintf("%s...%s", onto, tip) : al_strdup(tip);
    int r;

    begin_list(&command);
    al_strv_adds(&command.argv, "--reverse", "--topo-order", "--parents", NULL);
    if (onto)
        al_strv_adds(&command.argv, "--right-only", "--cherry-mark", NULL);
    al_strv_adds(&command.argv, range, "--", NULL);
    r = read_ids(repo, &command, &marked, err);
    for (size_t i = 0; r == 0 && i < marked.count; i++) {
        const char *line = marked.items[i], *parents = strchrnul(line, ' ');
        const char *begin = line + strcspn(line, "0123456789abcdef");
        al_auto(al_freep) char *oid = al_strndup(begin, (size_t)(parents - begin));
        const bool is_merge = *parents && strchr(parents + 1, ' ');

        al_strv_add(is_merge ? &ret_list->merges : &ret_list->all, oid);
        if (!is_merge && *line != '=')
            al_strv_add(&ret_list->commits, oid);
    }
    return r;
}

int al_commit_list_base(const struct al_repo *repo, const struct al_strv *oids, char **ret_oldest,
                        char **ret_onto, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *shallow = al_shallow_commits(&repo->at);
    al_auto(al_freep) char *parent = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "merge-base", "--octopus", NULL);
    al_strv_add_all(&command.argv, oids);
    r = al_git_run_word(repo, &command, ret_oldest, err);
    if (r < 0 || !*ret_oldest)
        return r;
    if (shallow && strstr(shallow, *ret_oldest))
        return al_error_remedy(
            al_error_set(err, AL_ERR_EXECUTION,
                         "%.8s is where the history of this shallow clone begins", *ret_oldest),
            err,
            "Take the commits above it; a user can fetch the rest of the history with git fetch "
            "--unshallow.");
    parent = al_asprintf("%s^", *ret_oldest);
    return al_git_find_object(repo, parent, "commit", ret_onto, err);
}

/* --- Advance --- */

static int move_files(struct al_repo *repo, const struct al_advance *advance, struct al_error *err)
{
    return al_index_read_tree(
        repo, NULL, (const char *const[]){ "-m", "-u", advance->from, advance->to, NULL }, err);
}

/* The old value makes sure that HEAD has not moved meanwhile. */
static int move_head(struct al_repo *repo, const struct al_advance *advance, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    const char *to = advance->left ? advance->left : advance->to;

    if (advance->sets_orig_head)
        al_str_addf(&input, "update ORIG_HEAD %s\n", advance->from);
    for (size_t i = 0; advance->along && i < advance->along->nfollowers; i++) {
        const struct al_follower *follower = &advance->along->followers[i];

        al_str_addf(&input, "update %s %s %s\n", follower->ref,
                    al_follower_to(advance->along, follower), follower->from);
    }
    if (advance->detaches)
        al_str_adds(&input, "option no-deref\n");
    al_str_addf(&input, "update HEAD %s %s\n", to, advance->from);
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "update-ref", "-m", advance->reflog, "--stdin", NULL);
    return al_git_write(&repo->at, &command, AL_LOCK_INDEX, err);
}

/* The same, when filters and files in the way were looked for.  git looks at all files before it
 * writes one. */
static int advance_checked(struct al_repo *repo, const struct al_advance *advance,
                           struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = move_files(repo, advance, &why);

    if (why.code == AL_CODE_DIRTY_WORKDIR) { /* it may look so by its times alone */
        al_error_clear(&why);
        r = al_git_refresh_index(&repo->at, &why);
        if (r == 0)
            r = move_files(repo, advance, &why);
    }
    r = why.code == AL_CODE_DIRTY_WORKDIR
            ? al_uncommitted_bring(repo, advance->from, advance->to, err)
            : al_error_pass(r, &why, err);
    if (r == 0 && advance->left)
        r = al_index_read_tree(repo, NULL, (const char *const[]){ "-m", advance->left, NULL }, err);
    return r < 0 || advance->keeps_head ? r : move_head(repo, advance, err);
}

int al_git_advance(struct al_repo *repo, const struct al_advance *advance, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;
    int r;

    al_strv_add(&sides, advance->to);
    r = al_git_check_merge_programs(repo, advance->from, &sides, err);
    if (r == 0)
        r = al_overwrite_check(repo, advance->from, advance->to, err);
    return r < 0 ? r : advance_checked(repo, advance, err);
}

/* --- Begin rebase --- */

/*
 * Begin a rebase as git does after the todo list was edited, and let git run it.
 *
 * No editor runs: the directory rebase-merge is written here, with the todo list in it, and `git
 * rebase --continue` goes on from its first line.  A new message is put into a commit that is
 * picked in place of the original.
 *
 * Source: git-rebase(1), "INTERACTIVE MODE"; sequencer.c of git for the files.
 */

/* A commit and what is melded into it. */
struct chain {
    size_t first, end; /* steps */
    size_t spoken;     /* the last step with a message of its own, which the commit has from the
                          beginning; `first` when there is none */
};

static struct chain find_chain(const struct al_replay_work *work, size_t first)
{
    struct chain chain = { .first = first, .end = first + 1, .spoken = first };

    for (; chain.end < work->nsteps && al_replay_melds(&work->steps[chain.end]); chain.end++)
        if (work->steps[chain.end].message)
            chain.spoken = chain.end;
    return chain;
}

/* Bring a commit into the repository that has the tree and the author of another one. */
static int make_alike(struct al_replay_work *work, const char *commit,
                      const struct al_strv *parents, const char *message, char **ret_oid,
                      struct al_error *err)
{
    const struct al_commit_read *read = al_inmemory_known(work->memory, commit);
    int r = al_inmemory_commit(
        work->memory,
        &(struct al_new_commit){
            .tree = read->tree, .parents = parents, .author = read->author, .message = message },
        ret_oid, err);

    return r < 0 ? r : al_inmemory_accept(work->memory, *ret_oid, err);
}

static void add_subject(const struct al_replay_work *work, const char *commit, struct al_str *todo)
{
    al_auto(al_freep) char *subject =
        al_message_subject(al_inmemory_known(work->memory, commit)->message);

    al_str_addf(todo, " %s # %s\n", commit, subject);
}

/* Add the todo line of a step.  A new message means that the same commit with it is picked.
 * Commits dropped in memory are dropped by git too. */
static int add_line(struct al_replay_work *work, size_t i, const char *message, const char *melding,
                    struct al_str *todo, struct al_error *err)
{
    const struct al_replay_step *step = &work->steps[i];
    const struct al_commit_read *read = al_inmemory_known(work->memory, step->commit);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *reworded = NULL;
    int r = 0;

    al_message_strip_space(message ? message : "", &text);
    if (message)
        r = make_alike(work, step->commit, &read->parents, text.buf, &reworded, err);
    if (r < 0)
        return r;
    al_str_adds(todo, al_replay_melds(step) ? melding : "pick");
    add_subject(work, reworded ? reworded : step->commit, todo);
    return 0;
}

/* Whether the messages of chains are all set by a step of their own: a git that goes on with
 * another comment character than "#" takes other lines for comments, and those that mark what was
 * joined here for text. */
static int find_always_kept(const struct al_repo *repo, bool *ret_kept, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *word = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "config", "--default=#", "--get", "core.commentChar", NULL);
    r = al_git_run_word(repo, &command, &word, err);
    *ret_kept = r == 0 && word && strcmp(word, "#") != 0;
    return r;
}

/* The message that a chain ends with, if git would not keep it as it is: else `out` stays empty.
 * It is known without a message of the user's only if nothing can become of the first commit any
 * more. */
static void find_kept_message(const struct al_replay_work *work, const struct chain *chain,
                              bool always, struct al_str *out)
{
    const struct al_strv *done = &work->replayed.commits;
    const struct al_replay_step *spoken = &work->steps[chain->spoken];
    const bool is_known = chain->first < done->count && *done->items[chain->first];

    if (chain->end - chain->first == 1 || !(spoken->message || is_known))
        return;
    if (spoken->message)
        al_message_strip_space(spoken->message, out);
    else
        al_str_adds(out, al_inmemory_known(work->memory, spoken->commit)->message);
    for (size_t i = chain->spoken + 1; i < chain->end; i++) {
        const struct al_replay_step *step = &work->steps[i];
        al_auto(al_str_clear) struct al_str both = AL_STR_INIT;

        if (step->kind != AL_REPLAY_SQUASH)
            continue;
        al_message_squash(out->buf, al_inmemory_known(work->memory, step->commit)->message, &both);
        al_str_reset(out);
        al_str_adds(out, both.buf);
    }
    /* git takes such a line for a comment when it goes on after a conflict in a chain */
    if (!always && *out->buf != '#' && !strstr(out->buf, "\n#"))
        al_str_reset(out);
}

/* Add a step that changes the message alone: git takes it over to the byte. */
static int add_message_line(struct al_replay_work *work, const char *commit, const char *message,
                            struct al_str *todo, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_freep) char *made = NULL;
    int r;

    al_strv_add(&parents, commit);
    r = make_alike(work, commit, &parents, message, &made, err);
    if (r < 0)
        return r;
    al_str_adds(todo, "fixup -C");
    add_subject(work, made, todo);
    return 0;
}

/* Add the lines that move branches to what so many steps have made. */
static void add_followers(const struct al_replay_work *work, size_t steps, struct al_str *todo)
{
    for (size_t i = 0; i < work->nfollowers; i++)
        if (work->followers[i].after == steps)
            al_str_addf(todo, "update-ref %s\n", work->followers[i].ref);
}

static int add_chain(struct al_replay_work *work, const struct chain *chain, bool always_kept,
                     struct al_str *todo, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str kept = AL_STR_INIT;
    int r = 0;

    find_kept_message(work, chain, always_kept, &kept);
    for (size_t i = chain->first; r == 0 && i < chain->end; i++) {
        const bool is_fixup =
            kept.len || work->steps[i].kind == AL_REPLAY_FIXUP || i <= chain->spoken;

        r = add_line(work, i, i == chain->first ? work->steps[chain->spoken].message : NULL,
                     is_fixup ? "fixup" : "squash", todo, err);
        if (i + 1 < chain->end)
            add_followers(work, i + 1, todo);
    }
    if (r == 0 && kept.len)
        r = add_message_line(work, work->steps[chain->first].commit, kept.buf, todo, err);
    add_followers(work, chain->end, todo);
    return r;
}

static int make_todo(struct al_repo *repo, struct al_replay_work *work, struct al_str *todo,
                     struct al_error *err)
{
    bool always_kept = false;
    int r = find_always_kept(repo, &always_kept, err);

    add_followers(work, 0, todo);
    for (size_t first = 0; r == 0 && first < work->nsteps;) {
        const struct chain chain = find_chain(work, first);

        r = add_chain(work, &chain, always_kept, todo, err);
        first = chain.end;
    }
    return r;
}

static int write_state_file(int dir, const char *name, const char *text, struct al_error *err)
{
    int r = al_fs_write_atomic(dir, name, text, strlen(text), 0666, false);

    return r < 0 ? al_error_errno(err, -r, "cannot write the state of the rebase") : 0;
}

/* git's own notes: a branch, where it is, and where it goes, which is not known. */
static void note_followers(const struct al_replay_work *work, struct al_str *out)
{
    for (size_t i = 0; i < work->nfollowers; i++)
        al_str_addf(out, "%s\n%s\n%0*d\n", work->followers[i].ref, work->followers[i].from,
                    (int)strlen(work->followers[i].from), 0);
}

static int write_state(struct al_repo *repo, const struct al_replay_work *work, const char *branch,
                       const char *todo, struct al_error *err)
{
    al_auto(al_freep) char *onto = al_asprintf("%s\n", work->onto);
    al_auto(al_freep) char *head = al_asprintf("%s\n", work->head);
    al_auto(al_freep) char *name = al_asprintf("%s\n", branch ? branch : "detached HEAD");
    al_auto(al_str_clear) struct al_str followers = AL_STR_INIT;
    const char *const files[][2] = {
        { "head-name", name },
        { "onto", onto },
        { "orig-head", head },
        { "interactive", "" },
        { "drop_redundant_commits", "" },
        { "no-reschedule-failed-exec", "" },
        { work->is_root ? "squash-onto" : NULL, work->onto },
        { "git-rebase-todo", todo },
        { "git-rebase-todo.backup", todo },
    };
    al_auto(al_closep) int git_dir = -1;
    al_auto(al_closep) int dir = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    if (mkdirat(git_dir, "rebase-merge", 0777) < 0)
        return al_error_errno(err, errno, "cannot write the state of the rebase");
    dir = al_nofollow_open(git_dir, "rebase-merge", O_RDONLY | O_DIRECTORY);
    if (dir < 0)
        return al_error_errno(err, -dir, "cannot write the state of the rebase");
    for (size_t i = 0; r == 0 && i < AL_COUNT(files); i++)
        if (files[i][0])
            r = write_state_file(dir, files[i][0], files[i][1], err);
    note_followers(work, &followers);
    return r == 0 && followers.len ? write_state_file(dir, "update-refs", followers.buf, err) : r;
}

static int begin(struct al_repo *repo, struct al_replay_work *work, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str todo = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_freep) char *reflog =
        al_asprintf("rebase (start): checkout %s", work->onto_name ? work->onto_name : work->onto);
    int r = make_todo(repo, work, &todo, err);

    if (r < 0)
        return r;
    al_ref_follow_head(&repo->at, &refs);
    r = advance_checked(repo,
                        &(struct al_advance){ .from = work->head,
                                              .to = work->onto,
                                              .reflog = reflog,
                                              .detaches = true,
                                              .sets_orig_head = true },
                        err);
    return r < 0 ? r : write_state(repo, work, refs.count ? refs.items[0] : NULL, todo.buf, err);
}

static int run(struct al_repo *repo, size_t max_bytes, struct al_merge_outcome *outcome,
               struct al_error *err)
{
    /* A todo list that git parses again is not changed by settings of the repository. */
    static const char *const settings[] = {
        "rebase.abbreviatecommands", "false", "rerere.enabled",   "false",
        "core.commentchar",          "#",     "notes.rewriteref", "",
    };
    al_auto(al_strv_clear) struct al_strv config = AL_STRV_INIT;
    const struct al_git_link link = { .protocol = "none", .config = &config };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    for (size_t i = 0; i < AL_COUNT(settings); i++)
        al_strv_add(&config, settings[i]);
    command.link = &link;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git rebase runs git commit */
    al_strv_adds(&command.argv, "git", "rebase", "--continue", NULL);
    r = al_merge_run(repo, &command, max_bytes, outcome, err);
    if (r == 0)
        outcome->in_progress = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    return r;
}

/* Begin the rebase as git does, for work that stops, and let git run into the conflict. */
static int replay_begin_rebase(struct al_repo *repo, struct al_replay_work *work, size_t max_bytes,
                               struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;
    int r = 0;

    al_strv_adds(&sides, work->onto, "HEAD", NULL);
    if (work->is_root)
        r = al_inmemory_accept(work->memory, work->onto, err);
    if (r == 0)
        r = al_git_check_merge_programs(repo, "HEAD", &sides, err);
    if (r == 0)
        r = begin(repo, work, err);
    return r < 0 ? r : run(repo, max_bytes, outcome, err);
}

/* --- Work --- */

struct al_replay_work *al_replay_work_new(void)
{
    struct al_replay_work *work = al_calloc(1, sizeof(*work));

    work->replayed = AL_REPLAYED_INIT;
    return work;
}

static void follower_clear(struct al_follower *follower)
{
    free(follower->ref);
    free(follower->from);
}

void al_replay_work_free(struct al_replay_work *work)
{
    if (!work)
        return;
    for (size_t i = 0; i < work->nsteps; i++) {
        free(work->steps[i].commit);
        free(work->steps[i].message);
        free(work->steps[i].part_of);
    }
    for (size_t i = 0; i < work->nfollowers; i++)
        follower_clear(&work->followers[i]);
    free(work->followers);
    free(work->steps);
    free(work->onto);
    free(work->onto_name);
    free(work->head);
    free(work->files);
    al_replayed_clear(&work->replayed);
    al_inmemory_free(work->memory);
    free(work);
}

void al_replay_work_add(struct al_replay_work *work, enum al_replay_kind kind, const char *commit,
                        const char *message, unsigned mainline)
{
    work->steps = al_reallocarray(work->steps, work->nsteps + 1, sizeof(*work->steps));
    work->steps[work->nsteps++] = (struct al_replay_step){
        .kind = kind,
        .commit = al_strdup(commit),
        .message = message ? al_strdup(message) : NULL,
        .mainline = mainline,
    };
}

static int replay(struct al_replay_work *work, struct al_error *err)
{
    const struct al_replay replay = {
        .onto = work->onto,
        .is_root = work->is_root,
        .steps = work->steps,
        .nsteps = work->nsteps,
        .fast_forwards = work->kind == AL_WORK_REBASE,
    };

    al_replayed_clear(&work->replayed);
    return al_inmemory_replay(work->memory, &replay, &work->replayed, err);
}

/* The branch ends before the steps that are left uncommitted. */
static void leave_rests(struct al_replay_work *work)
{
    const struct al_strv *done = &work->replayed.commits;
    size_t last = work->nsteps - work->rests;

    while (last && !*done->items[last - 1])
        last--;
    free(work->files);
    work->files = work->replayed.tip;
    work->replayed.tip = al_strdup(last ? done->items[last - 1] : work->onto);
}

/* Leave those that will move.  Nothing is left of a history that begins anew before its first
 * commit. */
static void leave_followers(struct al_replay_work *work)
{
    size_t kept = 0;

    for (size_t i = 0; i < work->nfollowers; i++) {
        struct al_follower *follower = &work->followers[i];
        const char *to = al_follower_to(work, follower);

        if ((to && !strcmp(to, follower->from)) || (work->is_root && !follower->after))
            follower_clear(follower);
        else
            work->followers[kept++] = *follower;
    }
    work->nfollowers = kept;
}

int al_replay_work_try(const struct al_repo *repo, struct al_replay_work *work,
                       struct al_error *err)
{
    int r = 0;

    free(work->head);
    work->head = al_ref_head(&repo->at);
    if (!work->memory)
        r = al_inmemory_open(repo, &work->memory, err);
    if (r == 0 && work->is_root) {
        free(al_take(&work->onto)); /* git rebase --root too begins with an empty commit */
        r = al_inmemory_nothing(work->memory, &work->onto, err);
    }
    if (r == 0)
        r = replay(work, err);
    if (r == 0 && work->rests && !work->replayed.stopped)
        leave_rests(work);
    if (r == 0)
        leave_followers(work);
    return r;
}

int al_replay_work_rebase(const struct al_repo *repo, struct al_replay_work *work, const char *onto,
                          const char *onto_name, struct al_rebase_list *list, struct al_error *err)
{
    int r = al_commit_list_rebase(repo, onto, "HEAD", list, err);

    work->kind = AL_WORK_REBASE;
    work->onto = al_strdup(onto);
    work->onto_name = al_strdup(onto_name);
    for (size_t i = 0; r == 0 && i < list->commits.count; i++)
        al_replay_work_add(work, AL_REPLAY_PICK, list->commits.items[i], NULL, 0);
    return r < 0 ? r : al_replay_work_try(repo, work, err);
}

/* Fail if content would be written through a filter: of a path that differs from a picked commit,
 * or from what a reverted one is taken back to. */
static int check_programs(const struct al_repo *repo, const struct al_replay_work *work,
                          struct al_error *err)
{
    const bool reverts = work->kind == AL_WORK_REVERT;
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->nsteps; i++) {
        const struct al_replay_step *step = &work->steps[i];
        al_auto(al_freep) char *parent =
            al_asprintf("%s^%u", step->commit, step->mainline ? step->mainline : 1);
        al_auto(al_freep) char *oid = NULL;

        if (reverts)
            r = al_git_find_object(repo, parent, "commit", &oid, err);
        al_strv_add(&sides, !reverts ? step->commit : oid ? oid : al_git_empty_tree(repo));
    }
    return r < 0 ? r : al_git_check_merge_programs(repo, work->head, &sides, err);
}

/* git's own command from the beginning; what came to nothing is left out, as it was in memory. */
static int run_for_real(struct al_repo *repo, const struct al_replay_work *work, size_t max_bytes,
                        struct al_merge_outcome *outcome, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command quit = AL_GIT_COMMAND_INIT;
    const struct al_strv *done = &work->replayed.commits;
    const char *verb = work->kind == AL_WORK_REVERT ? "revert" : "cherry-pick";
    int r = check_programs(repo, work, err);

    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* it may run git commit */
    al_strv_adds(&command.argv, "git", verb, "--no-gpg-sign", "--no-rerere-autoupdate", "--no-edit",
                 NULL);
    if (work->no_commit)
        al_strv_add(&command.argv, "--no-commit");
    if (work->nsteps && work->steps[0].mainline)
        al_strv_addf(&command.argv, "--mainline=%u", work->steps[0].mainline);
    for (size_t i = 0; i < work->nsteps; i++)
        if (i >= done->count || *done->items[i])
            al_strv_add(&command.argv, work->steps[i].commit);
    r = al_merge_bring(repo,
                       &(struct al_merge_input){ .command = &command,
                                                 .oid = work->steps[work->nsteps - 1].commit,
                                                 .head = work->head },
                       max_bytes, outcome, err);
    if (r < 0 || !work->no_commit || !outcome->conflicted)
        return r;
    /* A commit that is only staged does not stay in progress: going on would commit it. */
    al_strv_adds(&quit.argv, "git", verb, "--quit", NULL);
    return al_git_write(&repo->at, &quit, 0, err);
}

/* The entry of the reflog, as git words it.  Caller frees. */
static char *reflog_of(const struct al_replay_work *work)
{
    al_auto(al_freep) char *subject = NULL;

    if (work->kind == AL_WORK_REBASE)
        return al_asprintf("rebase (finish): onto %s", work->onto);
    subject = al_message_subject(al_inmemory_known(work->memory, work->replayed.tip)->message);
    return al_asprintf("%s: %s", work->kind == AL_WORK_REVERT ? "revert" : "cherry-pick", subject);
}

/* A branch may be moved to what a commit was before another one was melded with it. */
static int accept_followers(const struct al_replay_work *work, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < work->nfollowers; i++) {
        const char *to = al_follower_to(work, &work->followers[i]);

        if (!al_strv_contains(&work->replayed.commits, to))
            r = al_inmemory_accept(work->memory, to, err);
    }
    return r;
}

static int finish(struct al_repo *repo, const struct al_replay_work *work, struct al_error *err)
{
    al_auto(al_freep) char *reflog = reflog_of(work);
    const char *files = work->files ? work->files : work->replayed.tip;
    int r = al_inmemory_accept(work->memory, files, err);

    if (r == 0)
        r = accept_followers(work, err);
    if (r < 0)
        return r;
    return al_git_advance(repo,
                          &(struct al_advance){ .from = work->head,
                                                .to = files,
                                                .left = work->files ? work->replayed.tip : NULL,
                                                .reflog = reflog,
                                                .keeps_head = work->no_commit,
                                                .along = work,
                                                .sets_orig_head = work->kind == AL_WORK_REBASE },
                          err);
}

/* git writes over ignored files without a word, and no checkpoint has them.  A replay that stops
 * writes what it begins at, what each commit has, by and by, and what the step that conflicts
 * leaves. */
static int check_no_overwrite(const struct al_replay_work *work, struct al_error *err)
{
    const struct al_repo *view = al_inmemory_repo(work->memory);
    const struct al_replayed *replayed = &work->replayed;
    const bool moves = work->kind == AL_WORK_REBASE && !work->is_root;
    int r = moves ? al_overwrite_check(view, work->head, work->onto, err) : 0;

    if (r == 0)
        r = al_overwrite_check_steps(view, work->onto, replayed->tip, err);
    return r < 0 || !replayed->conflict.tree
               ? r
               : al_overwrite_check(view, replayed->tip, replayed->conflict.tree, err);
}

int al_replay_work_do(struct al_repo *repo, struct al_replay_work *work, size_t max_bytes,
                      struct al_merge_outcome *ret_outcome, struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r;

    if (strcmp(head, work->head) != 0)
        return al_error_remedy(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                                 "The branch moved while this was prepared"),
                               err, "Nothing was done; call again.");
    if (!work->replayed.stopped && !strcmp(work->head, work->replayed.tip)) {
        ret_outcome->up_to_date = true;
        return 0;
    }
    r = al_replay_check_followers(repo, work, err);
    if (r < 0 || !work->replayed.stopped)
        return r < 0 ? r : finish(repo, work, err);
    r = check_no_overwrite(work, err);
    if (r == 0 && work->goes_along) /* git rebase wants no changes at all */
        r = al_uncommitted_set_aside(
            repo, al_inmemory_repo(work->memory), work->head,
            work->kind == AL_WORK_REBASE ? NULL : work->replayed.conflict.tree, err);
    if (r < 0)
        return r;
    if (work->kind == AL_WORK_REBASE)
        return replay_begin_rebase(repo, work, max_bytes, ret_outcome, err);
    return run_for_real(repo, work, max_bytes, ret_outcome, err);
}

/* --- Going on --- */

/* The commit that what is left is replayed onto: what is staged, as it will be committed; or HEAD.
 */
static int find_start(const struct al_repo *repo, struct al_inmemory *memory, bool skips,
                      char **ret_oid, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *tree = NULL;
    int r;

    if (skips) {
        *ret_oid = al_take(&head);
        return 0;
    }
    al_strv_add(&parents, head);
    r = al_inmemory_index_tree(memory, NULL, &tree, err);
    return r < 0
               ? r
               : al_inmemory_commit(memory,
                                    &(struct al_new_commit){
                                        .tree = tree, .parents = &parents, .message = "staged\n" },
                                    ret_oid, err);
}

int al_going_on_check(const struct al_repo *repo, bool skips, struct al_error *err)
{
    const enum al_operation_state state = al_git_operation_state(repo);
    const unsigned mainline = state == AL_IN_PROGRESS_REBASE ? 0 : al_todo_mainline(repo);
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT, commits = AL_STRV_INIT;
    struct al_replay_work *work;
    int r;

    al_todo_left(repo, &left);
    if (!left.count)
        return 0;
    work = al_replay_work_new();
    work->kind = AL_WORK_CHERRY_PICK;
    r = commit_list_full(repo, &left, &commits, err);
    for (size_t i = 0; i < commits.count; i++)
        al_replay_work_add(work, state == AL_IN_PROGRESS_REVERT ? AL_REPLAY_REVERT : AL_REPLAY_PICK,
                           commits.items[i], NULL, mainline);
    if (r == 0)
        r = al_inmemory_open(repo, &work->memory, err);
    if (r == 0)
        r = find_start(repo, work->memory, skips, &work->onto, err);
    if (r == 0)
        r = al_replay_work_try(repo, work, err);
    if (r == 0) /* what comes after the first conflict is looked at when git goes on from there */
        r = check_no_overwrite(work, err);
    al_replay_work_free(work);
    return r;
}
