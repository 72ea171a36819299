// SPDX-License-Identifier: Apache-2.0
/*
 * Begin a rebase as git does after the todo list was edited, and let git run it.
 *
 * No editor runs: the directory rebase-merge is written here, with the todo list in it, and `git
 * rebase --continue` goes on from its first line.  A new message is put into a commit that is
 * picked in place of the original.
 *
 * Source: git-rebase(1), "INTERACTIVE MODE"; sequencer.c of git for the files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gitops/command.h"
#include "gitops/location.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/replay/advance.h"
#include "gitops/replay/work.h"
#include "gitops/sequencer/merge_run.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/nofollow.h"
#include "util/fs.h"

static bool melds(enum al_replay_kind kind)
{
    return kind == AL_REPLAY_SQUASH || kind == AL_REPLAY_FIXUP;
}

/* A commit and what is melded into it. */
struct chain {
    size_t first, end; /* steps */
    size_t spoken;     /* the last step with a message of its own, which the commit has from the
                          beginning; `first` when there is none */
};

static struct chain find_chain(const struct al_replay_work *work, size_t first)
{
    struct chain chain = { .first = first, .end = first + 1, .spoken = first };

    for (; chain.end < work->nsteps && melds(work->steps[chain.end].kind); chain.end++)
        if (work->steps[chain.end].message)
            chain.spoken = chain.end;
    return chain;
}

/* The commit to pick for a step with another message: the same one with that message. */
static int reword(struct al_replay_work *work, const char *commit, const char *message,
                  struct al_run_limits *budget, char **ret_oid, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_commits_read_clear) struct al_commits_read commits = { .items = NULL };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_new_commit made = { .message = NULL };
    int r;

    al_message_strip_space(message, &text);
    made.message = text.buf;
    al_strv_add(&oids, commit);
    r = al_inmemory_read(work->memory, &oids, budget, &commits, err);
    if (r < 0)
        return r;
    made.tree = commits.items[0].tree;
    made.author = commits.items[0].author;
    made.parents = &commits.items[0].parents;
    r = al_inmemory_commit(work->memory, &made, budget, ret_oid, err);
    return r < 0 ? r : al_inmemory_accept(work->memory, *ret_oid, budget, err);
}

static int add_subject(const struct al_repo *repo, const char *commit, struct al_run_limits *budget,
                       struct al_str *todo, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_freep) char *subject = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "log", "-1", "--no-walk", "--format=%s", commit, "--", NULL);
    r = al_git_run_word(repo, &command, budget, &subject, err);
    if (r == 0)
        al_str_addf(todo, " %s # %s\n", commit, subject ? subject : "");
    return r;
}

/* Add the todo line of a step, with a message of its own or NULL.  What was dropped in memory is
 * dropped by git too. */
static int add_line(struct al_repo *repo, struct al_replay_work *work, size_t i,
                    const char *message, const char *melding, struct al_run_limits *budget,
                    struct al_str *todo, struct al_error *err)
{
    const struct al_work_step *step = &work->steps[i];
    al_auto(al_freep) char *reworded = NULL;
    int r = 0;

    if (message)
        r = reword(work, step->commit, message, budget, &reworded, err);
    if (r < 0)
        return r;
    al_str_adds(todo, melds(step->kind) ? melding : "pick");
    return add_subject(repo, reworded ? reworded : step->commit, budget, todo, err);
}

/* git takes a line that begins with "#" for a comment when it goes on after a conflict in a chain.
 */
static bool has_comments(const char *message)
{
    return *message == '#' || strstr(message, "\n#");
}

/* Whether the messages of chains are all set by a step of their own: a git that goes on with
 * another comment character than "#" takes other lines for comments, and those that mark what was
 * joined here for text. */
static int find_always_kept(const struct al_repo *repo, struct al_run_limits *budget,
                            bool *ret_kept, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *word = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "config", "--default=#", "--get", "core.commentChar", NULL);
    r = al_git_run_word(repo, &command, budget, &word, err);
    *ret_kept = r == 0 && word && strcmp(word, "#") != 0;
    return r;
}

/* The message that a chain ends with, if git would not keep it as it is: else `out` stays empty.
 * Without a message of the user's, it is known only if nothing can become of the first commit any
 * more. */
static int find_kept_message(struct al_replay_work *work, const struct chain *chain, bool always,
                             struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    const struct al_strv *done = &work->replayed.commits;
    const bool is_given = work->steps[chain->spoken].message;
    const bool is_known = chain->first < done->count && *done->items[chain->first];
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_commits_read_clear) struct al_commits_read commits = { .items = NULL };
    int r;

    if (chain->end - chain->first == 1 || !(is_given || is_known))
        return 0;
    for (size_t i = chain->spoken; i < chain->end; i++)
        al_strv_add(&oids, work->steps[i].commit);
    r = al_inmemory_read(work->memory, &oids, budget, &commits, err);
    if (r < 0)
        return r;
    if (is_given)
        al_message_strip_space(work->steps[chain->spoken].message, out);
    else
        al_str_adds(out, commits.items[0].message);
    for (size_t i = 1; i < commits.count; i++) {
        al_auto(al_str_clear) struct al_str both = AL_STR_INIT;

        if (work->steps[chain->spoken + i].kind == AL_REPLAY_SQUASH) {
            al_message_squash(out->buf, commits.items[i].message, &both);
            al_str_reset(out);
            al_str_adds(out, both.buf);
        }
    }
    if (!always && !has_comments(out->buf))
        al_str_reset(out);
    return 0;
}

/* Add a step that changes the message alone: git takes it over to the byte. */
static int add_message_line(struct al_repo *repo, struct al_replay_work *work, const char *commit,
                            const char *message, struct al_run_limits *budget, struct al_str *todo,
                            struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_commits_read_clear) struct al_commits_read commits = { .items = NULL };
    al_auto(al_freep) char *made = NULL;
    int r;

    al_strv_add(&oids, commit);
    r = al_inmemory_read(work->memory, &oids, budget, &commits, err);
    if (r == 0)
        r = al_inmemory_commit(work->memory,
                               &(struct al_new_commit){ .tree = commits.items[0].tree,
                                                        .parents = &oids,
                                                        .author = commits.items[0].author,
                                                        .message = message },
                               budget, &made, err);
    if (r == 0)
        r = al_inmemory_accept(work->memory, made, budget, err);
    if (r < 0)
        return r;
    al_str_adds(todo, "fixup -C");
    return add_subject(repo, made, budget, todo, err);
}

static int add_chain(struct al_repo *repo, struct al_replay_work *work, const struct chain *chain,
                     bool always_kept, struct al_run_limits *budget, struct al_str *todo,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str kept = AL_STR_INIT;
    int r = find_kept_message(work, chain, always_kept, budget, &kept, err);

    for (size_t i = chain->first; r == 0 && i < chain->end; i++) {
        const bool is_fixup =
            kept.len || work->steps[i].kind == AL_REPLAY_FIXUP || i <= chain->spoken;

        r = add_line(repo, work, i, i == chain->first ? work->steps[chain->spoken].message : NULL,
                     is_fixup ? "fixup" : "squash", budget, todo, err);
    }
    if (r == 0 && kept.len)
        r = add_message_line(repo, work, work->steps[chain->first].commit, kept.buf, budget, todo,
                             err);
    return r;
}

static int make_todo(struct al_repo *repo, struct al_replay_work *work,
                     struct al_run_limits *budget, struct al_str *todo, struct al_error *err)
{
    bool always_kept = false;
    int r = find_always_kept(repo, budget, &always_kept, err);

    for (size_t first = 0; r == 0 && first < work->nsteps;) {
        const struct chain chain = find_chain(work, first);

        r = add_chain(repo, work, &chain, always_kept, budget, todo, err);
        first = chain.end;
    }
    return r;
}

static int write_state_file(int dir, const char *name, const char *text, struct al_error *err)
{
    int r = al_fs_write_atomic(dir, name, text, strlen(text), 0666, false);

    return r < 0 ? al_error_errno(err, -r, "cannot write the state of the rebase") : 0;
}

static int write_state(struct al_repo *repo, const struct al_replay_work *work, const char *branch,
                       const char *todo, struct al_error *err)
{
    al_auto(al_freep) char *onto = al_asprintf("%s\n", work->onto);
    al_auto(al_freep) char *head = al_asprintf("%s\n", work->head);
    al_auto(al_freep) char *name = al_asprintf("%s\n", branch ? branch : "detached HEAD");
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
    return r;
}

static int begin(struct al_repo *repo, struct al_replay_work *work, struct al_run_limits *budget,
                 struct al_error *err)
{
    al_auto(al_str_clear) struct al_str todo = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_freep) char *reflog =
        al_asprintf("rebase (start): checkout %s", work->onto_name ? work->onto_name : work->onto);
    int r = make_todo(repo, work, budget, &todo, err);

    if (r < 0)
        return r;
    al_ref_follow_head(&repo->at, &refs);
    r = al_git_advance_checked(repo,
                               &(struct al_advance){ .from = work->head,
                                                     .to = work->onto,
                                                     .reflog = reflog,
                                                     .detaches = true,
                                                     .sets_orig_head = true },
                               budget, err);
    return r < 0 ? r : write_state(repo, work, refs.count ? refs.items[0] : NULL, todo.buf, err);
}

static int run(struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
               struct al_merge_outcome *outcome, struct al_error *err)
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
    r = al_merge_run(repo, &command, max_bytes, budget, outcome, err);
    if (r == 0)
        outcome->in_progress = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    return r;
}

int al_replay_begin_rebase(struct al_repo *repo, struct al_replay_work *work, size_t max_bytes,
                           struct al_run_limits *budget, struct al_merge_outcome *ret_outcome,
                           struct al_error *err)
{
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_strv_clear) struct al_strv sides = AL_STRV_INIT;
    int r = 0;

    al_strv_adds(&sides, work->onto, "HEAD", NULL);
    if (work->is_root)
        r = al_inmemory_accept(work->memory, work->onto, budget, err);
    if (r == 0)
        r = al_git_check_merge_programs(repo, "HEAD", &sides, budget, err);
    if (r == 0)
        r = begin(repo, work, budget, err);
    if (r == 0)
        r = run(repo, max_bytes, budget, &outcome, err);
    if (r < 0)
        return r;
    *ret_outcome = outcome;
    outcome = AL_MERGE_INIT;
    return 0;
}
