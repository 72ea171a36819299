// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sorted.h"
#include "base/utf8.h"
#include "git/command.h"
#include "git/git_lock.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/snapshot.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/push/private.h"
#include "staging/store.h"
#include "staging/target.h"
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
    free(push->refusal);
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
    const bool target = push->repo->vetting->is_sha256, own = push->staging->options.sha256;

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
    r = al_push_read_settings(push);
    if (r == 0 && !push->conflict && push->repo->mirror)
        r = al_mirror_check_token(push->repo->mirror, push->err);
    if (r == 0 && !push->conflict && !push->repo->mirror) {
        r = al_push_find_refusal(push, &push->conflict);
        push->is_other = push->conflict != NULL;
    }
    if (r == 0 && !push->conflict && !push->repo->mirror)
        r = al_index_lock_check(&push->repo->at, push->err);
    return r;
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
    al_oid_text(&push->staged.commit, staging->options.sha256, push->commit);
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

static void set_conflict(struct al_push_result *result, bool is_other, char *message, char *head)
{
    result->is_conflict = true;
    result->is_other = is_other;
    result->message = message;
    result->target_head = *head ? head : NULL;
    if (!*head)
        free(head);
}

bool al_push_conflict(const struct al_push *push, struct al_push_result *ret_result)
{
    if (!push->conflict)
        return false;
    set_conflict(ret_result, push->is_other, al_strdup(push->conflict), al_strdup(push->head));
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

/* --- The files of the commit, in a private index --- */

/*
 * A file with CRLF line ends is stored as `git add` would store it in the target: git itself
 * decides, by the attributes of the commit, from a copy of the file below <push directory>/wt.
 *
 * Source: gitattributes(5) "text", git-update-index(1) --index-info.
 */

/* --- The directory that one push works in: store.git/.airlock-<pid>-<number> --- */

/* Remove what a killed process left.  A process of another user, or one that took over the number,
 * only makes it stay longer. */
static void remove_left(const struct al_location *store)
{
    al_auto(al_closedirp) DIR *entries = al_fs_list_at(store->dir_fd);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        const pid_t owner = al_fs_temp_owner(entry->d_name);

        if (owner && kill(owner, 0) < 0 && errno == ESRCH)
            al_fs_remove_tree_at(store->dir_fd, entry->d_name);
    }
}

int al_push_dir_make(struct al_push *push)
{
    const struct al_staging *staging = push->staging;
    al_auto(al_freep) char *name = al_fs_temp_name();

    remove_left(&staging->bare);
    al_fs_remove_tree_at(staging->bare.dir_fd, name); /* of a process that had our number */
    if (mkdirat(staging->bare.dir_fd, name, 0700) < 0)
        return al_staging_unusable(staging, errno, push->err);
    push->dir.bare = al_staging_bare(staging, push->repo->at.budget);
    push->dir.bare.lender = &push->repo->at;
    push->dir.path = al_fs_join(staging->bare.dir, name);
    push->dir.index = al_fs_join(push->dir.path, "index");
    return 0;
}

void al_push_dir_remove(struct al_push *push)
{
    if (push->dir.path)
        al_fs_remove_tree(push->dir.path);
    free(push->dir.path);
    free(push->dir.index);
    push->dir = (struct al_push_dir){ .path = NULL };
}

int al_push_git_sink(const struct al_push *push, struct al_git_command *command,
                     struct al_sink sink)
{
    command->index = push->dir.index;
    command->borrows = true;
    return al_git_read(&push->dir.bare, command, sink, push->err);
}

static int run_git(const struct al_push *push, struct al_git_command *command, struct al_str *out)
{
    return al_push_git_sink(push, command, al_git_sink(out));
}

/* --- The tree of the branch --- */

static bool has_attributes(const struct al_push *push, const char *path)
{
    static const char name[] = ".gitattributes";
    const char *slash = strrchr(path, '/');
    al_auto(al_freep) char *dir = al_strndup(path, slash ? (size_t)(slash - path) : 0);
    struct al_range below;

    if (strcmp(slash ? slash + 1 : path, name) != 0)
        return false;
    below = al_choose_range(&(struct al_choosing){ push->staged.files, push->staged.count,
                                                   sizeof(*push->staged.files), NULL, NULL },
                            dir);
    return below.begin < below.end;
}

/* The objects that the push looks at: the files, and the attributes of their directories. */
static void take_files(const struct al_push *push, const struct al_sandbox_files *files,
                       struct al_strv *ret_oids)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct al_sandbox_file *file = &files->items[i];
        const size_t which = al_push_find_file(push, file->path);
        char oid[AL_OID_TEXT];

        if (which != SIZE_MAX)
            push->theirs[which] = (struct al_sandbox_version){ file->mode, file->oid };
        else if (!has_attributes(push, file->path))
            continue;
        al_oid_text(&file->oid, push->staging->options.sha256, oid);
        if (S_ISREG(file->mode))
            al_strv_add(ret_oids, oid);
    }
}

/* git reads a whole tree into an index, however large.  Of one on GitHub the content comes that is
 * needed. */
static int list_parent(const struct al_push *push, struct al_sandbox_files *ret_files)
{
    al_auto(al_tree_clear) struct al_tree tree;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    int r = al_tree_read(&push->dir.bare, push->staging->options.sha256, push->parent, "the branch",
                         "push to a smaller one", &tree, push->err);

    if (r < 0)
        return r;
    take_files(push, &tree.files, &oids);
    *ret_files = tree.files;
    tree.files = AL_SANDBOX_FILES_INIT;
    return al_target_bring(push->repo, &oids, push->err);
}

static int read_parent(const struct al_push *push)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_base_clear) struct al_base tree = { .heads = NULL };
    int r = *push->parent ? list_parent(push, &tree.files) : 0;

    al_base_apply(&tree, &push->staged);
    if (r == 0)
        r = al_push_check_tree(push, &tree.files);
    if (r < 0 || !*push->parent)
        return r;
    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "read-tree", push->parent, NULL);
    return run_git(push, &command, NULL);
}

/* Regular files, and their content as it comes. */
struct contents {
    const struct al_push *push;
    const char *wt;
    size_t *files; /* index of each object that is read */
    struct al_str text;
    bool *copied;        /* for each staged file */
    struct al_str names; /* files that were copied, each ended by NUL */
};

/* Write <wt>/<path>; components of a staged path were checked when it was staged. */
static int copy_file(struct contents *contents, const struct al_sandbox_file *file,
                     struct al_error *err)
{
    al_auto(al_freep) char *path = al_fs_join(contents->wt, file->path);
    al_auto(al_freep) char *parent = al_strndup(path, (size_t)(strrchr(path, '/') - path));
    al_auto(al_closep) int fd = -1;
    int r = al_fs_mkdirs(parent, 0700);

    if (r == 0)
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  file->mode & 0100 ? 0700 : 0600);
    if (r == 0 && fd < 0)
        r = -errno;
    if (r == 0)
        r = al_write_all(fd, contents->text.buf, contents->text.len);
    if (r < 0)
        return al_staging_unusable(contents->push->staging, -r, err);
    al_str_add(&contents->names, file->path, strlen(file->path) + 1);
    return 0;
}

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct contents *contents = payload;
    int r = 0;

    al_str_add(&contents->text, data, len);
    if (!last)
        return 0;
    contents->push->is_pointer[contents->files[which]] =
        al_starts_with(contents->text.buf, AL_LFS_MARK);
    if (contents->text.len && memmem(contents->text.buf, contents->text.len, "\r\n", 2)) {
        contents->copied[contents->files[which]] = true;
        r = copy_file(contents, &contents->push->staged.files[contents->files[which]], err);
    }
    al_str_reset(&contents->text);
    return r;
}

static int read_contents(struct contents *contents)
{
    const struct al_staged *staged = &contents->push->staged;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    int r;

    contents->files = al_calloc(staged->count + 1, sizeof(*contents->files));
    for (size_t i = 0; i < staged->count; i++) {
        char oid[AL_OID_TEXT];

        if (staged->files[i].operation == AL_STAGED_DELETE ||
            (staged->files[i].mode & 0170000) != 0100000)
            continue;
        al_oid_text(&staged->files[i].oid, contents->push->staging->options.sha256, oid);
        contents->files[oids.count] = i;
        al_strv_add(&oids, oid);
    }
    r = al_bare_read(&contents->push->dir.bare, (const char *const *)oids.items, oids.count, take,
                     contents, contents->push->err);
    free(al_take(&contents->files));
    return r;
}

/* "<mode> SP <oid> TAB <path>" NUL for each file that was not copied; mode 0 removes it. */
static void add_entries(const struct contents *contents, struct al_str *out)
{
    const struct al_push *push = contents->push;

    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_sandbox_file *file = &push->staged.files[i];
        char oid[AL_OID_TEXT];

        if (contents->copied[i])
            continue;
        al_oid_text(&file->oid, push->staging->options.sha256, oid);
        al_str_addf(out, "%o %s\t%s", file->operation == AL_STAGED_DELETE ? 0 : file->mode, oid,
                    file->path);
        al_str_addc(out, '\0');
    }
}

static int set_entries(const struct contents *contents)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str entries = AL_STR_INIT;

    add_entries(contents, &entries);
    if (!entries.len)
        return 0;
    command.class = AL_GIT_WRITE;
    al_git_command_feed(&command, &entries);
    al_strv_adds(&command.argv, "git", "update-index", "-z", "--index-info", NULL);
    return run_git(contents->push, &command, NULL);
}

/* The entries of copied files are still those of the parent: for `text=auto`, CRLF in the entry
 * makes git keep CRLF. */
static int add_copied(const struct contents *contents)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!contents->names.len)
        return 0;
    command.class = AL_GIT_WRITE;
    al_git_command_feed(&command, &contents->names);
    al_strv_add(&command.argv, "git");
    al_strv_addf(&command.argv, "--work-tree=%s", contents->wt);
    al_strv_adds(&command.argv, "update-index", "--add", "--replace", "-z", "--stdin", NULL);
    return run_git(contents->push, &command, NULL);
}

static int build_index(const struct al_push *push)
{
    al_auto(al_freep) char *wt = al_fs_join(push->dir.path, "wt");
    struct contents contents = {
        .push = push, .wt = wt, .text = AL_STR_INIT, .names = AL_STR_INIT
    };
    int r = read_parent(push);

    contents.copied = al_calloc(push->staged.count + 1, sizeof(*contents.copied));
    if (r == 0)
        r = read_contents(&contents);
    if (r == 0)
        r = set_entries(&contents);
    if (r == 0)
        r = add_copied(&contents);
    free(contents.copied);
    al_str_clear(&contents.text);
    al_str_clear(&contents.names);
    return r;
}

/* --- The commit that is pushed, built in the store --- */

static int write_tree(const struct al_push *push, struct al_str *ret_tree)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    /* A partial clone lacks objects that the commit does not touch. */
    al_strv_adds(&command.argv, "git", "write-tree", "--missing-ok", NULL);
    r = run_git(push, &command, ret_tree);
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
    r = run_git(push, &command, &old);
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
    return run_git(push, &command, out);
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
    r = run_git(push, &command, ret_commit);
    al_str_trim_end(ret_commit);
    return r;
}

int al_push_build(struct al_push *push, char **ret_commit)
{
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str commit = AL_STR_INIT;
    int r = build_index(push);

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

/* The objects that the commit reaches and its parent does not.  The store's lock is held, or the
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
