// SPDX-License-Identifier: Apache-2.0
#include "history/files.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/location.h"
#include "git/plumbing/blocking_files.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/snapshot.h"
#include "git/refs.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "history/rescue.h"

#define INDEX_NAME        "files.index"
#define LAST_PREFIX       "last-"
#define NESTED_PREFIX     "nested-"
#define EXCLUDE_MAX_BYTES (1u << 20)
#define INDEX_FLAGS       (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#define READS_MAX         3
#define FEW_FILES         64
#define FEW_MAX_BYTES     (1u << 20)
#define MODE_GITLINK      0160000u

/* git gets this part of the time first; then files that block it are looked for. */
#define FIRST_TRY_PART 4

void al_files_clear(struct al_files *files)
{
    al_str_clear(&files->stream);
    al_strv_clear(&files->left_out);
    al_strv_clear(&files->inlined);
    al_oid_set_clear(&files->blobs);
    al_modes_clear(&files->modes);
}

/* --- One directory --- */

/** The things recorded now: the working tree, a nested repository or its git directory. */
struct recorder {
    struct al_store *store;
    struct al_files *files;
    struct al_snapshot_dir dir;
    const char *shown;       /* its path in the working tree, "" or with a final '/' */
    const char *saved;       /* its directory in the checkpoint, with a final '/' */
    struct al_str add, drop; /* paths, NUL after each */
    struct al_file_id *ids;  /* of the paths of `add`, when they were looked at */
    size_t nids;
    uint64_t bytes;                            /* of the files that are read now */
    int64_t index_s;                           /* when the index was written, and entries */
    size_t racy;                               /* that git reads since they are not older */
    bool new_rules;                            /* what is ignored may have changed */
    struct al_strv *nested;                    /* nested repositories, in the working tree */
    const struct al_checkpoint_reason *reason; /* NULL: not of the working tree itself */
    bool is_current;         /* the index is the one that the last tree was made from */
    bool by_writes;          /* only what the execution can write was looked at */
    struct al_str gone, new; /* told of without the index: see add_few() */
    struct al_str *links;    /* those that the index has, since it began with a commit */
};

/* Whether git would refuse the name: a component is `.git` in any case.  The git directory of a
 * nested repository is recorded in another way. */
static bool has_dot_git(const char *path)
{
    for (; *path; path += strcspn(path, "/"), path += *path == '/')
        if (strcspn(path, "/") == 4 && !strncasecmp(path, ".git", 4))
            return true;
    return false;
}

enum kind {
    KIND_GONE,       /* there is nothing; its directory is there */
    KIND_BELOW_NONE, /* its directory is gone, or no directory */
    KIND_FILE,       /* a file or a link that can be recorded */
    KIND_OTHER,      /* it is there and cannot be recorded */
};

static enum kind look(const struct recorder *recorder, const char *path, struct stat *st)
{
    const char *name;
    al_auto(al_closep) int fd = al_nofollow_open_parent(recorder->dir.fd, path, false, &name);

    if (fd < 0)
        return KIND_BELOW_NONE;
    if (fstatat(fd, name, st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? KIND_GONE : KIND_OTHER;
    if (S_ISDIR(st->st_mode))
        return KIND_BELOW_NONE;
    if (has_dot_git(path))
        return KIND_OTHER;
    if (S_ISLNK(st->st_mode))
        return KIND_FILE;
    return S_ISREG(st->st_mode) &&
                   (uint64_t)st->st_size <= recorder->store->settings->max_file_bytes &&
                   faccessat(fd, name, R_OK, AT_EACCESS) == 0
               ? KIND_FILE
               : KIND_OTHER;
}

/* The git directory of the repository itself may lie in its working tree under another name. */
static bool is_git_dir(const struct recorder *recorder, const char *shown)
{
    const struct al_location *at = &recorder->store->repo->at;
    al_auto(al_freep) char *path = al_fs_join(at->top, shown);

    return al_fs_beneath(at->git_dir, path) || al_fs_beneath(at->common_dir, path);
}

/* A file that could not be given back. */
static void leave_out(struct recorder *recorder, const char *path)
{
    al_auto(al_freep) char *shown = al_asprintf("%s%s", recorder->shown, path);

    if (!al_strv_contains(&recorder->files->left_out, shown))
        al_strv_add(&recorder->files->left_out, shown);
    al_str_add(&recorder->drop, path, strlen(path) + 1);
}

/* A link may lead to it: git refuses that. */
static struct al_file_id id_of(const struct recorder *recorder, const char *path)
{
    struct stat st;

    return fstatat(recorder->dir.fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0
               ? al_file_id_from(&st)
               : (struct al_file_id){ .exists = false };
}

static int add_path(struct recorder *recorder, const char *path, struct al_file_id id,
                    struct al_error *err)
{
    const uint64_t most = recorder->store->settings->max_store_bytes;

    recorder->ids = al_reallocarray(recorder->ids, recorder->nids + 1, sizeof(*recorder->ids));
    recorder->ids[recorder->nids++] = id;
    al_str_add(&recorder->add, path, strlen(path) + 1);
    recorder->bytes += id.exists ? id.size : 0;
    return recorder->bytes <= most ? 0
                                   : al_error_set(err, AL_ERR_EXECUTION,
                                                  "a checkpoint of this repository is larger than "
                                                  "journal.max_store_bytes (%" PRIu64 ")",
                                                  most);
}

static int take_path(void *payload, const char *path, struct al_error *err)
{
    struct recorder *recorder = payload;
    al_auto(al_freep) char *shown = al_asprintf("%s%s", recorder->shown, path);
    const size_t len = strlen(path);
    struct stat st = { .st_mode = 0 };
    enum kind kind;

    if (is_git_dir(recorder, shown))
        return 0;
    if (len && path[len - 1] == '/') {
        shown[strlen(shown) - 1] = '\0';
        if (!recorder->dir.ignores_nothing)
            al_strv_add(recorder->nested, shown);
        return 0;
    }
    recorder->new_rules |= al_ends_with(path, ".gitignore");
    kind = look(recorder, path, &st);
    al_modes_set(&recorder->files->modes, shown, kind == KIND_FILE ? st.st_mode : 0);
    if (kind == KIND_GONE || kind == KIND_FILE)
        return add_path(
            recorder, path,
            kind == KIND_FILE ? al_file_id_from(&st) : (struct al_file_id){ .exists = false }, err);
    if (kind == KIND_OTHER)
        leave_out(recorder, path);
    else
        al_str_add(&recorder->drop, path, len + 1);
    return 0;
}

static bool is_included(const struct al_strv *include_ignored, const char *path)
{
    for (size_t i = 0; include_ignored && i < include_ignored->count; i++) {
        const char *glob = include_ignored->items[i];

        /* A glob without '/' matches the last component only, as in .gitignore. */
        if (fnmatch(glob, strchr(glob, '/') ? path : basename(path), 0) == 0)
            return true;
    }
    return false;
}

static int take_ignored(void *payload, const char *path, struct al_error *err)
{
    const struct recorder *recorder = payload;

    return is_included(recorder->store->settings->include_ignored, path)
               ? take_path(payload, path, err)
               : 0;
}

/* Whether a path is one of a nested repository, which is recorded as a whole. */
static bool is_nested(const struct al_store *store, const char *path)
{
    bool is = has_dot_git(path);

    for (size_t i = 0; i < store->nested.count; i++)
        is |= al_fs_beneath(store->nested.items[i], path) != NULL;
    return is;
}

/* Whether to look only at the files that the execution can write: after it, others cannot be its
 * change.  Directories and nested repositories need git's list. */
static bool looks_at_writes(const struct recorder *recorder)
{
    const struct al_strv *writes = recorder->reason ? recorder->reason->writes : NULL;
    const struct al_store *store = recorder->store;
    struct stat st;

    if (!writes || !(store->is_blocked || (recorder->reason->before && store->has_listed)))
        return false;
    for (size_t i = 0; i < writes->count && !store->is_blocked; i++)
        if (is_nested(store, writes->items[i]) ||
            (fstatat(recorder->dir.fd, writes->items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
             S_ISDIR(st.st_mode)))
            return false;
    return true;
}

static int take_writes(struct recorder *recorder, struct al_error *err)
{
    const struct al_strv *writes = recorder->reason->writes, *nested = &recorder->store->nested;
    int r = 0;

    for (size_t i = 0; r == 0 && i < writes->count; i++)
        if (!is_nested(recorder->store, writes->items[i]))
            r = take_path(recorder, writes->items[i], err);
    al_strv_add_all(recorder->nested, nested);
    return r;
}

/* List the tree once more, after the first time took too long: git may wait for a fifo or the like,
 * which never ends.  Then only what the execution can write is looked at, if that is known. */
static int list_again(struct recorder *recorder, struct al_error *err)
{
    struct al_store *store = recorder->store;
    al_auto(al_freep) char *blocker = al_git_find_blocking_file(store->repo);

    al_error_clear(err);
    al_str_reset(&recorder->add);
    al_str_reset(&recorder->drop);
    recorder->nids = 0;
    recorder->bytes = 0;
    if (!blocker)
        return al_snapshot_list(&recorder->dir, take_path, recorder, err);
    store->is_blocked = store->has_listed = true;
    return looks_at_writes(recorder) ? take_writes(recorder, err)
                                     : al_error_set(err, AL_ERR_EXECUTION, "%s", blocker);
}

/* git compares times in seconds: to it a file is the same whose permissions change in the second in
 * which it looked. */
static bool take_recent(void *payload, const struct al_index_entry *entry)
{
    struct recorder *recorder = payload;
    al_auto(al_freep) char *shown = NULL;
    struct stat st;

    recorder->racy += entry->changed_s >= recorder->index_s;
    if (entry->changed_s >= recorder->files->modes.written_s &&
        look(recorder, entry->name, &st) == KIND_FILE) {
        shown = al_asprintf("%s%s", recorder->shown, entry->name);
        al_modes_set(&recorder->files->modes, shown, st.st_mode);
    }
    return true;
}

static int list(struct recorder *recorder, struct al_error *err)
{
    struct al_run_limits *budget = recorder->dir.at.budget, first = *budget;
    al_auto(al_closep) int fd = open(recorder->dir.index, INDEX_FLAGS);
    const struct al_strv *include = recorder->store->settings->include_ignored;
    struct stat st = { .st_mtime = 0 };
    int r;

    recorder->index_s = fd >= 0 && fstat(fd, &st) == 0 ? st.st_mtime : INT64_MAX;
    first.left_ms = first.left_ms / FIRST_TRY_PART + 1;
    recorder->dir.at.budget = &first;
    r = al_snapshot_list(&recorder->dir, take_path, recorder, err);
    recorder->dir.at.budget = budget;
    budget->left_ms -= budget->left_ms / FIRST_TRY_PART + 1 - first.left_ms;
    if (r == AL_ERR_TIMEOUT)
        r = list_again(recorder, err);
    if (r == 0 && !recorder->files->whole)
        (void)al_index_read(fd, al_oid_bytes(recorder->store->sha256), take_recent, recorder);
    /* All files are so young after a clone, and each checkpoint would read them. */
    if (r == 0 && recorder->racy > FEW_FILES && al_clock_ns() / 1000000000 > recorder->index_s)
        (void)al_snapshot_refresh(&recorder->dir, NULL); /* else it is only slower */
    if (r == 0 && include && include->count && !recorder->dir.ignores_nothing &&
        !recorder->store->is_blocked)
        r = al_snapshot_list_ignored(&recorder->dir, false, take_ignored, recorder, err);
    return r;
}

/* Keep those of the paths that changed while git read them; the others are recorded. */
static void keep_changed(struct recorder *recorder)
{
    struct al_str changed = AL_STR_INIT;
    size_t kept = 0, i = 0;

    for (const char *path = recorder->add.buf; i < recorder->nids; path += strlen(path) + 1, i++) {
        const struct al_file_id id = id_of(recorder, path);

        if (al_file_id_equal(&id, &recorder->ids[i]))
            continue;
        al_str_add(&changed, path, strlen(path) + 1);
        recorder->ids[kept++] = id;
    }
    al_str_clear(&recorder->add);
    recorder->add = changed;
    recorder->nids = kept;
}

/* The id of the content that a file has now; none if it cannot be read. */
static struct al_oid content_of(const struct recorder *recorder, const char *path)
{
    const char *name;
    al_auto(al_closep) int fd = al_nofollow_open_parent(recorder->dir.fd, path, false, &name);
    struct al_look look = { .mode = 0 };

    if (fd >= 0)
        al_look_at(fd, name, recorder->store->sha256, &look);
    return look.oid;
}

/* Whether files whose times never rest have the same content before and after git reads them once
 * more.  The others are left out. */
static int settle(struct recorder *recorder, struct al_error *err)
{
    al_auto(al_freep) struct al_oid *ids = al_calloc(recorder->nids + 1, sizeof(*ids));
    const char *path = recorder->add.buf;
    int r;

    for (size_t i = 0; i < recorder->nids; path += strlen(path) + 1, i++)
        ids[i] = content_of(recorder, path);
    r = al_snapshot_update(&recorder->dir, &recorder->add, false, err);
    path = recorder->add.buf;
    for (size_t i = 0; r == 0 && i < recorder->nids; path += strlen(path) + 1, i++) {
        const struct al_oid now = content_of(recorder, path);

        if (al_oid_is_none(&now) || !al_oid_equal(&now, &ids[i]))
            leave_out(recorder, path);
    }
    return r;
}

/* Bring the index up to date.  A file that is saved while git reads it is read again, and left out
 * if it does not come to rest. */
static int update(struct recorder *recorder, struct al_error *err)
{
    int r = al_snapshot_update(&recorder->dir, &recorder->drop, true, err);

    for (int round = 0; r == 0 && recorder->nids && round < READS_MAX; round++) {
        r = al_snapshot_update(&recorder->dir, &recorder->add, false, err);
        if (r == 0)
            keep_changed(recorder);
    }
    al_str_reset(&recorder->drop);
    if (r == 0 && recorder->nids)
        r = settle(recorder, err);
    if (r == 0)
        r = al_snapshot_update(&recorder->dir, &recorder->drop, true, err);
    return r == AL_ERR_EXECUTION ? AL_ERR_AGAIN : r;
}

/* --- Few files --- */

/* Whether what changed is so little that the checkpoint gets it without the index: it costs more to
 * bring that up to date, at 100,000 files 0.1 s. */
static bool are_few(const struct recorder *recorder)
{
    const struct al_store *store = recorder->store;

    return recorder->is_current && !recorder->files->whole && !recorder->new_rules &&
           !store->is_blocked && !recorder->drop.len && recorder->nids <= FEW_FILES &&
           recorder->bytes <= FEW_MAX_BYTES &&
           (!recorder->by_writes ||
            (*store->tree && !strcmp(recorder->reason->before, store->before)));
}

/* Read a file or the target of a link. */
static int read_content(int dir_fd, const char *name, const struct stat *st, struct al_str *bytes)
{
    char target[PATH_MAX];
    ssize_t len;

    if (!S_ISLNK(st->st_mode))
        return al_fs_read(dir_fd, name, FEW_MAX_BYTES, bytes);
    len = readlinkat(dir_fd, name, target, sizeof(target));
    if (len > 0)
        al_str_add(bytes, target, (size_t)len);
    return len < 0 ? -errno : 0;
}

/* Tell of a file as it is, or that there is none.  False: it cannot be read, or changes just now.
 */
static bool add_inline(struct recorder *recorder, const char *path)
{
    const char *name;
    al_auto(al_closep) int fd = al_nofollow_open_parent(recorder->dir.fd, path, false, &name);
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    struct stat st;
    struct al_file_id before, after;
    struct al_oid oid;

    if (fd < 0 || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        const int error = fd < 0 ? -fd : errno;

        al_import_object(&recorder->gone, 0, NULL, recorder->saved, path);
        return error == ENOENT || error == ENOTDIR;
    }
    before = al_file_id_from(&st);
    if (read_content(fd, name, &st, &bytes) < 0 || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    after = al_file_id_from(&st);
    al_import_content(&recorder->new, st.st_mode, recorder->saved, path, &bytes);
    al_oid_of(recorder->store->sha256, AL_OBJECT_BLOB, bytes.buf, bytes.len, &oid);
    (void)al_oid_set_add(&recorder->files->blobs, &oid);
    return al_file_id_equal(&before, &after);
}

/* Tell of all files that changed.  A file that goes comes first: another may be in the place of a
 * directory.  False: the index has to be brought up to date. */
static bool add_few(struct recorder *recorder)
{
    bool can = are_few(recorder);

    if (!recorder->reason) /* of a nested repository, after the files of the working tree itself */
        return false;
    for (size_t at = 0; can && at < recorder->add.len;) {
        const char *path = recorder->add.buf + at;

        can = add_inline(recorder, path);
        al_strv_add(&recorder->files->inlined, path);
        at += strlen(path) + 1;
    }
    recorder->files->is_inline = can;
    if (can)
        return true;
    al_str_reset(&recorder->gone);
    al_str_reset(&recorder->new);
    al_strv_clear(&recorder->files->inlined);
    al_oid_set_clear(&recorder->files->blobs);
    return false;
}

static int open_index(const struct al_store *store, const char *name)
{
    return openat(store->bare.dir_fd, name, INDEX_FLAGS);
}

/* Tell what the index has in another form than the one that the stream's tree was made from. */
static void add_pair(void *payload, const struct al_index_entry *last,
                     const struct al_index_entry *now)
{
    struct recorder *recorder = payload;
    const struct al_index_entry *entry = now ? now : last;
    char text[AL_OID_TEXT];

    if (last && now && last->mode == now->mode && al_oid_equal(&last->oid, &now->oid))
        return;
    al_oid_text(&entry->oid, recorder->store->sha256, text);
    al_import_object(&recorder->files->stream, now ? now->mode : 0, text, recorder->saved,
                     entry->name);
}

/* All of it without that one. */
static int add_entries(struct recorder *recorder, const char *last_name, struct al_error *err)
{
    const struct al_store *store = recorder->store;
    al_auto(al_closep) int last_fd = last_name ? open_index(store, last_name) : -1;
    al_auto(al_closep) int fd = open(recorder->dir.index, INDEX_FLAGS);
    struct al_index_scan last, now;

    al_index_begin(&last, last_fd, al_oid_bytes(store->sha256));
    al_index_begin(&now, fd, al_oid_bytes(store->sha256));
    return al_index_compare(&last, &now, add_pair, recorder)
               ? 0
               : al_error_set(err, AL_ERR_EXECUTION, "an index of the store is broken");
}

static void recorder_clear(struct recorder *recorder)
{
    al_str_clear(&recorder->add);
    al_str_clear(&recorder->drop);
    al_str_clear(&recorder->gone);
    al_str_clear(&recorder->new);
    free(recorder->ids);
}

/* A git that was killed leaves the lock of the store's own index.  Only one process records at a
 * time. */
static void remove_stale_lock(const struct recorder *recorder)
{
    al_auto(al_freep) char *lock = al_asprintf("%s.lock", recorder->dir.index);

    (void)unlink(lock);
}

/* Record what changed. */
static int record_dir(struct recorder *recorder, struct al_error *err)
{
    const struct al_strv *inlined = &recorder->store->inlined;
    int r;

    remove_stale_lock(recorder);
    r = recorder->by_writes ? take_writes(recorder, err) : list(recorder, err);
    /* A file that the index has as it is now is not listed again: its permissions come first. */
    if (r == 0 && !recorder->files->whole)
        r = al_modes_write(&recorder->files->modes, recorder->store, err);
    if (r < 0 || add_few(recorder))
        return r;
    for (size_t i = 0; r == 0 && recorder->by_writes && i < inlined->count; i++)
        r = take_path(recorder, inlined->items[i], err);
    return r < 0 ? r : update(recorder, err);
}

/* --- Nested repositories --- */

/* Record a directory with an index of its own, and tell all that is in it. */
static int record_whole(const struct recorder *above, int fd, const char *shown, const char *saved,
                        bool all, struct al_error *err)
{
    al_auto(recorder_clear) struct recorder recorder = *above;
    al_auto(al_freep) char *digest = al_git_blob_id(true, saved, strlen(saved));
    al_auto(al_freep) char *index =
        al_asprintf("%s/" NESTED_PREFIX "%.32s.index", above->store->path, digest);
    int r;

    recorder.add = recorder.drop = recorder.gone = recorder.new = AL_STR_INIT;
    recorder.ids = NULL;
    recorder.nids = 0;
    recorder.reason = NULL;
    recorder.by_writes = false;
    recorder.dir.fd = fd;
    recorder.dir.index = index;
    recorder.dir.ignores_nothing = all;
    recorder.shown = shown;
    recorder.saved = saved;
    r = record_dir(&recorder, err);
    return r < 0 ? r : add_entries(&recorder, NULL, err);
}

/* The administrative directory of a linked worktree, which goes when somebody removes that; -1: it
 * is none of this repository, or not of what is here: a copy of a worktree names it as well.
 *
 * @param ret_saved  Where a checkpoint has it.  Caller frees. */
static int open_admin(const struct recorder *above, int fd, const char *path, char **ret_saved)
{
    const struct al_location *at = &above->store->repo->at;
    al_auto(al_freep) char *top = al_fs_join(at->top, path);
    al_auto(al_freep) char *admin = al_git_read_pointer(fd, ".git", "gitdir: ", top);
    const char *below = admin ? al_fs_beneath(at->common_dir, admin) : NULL;
    al_auto(al_closep) int common_fd = -1, admin_fd = -1;
    al_auto(al_freep) char *back = NULL, *dot_git = al_fs_join(top, ".git");

    if (!below || !al_starts_with(below, "worktrees/") || !al_path_is_plain(below) ||
        al_location_open_common_dir(at, &common_fd, NULL) < 0)
        return -1;
    admin_fd = al_nofollow_open(common_fd, below, O_RDONLY | O_DIRECTORY);
    back = admin_fd < 0 ? NULL : al_git_read_pointer(admin_fd, "gitdir", "", admin);
    if (!back || strcmp(back, dot_git) != 0)
        return -1;
    *ret_saved = al_asprintf("state/%s/", below);
    return al_take_fd(&admin_fd);
}

static int record_nested(const struct recorder *above, const char *path, struct al_error *err)
{
    const struct al_strv *linked = above->reason->linked;
    al_auto(al_freep) char *whole = al_asprintf("linked%s/%s", above->store->repo->at.top, path);
    al_auto(al_closep) int fd = linked && al_strv_contains(linked, whole)
                                    ? -1
                                    : al_nofollow_open(above->dir.fd, path, O_RDONLY | O_DIRECTORY);
    al_auto(al_closep) int dot_git =
        fd < 0 ? -1 : al_nofollow_open(fd, ".git", O_RDONLY | O_DIRECTORY);
    al_auto(al_freep) char *saved = al_asprintf(AL_DIR_WORKTREE "%s/", path);
    al_auto(al_freep) char *shown = al_asprintf("%s/", path);
    al_auto(al_freep) char *shown_git = al_asprintf("%s/.git/", path);
    al_auto(al_freep) char *shown_file = al_asprintf("%s/.git", path);
    al_auto(al_freep) char *saved_git = al_files_saved_path(shown_git);
    al_auto(al_freep) char *saved_file = al_files_saved_path(shown_file);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    if (fd < 0)
        return 0;
    r = record_whole(above, fd, shown, saved, false, err);
    if (r == 0 && dot_git < 0 && al_fs_read(fd, ".git", 65536, &text) == 0) { /* it is a file */
        al_import_content(&above->files->stream, S_IFREG, "", saved_file, &text);
        free(al_take(&saved_git));
        dot_git = open_admin(above, fd, path, &saved_git);
    }
    return r < 0 || dot_git < 0 ? r : record_whole(above, dot_git, shown_git, saved_git, true, err);
}

/* --- The working tree --- */

static void add_name(void *payload, const struct al_index_entry *entry,
                     const struct al_index_entry *known)
{
    if (entry && !known && (S_ISREG(entry->mode) || S_ISLNK(entry->mode)) &&
        al_path_is_plain(entry->name))
        al_strv_add(payload, entry->name);
}

/* The names of the repository's index, those that the store's index has too if `all`; or those that
 * are ignored, if only git can read it. */
static int list_tracked(const struct recorder *recorder, bool all, struct al_strv *ret_names,
                        struct al_error *err)
{
    const struct al_store *store = recorder->store;
    al_auto(al_closep) int git_fd = -1, fd = -1;
    al_auto(al_closep) int known_fd = all ? -1 : open_index(store, INDEX_NAME);
    al_auto(al_beside_clear) struct al_beside beside = AL_BESIDE_INIT;
    struct al_index_scan index, known;
    int r = al_location_open_git_dir(&store->repo->at, &git_fd, err);

    if (r < 0)
        return r;
    fd = openat(git_fd, "index", INDEX_FLAGS);
    al_index_begin(&index, fd, al_oid_bytes(store->sha256));
    al_index_begin(&known, known_fd, al_oid_bytes(store->sha256));
    if (!al_index_compare(&index, &known, add_name, ret_names)) {
        al_strv_clear(ret_names);
        r = al_snapshot_ignored_begin(store->repo, recorder->dir.fd, true, &beside, err);
        if (r == 0)
            r = al_snapshot_ignored_end(store->repo, &beside, ret_names, err);
    }
    return r;
}

void al_files_read_index(const struct al_store *store,
                         bool (*give)(void *payload, const struct al_index_entry *entry),
                         void *payload)
{
    al_auto(al_closep) int fd = open_index(store, INDEX_NAME);

    (void)al_index_read(fd, al_oid_bytes(store->sha256), give, payload);
}

void al_files_find_new(const struct al_store *store, struct al_strv *paths, struct al_strv *ret_new)
{
    al_auto(al_closep) int fd = open_index(store, INDEX_NAME);
    struct al_index_scan known;
    struct al_index_entry entry;
    bool more;

    al_strv_sort(paths);
    al_index_begin(&known, fd, al_oid_bytes(store->sha256));
    more = al_index_next(&known, &entry);
    for (size_t i = 0; i < paths->count; i++) {
        while (more && strcmp(entry.name, paths->items[i]) < 0)
            more = al_index_next(&known, &entry);
        if (!more || strcmp(entry.name, paths->items[i]) != 0)
            al_strv_add(ret_new, paths->items[i]);
    }
    (void)al_index_end(&known);
}

/* Files that the ignore rules match are recorded if they are tracked: those of the repository's
 * index that the store's index lacks. */
static int take_tracked(struct recorder *recorder, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv tracked = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    struct stat st;
    int r = list_tracked(recorder, false, &tracked, err);

    if (r == 0 && tracked.count)
        al_files_find_new(recorder->store, &tracked, &found);
    for (size_t i = 0; r == 0 && i < found.count; i++)
        if (look(recorder, found.items[i], &st) == KIND_FILE)
            r = take_path(recorder, found.items[i], err);
    return r;
}

static int add_word(void *payload, const char *path, struct al_error *err)
{
    (void)err;
    al_strv_add(payload, path);
    return 0;
}

/* Files that are ignored since they were recorded, and not tracked, are not recorded any more. */
static int drop_ignored(struct recorder *recorder, struct al_error *err)
{
    const struct al_strv *include = recorder->store->settings->include_ignored;
    al_auto(al_strv_clear) struct al_strv ignored = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv tracked = AL_STRV_INIT;
    int r = al_snapshot_list_ignored(&recorder->dir, true, add_word, &ignored, err);

    if (r == 0 && ignored.count)
        r = list_tracked(recorder, true, &tracked, err);
    al_strv_sort(&tracked);
    for (size_t i = 0; r == 0 && i < ignored.count; i++)
        if (!(tracked.count && al_strv_contains_sorted(&tracked, ignored.items[i])) &&
            !is_included(include, ignored.items[i]))
            al_str_add(&recorder->drop, ignored.items[i], strlen(ignored.items[i]) + 1);
    return r < 0 ? r : al_snapshot_update(&recorder->dir, &recorder->drop, true, err);
}

/* The ignore rules of the repository are those of the store as well. */
static int copy_excludes(struct recorder *recorder, struct al_error *err)
{
    const struct al_store *store = recorder->store;
    al_auto(al_str_clear) struct al_str ours = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str theirs = AL_STR_INIT;
    al_auto(al_closep) int common = -1;
    int r = al_location_open_common_dir(&store->repo->at, &common, err);

    if (r < 0)
        return r;
    (void)al_fs_read(common, "info/exclude", EXCLUDE_MAX_BYTES, &theirs);
    (void)al_fs_read(store->bare.dir_fd, "info/exclude", EXCLUDE_MAX_BYTES, &ours);
    if (ours.len == theirs.len && !memcmp(ours.buf, theirs.buf, ours.len))
        return 0;
    recorder->new_rules = true;
    r = al_fs_write_atomic(store->bare.dir_fd, "info/exclude", theirs.buf, theirs.len, 0600, true);
    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

/* The name of the index that a tree was made from.  It is another name of the same file, which git
 * replaces and never writes to. */
static char *last_name(const char *tree)
{
    return al_asprintf(LAST_PREFIX "%s.index", tree);
}

/* Note that this index has what a tree has, unless another process has recorded more. */
static void note_last(const struct al_store *store, const struct al_file_id *index,
                      const char *tree)
{
    al_auto(al_freep) char *name = last_name(tree);
    const int dir_fd = store->bare.dir_fd;
    struct al_file_id linked;

    (void)unlinkat(dir_fd, name, 0);
    if (linkat(dir_fd, INDEX_NAME, dir_fd, name, 0) < 0)
        return;
    linked = al_file_id_at(dir_fd, name);
    if (linked.ino != index->ino || linked.mtime_ns != index->mtime_ns)
        (void)unlinkat(dir_fd, name, 0);
}

/* Begin with HEAD's commit: files that are as it has them are read, and not recorded once more.
 * They are copied, so that the store is whole without the repository; those that a partial clone
 * lacks stay missing, and all of them if there is no time for it. */
static int begin(struct recorder *recorder, struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&recorder->store->repo->at);
    char tree[AL_OID_TEXT] = "";
    int r;

    remove_stale_lock(recorder);
    if (!head || !*head)
        return 0;
    r = al_snapshot_begin(&recorder->dir, head, err);
    if (r == 0)
        r = al_bare_index_tree(&recorder->dir.at, recorder->dir.index, false, tree, err);
    if (r == AL_ERR_EXECUTION) { /* a commit that cannot be read only makes it slower */
        al_error_clear(err);
        (void)unlink(recorder->dir.index);
        return 0;
    }
    if (r == 0 && strcmp(tree, al_git_empty_tree(recorder->store->repo)) != 0 &&
        al_store_take_id(recorder->store, tree, recorder->files->last)) {
        const struct al_file_id index = al_file_id_at(recorder->store->bare.dir_fd, INDEX_NAME);

        note_last(recorder->store, &index, tree);
    }
    return r;
}

/* An entry of an index that began with a commit.  A submodule is one entry there; what is recorded
 * are its files. */
static bool take_first(void *payload, const struct al_index_entry *entry)
{
    struct recorder *recorder = payload;
    struct stat st;

    if (entry->mode == MODE_GITLINK) {
        if (!al_strv_contains(recorder->nested, entry->name))
            al_strv_add(recorder->nested, entry->name);
        al_str_add(recorder->links, entry->name, strlen(entry->name) + 1);
    } else if (fstatat(recorder->dir.fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        al_modes_set(&recorder->files->modes, entry->name, st.st_mode);
    }
    return true;
}

static bool is_current(const struct recorder *recorder)
{
    const int dir_fd = recorder->store->bare.dir_fd;
    al_auto(al_freep) char *name = last_name(recorder->files->last);
    const struct al_file_id last = al_file_id_at(dir_fd, name);
    const struct al_file_id index = al_file_id_at(dir_fd, INDEX_NAME);

    return last.exists && al_file_id_equal(&last, &index);
}

/* Tell what differs from the last checkpoint, whose tree the stream begins with. */
static int add_changes(struct recorder *recorder, struct al_error *err)
{
    const struct al_store *store = recorder->store;
    const bool goes_on = recorder->files->is_inline && recorder->by_writes;
    const char *tree = goes_on ? store->tree : recorder->files->last;
    al_auto(al_freep) char *name = last_name(tree);
    const struct al_file_id last = al_file_id_at(store->bare.dir_fd, name);
    int r = 0;

    recorder->files->index = al_file_id_at(store->bare.dir_fd, INDEX_NAME);
    if (last.exists || goes_on)
        al_str_addf(&recorder->files->stream, "M 040000 %s \"worktree\"\n", tree);
    if (!goes_on && (!last.exists || !al_file_id_equal(&last, &recorder->files->index)))
        r = add_entries(recorder, name, err);
    al_str_add(&recorder->files->stream, recorder->gone.buf, recorder->gone.len);
    al_str_add(&recorder->files->stream, recorder->new.buf, recorder->new.len);
    /* The answer is what the next one begins with. */
    al_str_adds(&recorder->files->stream, "ls \"worktree\"\n");
    return r;
}

static int record_top(struct recorder *recorder, struct al_error *err)
{
    struct al_store *store = recorder->store;
    struct al_files *files = recorder->files;
    int r = copy_excludes(recorder, err);

    /* Nothing holds what was recorded before: a clean-up may have removed it. */
    if (al_store_read_ref(store, AL_REF_FILES, files->last, NULL) < 0)
        al_files_forget(store);
    files->whole = !*files->last || access(recorder->dir.index, F_OK) < 0;
    recorder->is_current = is_current(recorder);
    store->has_listed &= !files->whole;
    if (r == 0 && files->whole)
        r = begin(recorder, err);
    else if (r == 0)
        al_modes_read(&files->modes, store);
    recorder->by_writes = looks_at_writes(recorder);
    if (r == 0 && !recorder->by_writes)
        r = take_tracked(recorder, err);
    if (r == 0)
        r = record_dir(recorder, err);
    if (r == 0) { /* the checkpoint after may not list the tree */
        al_strv_clear(&recorder->store->nested);
        al_strv_add_all(&recorder->store->nested, recorder->nested);
        recorder->store->has_listed = true;
    }
    if (r == 0 && files->whole) {
        al_files_read_index(recorder->store, take_first, recorder);
        r = al_snapshot_update(&recorder->dir, recorder->links, true, err);
    } else if (r == 0 && recorder->new_rules) {
        r = drop_ignored(recorder, err);
    }
    if (r == 0)
        r = add_changes(recorder, err);
    for (size_t i = 0; r == 0 && i < recorder->nested->count; i++)
        r = record_nested(recorder, recorder->nested->items[i], err);
    return r < 0 ? r : al_modes_write(&files->modes, store, err);
}

int al_files_record(struct al_store *store, int top_fd, const struct al_checkpoint_reason *reason,
                    struct al_files *files, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv nested = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str links = AL_STR_INIT;
    al_auto(al_freep) char *index = al_fs_join(store->path, INDEX_NAME);
    al_auto(recorder_clear) struct recorder recorder = {
        .store = store,
        .files = files,
        .dir = { .at = store->bare,
                 .fd = top_fd,
                 .index = index,
                 .excludes = store->repo->vetting->excludes_path },
        .shown = "",
        .saved = AL_DIR_WORKTREE,
        .add = AL_STR_INIT,
        .drop = AL_STR_INIT,
        .gone = AL_STR_INIT,
        .new = AL_STR_INIT,
        .nested = &nested,
        .reason = reason,
        .links = &links,
    };
    al_auto(al_closep) int lock_fd =
        openat(store->dir_fd, "files.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = lock_fd < 0 ? al_store_unusable(store, errno, err)
                        : al_store_wait(store, lock_fd, LOCK_EX, store->repo->at.budget, err);

    return r < 0 ? r : record_top(&recorder, err);
}

int al_files_accept(struct al_store *store, struct al_files *files, const char *tree,
                    struct al_error *err)
{
    al_auto(al_freep) char *name = last_name(tree);
    al_auto(al_freep) char *line = al_asprintf("%s\n", tree);
    const struct al_strv inlined = store->inlined;
    const struct al_oid_set blobs = store->blobs;
    int r;

    (void)snprintf(store->tree, sizeof(store->tree), "%s", tree);
    store->inlined = files->inlined;
    store->blobs = files->blobs;
    files->inlined = inlined;
    files->blobs = blobs;
    if (files->is_inline)
        return 0;
    if (!*tree) {
        (void)unlinkat(store->bare.dir_fd, AL_REF_FILES, 0);
        return 0;
    }
    note_last(store, &files->index, tree);
    al_store_remove(store, ".", LAST_PREFIX, name);
    r = al_fs_write_atomic(store->bare.dir_fd, AL_REF_FILES, line, strlen(line), 0600, true);
    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

void al_files_forget(const struct al_store *store)
{
    al_store_remove(store, ".", NESTED_PREFIX, "");
    al_store_remove(store, ".", LAST_PREFIX, "");
    (void)unlinkat(store->bare.dir_fd, INDEX_NAME, 0);
    (void)unlinkat(store->bare.dir_fd, AL_REF_FILES, 0);
}
