// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sorted.h"
#include "base/utf8.h"
#include "git/command.h"
#include "git/git_lock.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/rollback_plumbing.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/text.h"
#include "staging/push/private.h"
#include "staging/store.h"
#include "verbs/follow/follow.h"
#include "verbs/landing/landing.h"
#include "verbs/transport/mirror.h"
#include "verbs/transport/push.h"

#define NS_PER_S       INT64_C(1000000000)
#define INDEX_BYTES    (64u << 20) /* of the index of a pack of a million objects */
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
    al_staged_clear(&push->staged);
    free(push->shown);
    free(push->key);
    free(push->ref);
    free(push->head);
    free(push->parent);
    free(push->parent_ref);
    free(push->theirs);
    free(push->is_pointer);
    free(push->author);
    free(push->conflict);
    al_strv_clear(&push->lfs);
    al_strv_clear(&push->other);
    free(push);
}

/* An earlier staged commit of the same sandbox has the base of this one's files. */
static int check_order(const struct al_push *push)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    const struct al_staged *earlier;
    const char *path = NULL;
    int r = al_staged_list(push->staging, push->repo->at.budget, &list, push->err);

    if (r < 0)
        return r;
    earlier = al_staged_earlier(&list, &push->staged, &path);
    if (!earlier)
        return 0;
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);
    return al_error_set(push->err, AL_ERR_EXECUTION,
                        "Staged commit %.*s changes '%s' as well, and is older: push %.*s first or "
                        "discard it",
                        AL_STAGED_SHORT_ID, earlier->id, safe, AL_STAGED_SHORT_ID, earlier->id);
}

static int check_format(const struct al_push *push)
{
    static const char *const names[] = { "SHA-1", "SHA-256" };
    const bool target = push->repo->vetting->is_sha256, own = al_staging_is_sha256(push->staging);

    if (target == own)
        return 0;
    return al_error_set(push->err, AL_ERR_EXECUTION,
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
        push->parent_ref ? al_heads_find(push->staged.heads, push->key, push->parent_ref) : NULL;
    push->parent_moved = known && strcmp(known, push->parent) != 0;
}

/* A head that is known has to be the head still. */
static void compare_heads(struct al_push *push)
{
    const char *known = al_heads_find(push->staged.heads, push->key, push->ref);

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

static int plan(struct al_push *push, const struct al_target *target)
{
    int r = check_order(push);

    push->shown = al_target_shown(target);
    push->key = al_target_key(target, push->repo);
    if (r == 0)
        r = check_format(push);
    if (r == 0)
        r = al_push_check_gitdirs(push);
    if (r == 0)
        r = al_target_branch(target, push->repo, &push->ref, push->err);
    if (r < 0)
        return r;
    push->head = al_ref_oid(&push->repo->at, push->ref);
    find_parent(push);
    push->is_checked_out = al_landing_is_checked_out(push->repo, push->ref);
    compare_heads(push);
    if (!push->conflict && push->repo->mirror)
        r = al_mirror_check_token(push->repo->mirror, push->err);
    if (r == 0 && !push->conflict && !push->repo->mirror) {
        r = al_push_find_refusal(push, &push->conflict);
        push->is_other = push->conflict != NULL;
    }
    if (r == 0 && !push->conflict && !push->repo->mirror)
        r = al_index_lock_check(&push->repo->at, push->err);
    return r < 0 ? r : al_push_find_author(push, &push->author);
}

int al_push_plan(struct al_staging *staging, const char *id, const struct al_target *target,
                 struct al_repo *repo, struct al_push **ret_push, struct al_error *err)
{
    struct al_push *push = al_calloc(1, sizeof(*push));
    int r;

    push->staging = staging;
    push->repo = repo;
    push->err = err;
    r = al_staged_find(staging, id, repo->at.budget, &push->staged, err);
    push->theirs = al_calloc(push->staged.count + 1, sizeof(*push->theirs));
    push->is_pointer = al_calloc(push->staged.count + 1, sizeof(*push->is_pointer));
    if (r == 0)
        r = plan(push, target);
    if (r < 0) {
        al_push_free(push);
        return r;
    }
    al_oid_text(&push->staged.commit, al_staging_is_sha256(staging), push->commit);
    *ret_push = push;
    return 0;
}

size_t al_push_find_file(const struct al_push *push, const char *path)
{
    const struct al_sandbox_file *files = push->staged.files;

    return al_sorted_find(files, push->staged.count, sizeof(*files), path);
}

const char *al_push_from(const struct al_push *push)
{
    return *push->parent ? push->parent : al_git_empty_tree(push->repo);
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

/* --- The commit that is pushed, built in the store --- */

static int write_tree(const struct al_push *push, struct al_str *ret_tree)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    /* A partial clone lacks objects that the commit does not touch. */
    al_strv_adds(&command.argv, "git", "write-tree", "--missing-ok", NULL);
    r = al_push_git(push, &command, ret_tree);
    al_str_trim_end(ret_tree);
    return r;
}

/* A first commit without files would be of no use to anybody. */
static int check_first(const struct al_push *push, const char *tree)
{
    if (strcmp(tree, al_push_from(push)) != 0)
        return 0;
    return al_error_set(push->err, AL_ERR_EXECUTION,
                        "There is nothing to push: %s has no commits, and the staged commit only "
                        "deletes files; git_discard removes the staged commit",
                        push->shown);
}

static int check_changes(const struct al_push *push, const char *tree)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str old = AL_STR_INIT;
    int r;

    if (!*push->parent)
        return check_first(push, tree);
    al_strv_adds(&command.argv, "git", "rev-parse", "--verify", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", push->parent);
    r = al_push_git(push, &command, &old);
    if (r < 0)
        return r;
    al_str_trim_end(&old);
    if (strcmp(old.buf, tree) != 0)
        return 0;
    return al_error_set(
        push->err, AL_ERR_EXECUTION,
        "There is nothing to push: %s has these changes already; git_discard removes "
        "the staged commit",
        push->shown);
}

/* Whether a line begins with "Worker:", as git recognizes a trailer: in any case, and with white
 * space before the colon. */
static bool names_worker(const char *line, size_t len)
{
    static const char key[] = "worker";
    const size_t key_len = strlen(key);

    if (len < key_len || strncasecmp(line, key, key_len) != 0)
        return false;
    return line[key_len + strspn(line + key_len, " \t\r\v\f")] == ':';
}

/* The message without lines that pass for our trailer.  The title stays, since it is no trailer. */
static void leave_out_workers(const char *message, struct al_str *out)
{
    for (const char *line = message; *line;) {
        size_t len = strcspn(line, "\n");

        len += line[len] == '\n';
        if (line == message || !names_worker(line, len))
            al_str_add(out, line, len);
        line += len;
    }
}

/* The message, with the worker as a trailer.  A trailer of that name that the agent wrote is left
 * out.  A line "---" is a part of the message. */
static int add_message(const struct al_push *push, struct al_str *out)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (push->staged.worker)
        leave_out_workers(push->staged.message, &message);
    else
        al_str_adds(&message, push->staged.message);
    if (!al_ends_with(message.buf, "\n"))
        al_str_addc(&message, '\n');
    if (!push->staged.worker) {
        al_str_add(out, message.buf, message.len);
        return 0;
    }
    al_git_command_feed(&command, &message);
    al_strv_adds(&command.argv, "git", "interpret-trailers", "--no-divider", "--if-exists=add",
                 NULL);
    al_strv_addf(&command.argv, "--trailer=Worker: %s", push->staged.worker);
    return al_push_git(push, &command, out);
}

static int write_commit(const struct al_push *push, const char *tree, struct al_str *ret_commit)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    al_str_addf(&text, "tree %s\n", tree);
    if (*push->parent)
        al_str_addf(&text, "parent %s\n", push->parent);
    al_str_addf(&text, "author %s %" PRId64 " +0000\n", push->author,
                push->staged.order / NS_PER_S);
    al_str_addf(&text, "committer %s %" PRId64 " +0000\n\n", push->author, (int64_t)time(NULL));
    r = add_message(push, &text);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    al_git_command_feed(&command, &text);
    al_strv_adds(&command.argv, "git", "hash-object", "-t", "commit", "-w", "--stdin", NULL);
    r = al_push_git(push, &command, ret_commit);
    al_str_trim_end(ret_commit);
    return r;
}

int al_push_build(struct al_push *push, char **ret_commit)
{
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str commit = AL_STR_INIT;
    int r = al_push_build_index(push);

    if (r == 0)
        r = write_tree(push, &tree);
    if (r == 0)
        r = check_changes(push, tree.buf);
    if (r == 0)
        r = write_commit(push, tree.buf, &commit);
    if (r == 0)
        r = al_push_find_remarks(push);
    if (r == 0)
        *ret_commit = al_str_detach(&commit);
    return r;
}

/* --- Its objects --- */

/*
 * A pack is made in the store, which git indexes in the target.  git finds the id of each object by
 * its content there, and compares the content with that of an object which the target has already.
 * So all is right if that index is the one that was made with the pack, where the ids are those
 * that the commit and its trees name.
 *
 * Source: git-pack-objects(1), git-index-pack(1).
 */

/* Test whether the target's index of the pack says what the pack's own says. */
static bool is_indexed_the_same(const struct al_push *push, const char *hash)
{
    al_auto(al_freep) char *own = al_asprintf("pack-%s.idx", hash);
    al_auto(al_freep) char *theirs = al_asprintf("objects/pack/%s", own);
    al_auto(al_closep) int fd =
        open(push->repo->at.common_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_str_clear) struct al_str made = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str found = AL_STR_INIT;

    return fd >= 0 && al_fs_read(push->staging->pack_fd, own, INDEX_BYTES, &made) == 0 &&
           al_fs_read(fd, theirs, INDEX_BYTES, &found) == 0 && made.len == found.len && made.len &&
           memcmp(made.buf, found.buf, made.len) == 0;
}

/* The objects that the commit reaches and its parent does not.  With the store's lock held, or the
 * pack might be joined with others. */
static int send_pack(const struct al_push *push, const char *commit)
{
    al_auto(al_str_clear) struct al_str revisions = AL_STR_INIT;
    al_auto(al_freep) char *hash = NULL;
    al_auto(al_freep) char *name = NULL;
    int r;

    al_str_addf(&revisions, "%s\n", commit);
    if (*push->parent)
        al_str_addf(&revisions, "^%s\n", push->parent);
    r = al_bare_pack(&push->dir.bare, &revisions, true, &hash, push->err);
    name = al_asprintf("pack-%s.pack", hash ? hash : "");
    if (r == 0)
        r = al_git_store_pack(push->repo, push->staging->pack_fd, name, push->err);
    if (r < 0 || is_indexed_the_same(push, hash))
        return r;
    return al_error_set(push->err, AL_ERR_EXECUTION,
                        "Not all objects of the commit arrived in %s, and its branch was not moved",
                        push->shown);
}

static int send_objects(const struct al_push *push, const char *commit)
{
    int r = al_staging_lock(push->staging, push->repo->at.budget, push->err);

    if (r < 0)
        return r;
    r = send_pack(push, commit);
    al_staging_unlock(push->staging);
    return r;
}

/* --- The branch --- */

/* Move the branch, if it is where it was. */
static int move_branch(const struct al_push *push, const char *commit, struct al_git_output *output)
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
                      output, push->err);
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
static void finish(const struct al_push *push, const char *commit, struct al_push_result *result)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    const struct al_staged_push pushed = { .target = push->key,
                                           .branch = push->ref,
                                           .old_head = *push->head ? push->head : NULL,
                                           .commit = commit };
    al_auto(al_freep) char *top = al_text_sanitize_line(push->repo->at.top);
    const char *shown = push->repo->asked_top ? top : push->shown;
    const struct al_follow with = { .repo = push->repo,
                                    .from =
                                        *push->head ? push->head : al_git_empty_tree(push->repo),
                                    .shown = shown };

    note_outcome(push, commit, result);
    al_push_note_remarks(push, &result->notes);
    if (al_staged_pushed(push->staging, &push->staged, &pushed, push->repo->at.budget, &why) < 0)
        al_strv_addf(&result->notes, "The staged commit is still listed: %s", why.message);
    al_error_clear(&why);
    if (push->is_checked_out && al_follow_partly(&with, commit, &result->notes, &why) < 0)
        al_strv_addf(&result->notes, "The working tree of %s was not brought along: %s", shown,
                     why.message);
}

/* The connection may break after the server took the push, and only the branch tells. */
static bool has_arrived(const struct al_push *push, const char *commit, int failed)
{
    al_auto(al_freep) char *now = NULL;

    return failed != AL_ERR_CANCELLED && failed != AL_ERR_TIMEOUT &&
           al_mirror_look(push->repo->mirror, push->ref + strlen(AL_HEADS), &now, NULL) == 0 &&
           !strcmp(now, commit);
}

/* The mirror has the commit; now GitHub gets it. */
static int send(const struct al_push *push, const char *commit, struct al_push_result *result)
{
    const struct al_push_options options = { .branch = push->ref + strlen(AL_HEADS),
                                             .commit = commit,
                                             .lease = push->head };
    al_auto(al_pushed_clear) struct al_pushed pushed = AL_PUSHED_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char *now = NULL;
    int r = al_mirror_push(push->repo->mirror, &options, &pushed, &why);

    if (r < 0 && pushed.is_rejected) {
        (void)al_mirror_look(push->repo->mirror, options.branch, &now, NULL);
        pushed.is_stale |= now && strcmp(now, push->head) != 0;
        set_conflict(result, !pushed.is_stale, al_strdup(pushed.is_stale ? MOVED : why.message),
                     now ? now : al_strdup(""));
        return 0;
    }
    if (r < 0 && !has_arrived(push, commit, r)) {
        if (push->err) {
            *push->err = why;
            why = AL_ERROR_INIT;
        }
        return r;
    }
    finish(push, commit, result);
    if (pushed.from_hook.len)
        al_strv_addf(&result->notes, "%s says: %s", push->shown, pushed.from_hook.buf);
    return 0;
}

/* Move the branch of a repository on this machine. */
static int move(const struct al_push *push, const char *commit, struct al_push_result *result)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    char *now;
    int r = move_branch(push, commit, &output);

    if (r < 0)
        return r;
    if (output.exit_code == 0) {
        finish(push, commit, result);
        return 0;
    }
    now = al_ref_oid(&push->repo->at, push->ref);
    if (strcmp(now, push->head) != 0)
        set_conflict(result, false, al_strdup(MOVED), now);
    else
        set_conflict(result, true, al_text_join_lines(output.err.out.buf), now);
    return 0;
}

static int deliver(const struct al_push *push, const char *commit, struct al_push_result *result)
{
    int r = send_objects(push, commit);

    if (r < 0)
        return r;
    return push->repo->mirror ? send(push, commit, result) : move(push, commit, result);
}

int al_push_run(struct al_push *push, const char *commit, struct al_push_result *ret_result,
                struct al_error *err)
{
    al_auto(al_freep) char *built = NULL;
    int r;

    if (al_push_conflict(push, ret_result))
        return 0;
    push->err = err;
    r = al_push_dir_make(push);
    if (r == 0 && !commit)
        r = al_push_build(push, &built);
    if (r == 0)
        r = deliver(push, commit ? commit : built, ret_result);
    al_push_dir_remove(push);
    return r;
}
