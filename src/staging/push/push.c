// SPDX-License-Identifier: Apache-2.0
#include "staging/push/private.h"

#include <stdlib.h>

#include "gitops/follow/follow.h"
#include "gitops/git_lock.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "guard/text.h"
#include "staging/github.h"
#include "util/utf8.h"

#define MOVED          "Target has new commits since your base"
#define MESSAGE_BYTES  (64u * 1024u)
#define SHOWN_MESSAGE  60 /* characters of a title in the first line of a question */
#define PUSHED_MESSAGE "airlock: push of a staged commit"

void al_push_result_clear(struct al_push_result *result)
{
    free(result->message);
    free(result->target_head);
    al_strv_clear(&result->notes);
    *result = (struct al_push_result){ .message = NULL };
}

void al_push_free(struct al_push *push)
{
    if (!push)
        return;
    al_target_clear(&push->target);
    al_staged_clear(&push->staged);
    free(push->shown);
    free(push->key);
    free(push->ref);
    free(push->head);
    free(push->parent);
    free(push->parent_ref);
    free(push->theirs);
    free(push->author);
    free(push->conflict);
    al_strv_clear(&push->lfs);
    al_strv_clear(&push->other);
    free(push);
}

/* An earlier staged commit of the same sandbox has the base of this one's files. */
static int check_order(const struct al_push *push, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    const struct al_staged *earlier;
    const char *path = NULL;
    int r = al_staged_list(push->staging, budget, &list, err);

    if (r < 0)
        return r;
    earlier = al_staged_earlier(&list, &push->staged, &path);
    if (!earlier)
        return 0;
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "Staged commit %.*s changes '%s' as well, and is older: push %.*s first or "
                        "discard it",
                        AL_STAGED_SHORT_ID, earlier->id, safe, AL_STAGED_SHORT_ID, earlier->id);
}

static int check_format(const struct al_push *push, struct al_error *err)
{
    static const char *const names[] = { "SHA-1", "SHA-256" };
    const bool target = push->repo->vetting->is_sha256, own = al_staging_is_sha256(push->staging);

    if (target == own)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "%s has object ids by %s, and what is staged here has them by %s, as the "
                        "repository at the first root; start airlock with %s as its first root",
                        push->shown, names[target], names[own],
                        push->repo->mirror ? "a clone of it" : "that target");
}

/* A new branch begins where HEAD is; an empty repository gets a root commit. */
static void find_parent(struct al_push *push)
{
    const char *known;
    al_auto(al_freep) char *head = NULL;

    if (*push->head) {
        push->parent = al_strdup(push->head);
        push->parent_ref = al_strdup(push->ref);
        return;
    }
    push->parent = al_ref_head(&push->repo->at);
    head = al_ref_read_head(&push->repo->at);
    if (head && al_starts_with(head, "ref: "))
        push->parent_ref = al_strdup(head + strlen("ref: "));
    known =
        push->parent_ref ? al_heads_find(&push->staged.heads, push->key, push->parent_ref) : NULL;
    push->parent_moved = known && strcmp(known, push->parent) != 0;
}

/* A head that is known has to be the head still. */
static void compare_heads(struct al_push *push)
{
    const char *known = al_heads_find(&push->staged.heads, push->key, push->ref);

    if (!known || !strcmp(known, push->head))
        return;
    if (*push->head) {
        push->conflict = al_strdup(MOVED);
        return;
    }
    push->is_other = true;
    push->conflict = al_strdup("The branch that these files come from no longer exists; pull from "
                               "another branch, or push to a branch of another name");
}

static int plan(struct al_push *push, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r = check_order(push, budget, err);

    push->shown = al_target_shown(&push->target);
    push->key = al_target_key(&push->target, push->repo);
    if (r == 0)
        r = check_format(push, err);
    if (r == 0)
        r = al_push_check_gitdirs(push, err);
    if (r == 0)
        r = al_target_branch(&push->target, push->repo, &push->ref, err);
    if (r < 0)
        return r;
    push->head = al_ref_oid(&push->repo->at, push->ref);
    find_parent(push);
    push->is_checked_out = al_target_is_checked_out(push->repo, push->ref);
    compare_heads(push);
    if (!push->conflict) {
        al_push_paths(push, &paths);
        r = al_github_prepare_push(push->repo, push->parent, &paths, budget, err);
    }
    if (r == 0 && !push->conflict && !push->repo->mirror) {
        r = al_push_find_refusal(push, budget, &push->conflict, err);
        push->is_other = push->conflict != NULL;
    }
    if (r == 0 && !push->conflict && !push->repo->mirror)
        r = al_index_lock_check(&push->repo->at, budget, err);
    return r < 0 ? r : al_push_find_author(push, budget, &push->author, err);
}

int al_push_plan(struct al_staging *staging, const char *id, const struct al_target *target,
                 struct al_repo *repo, struct al_run_limits *budget, struct al_push **ret_push,
                 struct al_error *err)
{
    struct al_push *push = al_calloc(1, sizeof(*push));
    int r;

    push->staging = staging;
    push->repo = repo;
    al_target_copy(target, &push->target);
    r = al_staged_find(staging, id, budget, &push->staged, err);
    push->theirs = al_calloc(push->staged.count + 1, sizeof(*push->theirs));
    if (r == 0)
        r = plan(push, budget, err);
    if (r < 0) {
        al_push_free(push);
        return r;
    }
    al_oid_text(&push->staged.commit, al_staging_is_sha256(staging), push->commit);
    *ret_push = push;
    return 0;
}

const char *al_push_id(const struct al_push *push)
{
    return push->staged.id;
}

const char *al_push_commit(const struct al_push *push)
{
    return push->commit;
}

const char *al_push_key(const struct al_push *push)
{
    return push->key;
}

bool al_push_is_checked_out(const struct al_push *push)
{
    return push->is_checked_out;
}

const char *al_push_ref(const struct al_push *push)
{
    return push->ref;
}

const char *al_push_head(const struct al_push *push)
{
    return push->head;
}

const char *al_push_parent(const struct al_push *push)
{
    return push->parent;
}

const char *al_push_author(const struct al_push *push)
{
    return push->author;
}

void al_push_paths(const struct al_push *push, struct al_strv *ret_paths)
{
    for (size_t i = 0; i < push->staged.count; i++)
        al_strv_add(ret_paths, push->staged.files[i].path);
}

bool al_push_conflict(const struct al_push *push, struct al_push_result *ret_result)
{
    if (!push->conflict)
        return false;
    ret_result->is_conflict = true;
    ret_result->is_other = push->is_other;
    ret_result->message = al_strdup(push->conflict);
    ret_result->target_head = *push->head ? al_strdup(push->head) : NULL;
    return true;
}

/* The title of the message, safe and short.  A quotation mark could end it early for a reader, and
 * a long title could hide what comes after it. */
static void add_title(const struct al_push *push, struct al_str *out)
{
    const char *message = push->staged.message;
    al_auto(al_freep) char *line = al_strndup(message, strcspn(message, "\n"));
    al_auto(al_freep) char *title = al_text_join_shown_lines(line);
    const size_t all = strlen(title);
    size_t len = 0;

    for (size_t shown = 0; shown < SHOWN_MESSAGE && len < all; shown++)
        do
            len++;
        while (al_utf8_floor(title, len) < len);
    for (size_t i = 0; i < len; i++)
        al_str_addc(out, title[i] == '"' ? '\'' : title[i]);
    if (len < all)
        al_str_adds(out, "…");
}

void al_push_summary(const struct al_push *push, struct al_str *out)
{
    al_str_addf(out, "Push staged commit %.*s \"", AL_STAGED_SHORT_ID, push->staged.id);
    add_title(push, out);
    al_str_addf(out, "\" to %s (branch: %s%s)", push->shown, push->ref + strlen(AL_HEADS),
                *push->head ? "" : ", new branch");
}

/* Move the branch, if it is where it was. */
static int move_branch(const struct al_push *push, const char *commit, struct al_run_limits *budget,
                       struct al_git_output *output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const size_t digits = strlen(commit);

    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "update-ref", "--no-deref", "-m", PUSHED_MESSAGE, push->ref,
                 commit, NULL);
    if (*push->head)
        al_strv_add(&command.argv, push->head);
    else
        al_strv_addf(&command.argv, "%0*d", (int)digits, 0);
    return al_git_run(&push->repo->at, &command, &(struct al_git_run){ .max_bytes = MESSAGE_BYTES },
                      budget, output, err);
}

static void set_conflict(struct al_push_result *result, bool is_other, char *message, char *head)
{
    result->is_conflict = true;
    result->is_other = is_other;
    result->message = message;
    result->target_head = *head ? head : NULL;
    if (!*head)
        free(head);
}

static void note_outcome(const struct al_push *push, const char *commit,
                         struct al_push_result *result)
{
    al_auto(al_freep) char *branch = al_text_sanitize_line(push->ref + strlen(AL_HEADS));

    memcpy(result->commit, commit, strlen(commit) + 1);
    if (*push->head)
        al_strv_addf(&result->notes, "Branch %s was at %s", branch, push->head);
    else
        al_strv_addf(&result->notes, "Branch %s is new", branch);
}

/* The branch moved, so everything after this is a note and no failure. */
static void finish(const struct al_push *push, const char *commit, struct al_run_limits *budget,
                   struct al_push_result *result)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    const struct al_pushed pushed = { .target = push->key,
                                      .branch = push->ref,
                                      .old_head = *push->head ? push->head : NULL,
                                      .commit = commit };
    al_auto(al_freep) char *top = al_text_sanitize_line(push->repo->at.top);
    const char *shown = push->repo->asked_top ? top : push->shown;
    const struct al_follow with = { .repo = push->repo,
                                    .from = *push->head ? push->head : al_push_empty_tree(push),
                                    .shown = shown };

    note_outcome(push, commit, result);
    al_push_note_lfs(push, &result->notes);
    al_push_note_other_bases(push, &result->notes);
    if (al_staged_pushed(push->staging, &push->staged, &pushed, budget, &why) < 0)
        al_strv_addf(&result->notes, "The staged commit is still listed: %s", why.message);
    al_error_clear(&why);
    if (push->is_checked_out && al_follow_partly(&with, commit, budget, &result->notes, &why) < 0)
        al_strv_addf(&result->notes, "The working tree of %s was not brought along: %s", shown,
                     why.message);
}

/* The mirror has the commit; now GitHub gets it. */
static int send(const struct al_push *push, const char *commit, struct al_run_limits *budget,
                struct al_push_result *result, struct al_error *err)
{
    al_auto(al_github_push_clear) struct al_github_push sent = {
        .branch = push->ref + strlen(AL_HEADS), .commit = commit, .head = push->head
    };
    int r = al_github_push(push->repo, &sent, budget, err);

    if (r < 0)
        return r;
    if (sent.refusal) {
        set_conflict(result, !sent.is_stale,
                     sent.is_stale ? al_strdup(MOVED) : al_strdup(sent.refusal),
                     al_strdup(sent.head_now ? sent.head_now : ""));
        return 0;
    }
    finish(push, commit, budget, result);
    if (sent.from_hook.len)
        al_strv_addf(&result->notes, "%s says: %s", push->shown, sent.from_hook.buf);
    return 0;
}

/* Move the branch of a repository on this machine. */
static int move(const struct al_push *push, const char *commit, struct al_run_limits *budget,
                struct al_push_result *result, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    char *now;
    int r = move_branch(push, commit, budget, &output, err);

    if (r < 0)
        return r;
    if (output.exit_code == 0) {
        finish(push, commit, budget, result);
        return 0;
    }
    now = al_ref_oid(&push->repo->at, push->ref);
    if (strcmp(now, push->head) != 0)
        set_conflict(result, false, al_strdup(MOVED), now);
    else
        set_conflict(result, true, al_text_join_lines(output.err.out.buf), now);
    return 0;
}

static int deliver(const struct al_push *push, const struct al_push_dir *dir, const char *commit,
                   struct al_run_limits *budget, struct al_push_result *result,
                   struct al_error *err)
{
    int r = al_push_objects(push, dir, commit, budget, err);

    if (r < 0)
        return r;
    return push->repo->mirror ? send(push, commit, budget, result, err)
                              : move(push, commit, budget, result, err);
}

int al_push_run(struct al_push *push, const char *commit, struct al_run_limits *budget,
                struct al_push_result *ret_result, struct al_error *err)
{
    al_auto(al_push_dir_remove) struct al_push_dir dir = AL_PUSH_DIR_INIT;
    al_auto(al_freep) char *built = NULL;
    int r;

    if (al_push_conflict(push, ret_result))
        return 0;
    r = al_push_dir_make(push, &dir, err);
    if (r == 0 && !commit)
        r = al_push_build(push, &dir, budget, &built, err);
    if (r == 0 && !commit)
        r = al_push_find_lfs(push, &dir, budget, &push->lfs, err);
    if (r == 0 && !commit)
        r = al_push_find_other_bases(push, &dir, budget, &push->other, err);
    return r < 0 ? r : deliver(push, &dir, commit ? commit : built, budget, ret_result, err);
}
