// SPDX-License-Identifier: Apache-2.0
/* An index is read and never mapped, since the file may shrink.  Names and ids are passed on
 * unchecked. */
#include "git/plumbing/index_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/git_lock.h"
#include "git/oid.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "guard/nofollow.h"

#define NAME_MAX_BYTES  ((size_t)32 * 1024)
#define INDEX_MAX_BYTES ((size_t)1 << 30)

#define HEADER_BYTES    12
#define STAT_BYTES      40 /* ctime, mtime, dev, ino, mode, uid, gid, size */

#define NAME_MASK       0x0fffu
#define EXTENDED        0x4000u
#define ASSUME_VALID    0x8000u
#define STAGE_SHIFT     12
#define SKIP_WORKTREE   0x4000u /* of the extended flags */
#define INTENT_TO_ADD   0x2000u

static uint32_t number(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Consume `n` bytes; NULL when there are fewer. */
static const unsigned char *take(struct al_index_scan *in, size_t n)
{
    const unsigned char *bytes = in->data + in->at;

    if (in->len - in->at < n)
        return NULL;
    in->at += n;
    return bytes;
}

/* Append the bytes before the next NUL to the name, and consume both. */
static bool take_string(struct al_index_scan *in)
{
    const unsigned char *begin = in->data + in->at;
    const unsigned char *end = memchr(begin, '\0', in->len - in->at);
    size_t len = end ? (size_t)(end - begin) : 0;

    if (!end || in->name.len + len > NAME_MAX_BYTES)
        return false;
    al_str_add(&in->name, begin, len);
    return take(in, len + 1);
}

/* Version 4: the number of bytes to drop from the previous name, then the rest of the new one. */
static bool take_compressed_name(struct al_index_scan *in)
{
    uint64_t gone = 0;
    const unsigned char *c = take(in, 1);

    for (; c && (*c & 0x80); c = take(in, 1)) {
        if (gone > NAME_MAX_BYTES)
            return false;
        gone = ((gone | (*c & 0x7fu)) + 1) << 7;
    }
    if (!c || (gone |= *c) > in->name.len)
        return false;
    al_str_truncate(&in->name, in->name.len - (size_t)gone);
    return take_string(in);
}

/* Up to version 3, one to eight NULs pad an entry to a multiple of eight bytes.  The flags have the
 * length of the name, if there is room. */
static const char *take_padded_name(struct al_index_scan *in, size_t fixed, size_t told)
{
    const char *name = (const char *)in->data + in->at;
    const size_t len = strnlen(name, in->len - in->at);
    const bool fits = told < NAME_MASK ? len == told : len >= NAME_MASK && len <= NAME_MAX_BYTES;

    return fits && take(in, ((fixed + len + 8) & ~(size_t)7) - fixed) ? name : NULL;
}

static bool is_known_mode(uint32_t mode)
{
    uint32_t type = mode & 0170000u;

    return type == 0100000u || type == 0120000u || type == 0160000u || type == 0040000u;
}

static bool take_entry(struct al_index_scan *in, struct al_index_entry *ret_entry)
{
    size_t fixed = STAT_BYTES + in->oid_bytes + 2;
    const unsigned char *at = take(in, fixed);
    uint32_t flags, extended = 0;

    if (!at)
        return false;
    flags = (uint32_t)at[fixed - 2] << 8 | at[fixed - 1];
    *ret_entry = (struct al_index_entry){
        .changed_s = number(at),
        .mode = number(at + 24),
        .stage = flags >> STAGE_SHIFT & 3u,
        .assume_unchanged = flags & ASSUME_VALID,
    };
    memcpy(ret_entry->oid.bytes, at + STAT_BYTES, in->oid_bytes);
    if (flags & EXTENDED) {
        at = in->version > 2 ? take(in, 2) : NULL;
        if (!at)
            return false;
        extended = (uint32_t)at[0] << 8 | at[1];
        fixed += 2;
    }
    ret_entry->skip_worktree = extended & SKIP_WORKTREE;
    ret_entry->intent_to_add = extended & INTENT_TO_ADD;
    if (in->version != 4)
        ret_entry->name = take_padded_name(in, fixed, flags & NAME_MASK);
    else if (take_compressed_name(in))
        ret_entry->name = in->name.buf;
    return ret_entry->name && is_known_mode(ret_entry->mode);
}

/* The extensions tell a split index (entries in another file) and a sparse one (directories as
 * entries). */
static enum al_index_end read_extensions(struct al_index_scan *in)
{
    enum al_index_end end = AL_INDEX_WHOLE;

    while (in->len - in->at > in->oid_bytes) {
        const unsigned char *header = take(in, 8);

        if (!header)
            return AL_INDEX_NOT_UNDERSTOOD;
        if (!memcmp(header, "link", 4) || !memcmp(header, "sdir", 4))
            end = AL_INDEX_PARTIAL;
        if (!take(in, number(header + 4)))
            return AL_INDEX_NOT_UNDERSTOOD;
    }
    return in->len - in->at == in->oid_bytes ? end : AL_INDEX_NOT_UNDERSTOOD;
}

static bool take_header(struct al_index_scan *in)
{
    const unsigned char *header = take(in, HEADER_BYTES);

    if (!header || memcmp(header, "DIRC", 4) != 0)
        return false;
    in->version = number(header + 4);
    in->entries = number(header + 8);
    return in->version >= 2 && in->version <= 4;
}

void al_index_begin_bytes(struct al_index_scan *in, const void *data, size_t len, size_t oid_bytes)
{
    *in = (struct al_index_scan){
        .data = data, .len = len, .oid_bytes = oid_bytes, .file = AL_STR_INIT, .name = AL_STR_INIT
    };
    in->failed = data && !take_header(in);
}

void al_index_begin(struct al_index_scan *in, int fd, size_t oid_bytes)
{
    struct al_str file = AL_STR_INIT;
    const int r = fd < 0 ? 0 : al_fs_read_fd(fd, INDEX_MAX_BYTES, &file);

    al_index_begin_bytes(in, fd < 0 ? NULL : file.buf, file.len, oid_bytes);
    in->failed |= r < 0;
    in->file = file;
}

bool al_index_next(struct al_index_scan *in, struct al_index_entry *ret_entry)
{
    if (in->failed || !in->entries)
        return false;
    in->entries--;
    in->failed = !take_entry(in, ret_entry);
    return !in->failed;
}

enum al_index_end al_index_end(struct al_index_scan *in)
{
    const enum al_index_end end = in->failed    ? AL_INDEX_NOT_UNDERSTOOD
                                  : in->entries ? AL_INDEX_STOPPED
                                  : in->data    ? read_extensions(in)
                                                : AL_INDEX_WHOLE;

    al_str_clear(&in->name);
    al_str_clear(&in->file);
    return end;
}

enum al_index_end al_index_read(int fd, size_t oid_bytes,
                                bool (*give)(void *payload, const struct al_index_entry *entry),
                                void *payload)
{
    struct al_index_scan in;
    struct al_index_entry entry;

    al_index_begin(&in, fd, oid_bytes);
    while (al_index_next(&in, &entry))
        if (!give(payload, &entry)) {
            (void)al_index_end(&in);
            return AL_INDEX_STOPPED;
        }
    return al_index_end(&in);
}

bool al_index_compare(struct al_index_scan *one, struct al_index_scan *other,
                      al_index_pair_fn *give, void *payload)
{
    struct al_index_entry a, b;
    bool has_a = al_index_next(one, &a), has_b = al_index_next(other, &b), whole;

    while (has_a || has_b) {
        const int order = !has_a ? 1 : !has_b ? -1 : strcmp(a.name, b.name);

        give(payload, order <= 0 ? &a : NULL, order >= 0 ? &b : NULL);
        has_a = order <= 0 ? al_index_next(one, &a) : has_a;
        has_b = order >= 0 ? al_index_next(other, &b) : has_b;
    }
    whole = al_index_end(one) == AL_INDEX_WHOLE;
    return al_index_end(other) == AL_INDEX_WHOLE && whole;
}

static void digest_entry(struct al_hash *hash, const struct al_index_entry *entry)
{
    const char tag = entry->stage ? 'M' : entry->skip_worktree ? 'S' : 'H';
    char words[] = "T 000000 ", text[AL_OID_TEXT], stage[] = " 0\t";

    /* snprintf(3) takes four times as long, 30 ms at 100,000 entries */
    words[0] = (char)(entry->assume_unchanged ? tag + ('a' - 'A') : tag);
    for (unsigned i = 0, mode = entry->mode; i < 6; i++, mode >>= 3)
        words[7 - i] = (char)('0' + (mode & 7));
    stage[1] = (char)('0' + entry->stage);
    al_oid_text(&entry->oid, hash->sha256, text);
    al_hash_add(hash, words, sizeof(words) - 1);
    al_hash_add(hash, text, strlen(text));
    al_hash_add(hash, stage, sizeof(stage) - 1);
    al_hash_add(hash, entry->name, strlen(entry->name) + 1);
    if (entry->intent_to_add) /* which git does not print */
        al_hash_add(hash, "", 1);
}

void al_index_digest(const struct al_str *index, bool sha256, char ret_digest[AL_OID_TEXT])
{
    struct al_index_scan in;
    struct al_index_entry entry;
    struct al_hash hash;

    al_hash_init(&hash, sha256);
    al_index_begin_bytes(&in, index->buf, index->len, al_oid_bytes(sha256));
    while (al_index_next(&in, &entry))
        digest_entry(&hash, &entry);
    (void)al_index_end(&in);
    al_hash_text(&hash, ret_digest);
}

/* --- Facts about all entries --- */

/* An entry for a directory of a sparse index may stand for gitlinks. */
static bool note_entry(void *payload, const struct al_index_entry *entry)
{
    struct al_index_facts *facts = payload;

    facts->marks |= entry->assume_unchanged || entry->skip_worktree;
    facts->gitlinks |= entry->mode == 0160000u || entry->mode == 0040000u;
    facts->conflicts |= entry->stage != 0;
    facts->attributes |= al_ends_with(entry->name, ".gitattributes") || entry->mode == 0040000u;
    return true;
}

struct al_index_facts al_repo_index_facts(const struct al_location *at)
{
    static const struct al_index_facts all = { true, true, true, true };
    al_auto(al_freep) char *path = al_fs_join(at->git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct al_index_facts facts = { .marks = false };
    enum al_index_end end;

    if (fd < 0)
        return errno == ENOENT ? facts : all;
    end = al_index_read(fd, al_oid_bytes(false), note_entry, &facts);
    if (end == AL_INDEX_NOT_UNDERSTOOD) { /* only one length of ids fits the whole file */
        facts = (struct al_index_facts){ .marks = false };
        end = al_index_read(fd, al_oid_bytes(true), note_entry, &facts);
    }
    return end == AL_INDEX_WHOLE ? facts : all;
}

/* --- Copies and the lock of an index --- */

#define LOCK         "index.lock"
#define ATTEMPTS_MAX 16

/* git compares files again whose time is not before the index's.  A copy with a later time would
 * make it believe entries that it must look at. */
static int copy_with_time(int from, int to)
{
    struct stat st;
    int r = al_fs_copy(from, to, UINT64_MAX);

    if (r < 0)
        return r;
    return fstat(from, &st) < 0 ||
                   futimens(to, (const struct timespec[]){ st.st_mtim, st.st_mtim }) < 0
               ? -errno
               : 0;
}

static int copy_file(int from, const char *path)
{
    al_auto(al_closep) int to = -1;
    struct stat st;

    if (from == -ENOENT) /* the index of a new repository: git begins an empty one */
        return 0;
    if (from < 0)
        return from;
    if (fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
        return -EINVAL;
    to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return to < 0 ? -errno : copy_with_time(from, to);
}

int al_scratch_index_make(const struct al_repo *repo, const char *from, char **ret_path,
                          struct al_error *err)
{
    al_auto(al_scratch_index_removep) char *path = al_git_private_name(repo->at.git, "index");
    al_auto(al_closep) int git_dir = -1, fd = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, err);

    if (r < 0)
        return r;
    fd = from ? open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
              : al_nofollow_open(git_dir, "index", O_RDONLY);
    r = copy_file(from && fd < 0 ? -errno : fd, path);
    if (r < 0)
        return al_error_errno(err, -r, "cannot copy the index");
    *ret_path = al_take(&path);
    return 0;
}

static bool is_ours(const struct al_index_lock *lock)
{
    struct stat held, there;

    return lock->fd >= 0 && fstat(lock->fd, &held) == 0 &&
           fstatat(lock->git_dir, LOCK, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

static void forget(struct al_index_lock *lock)
{
    al_closep(&lock->fd);
    al_closep(&lock->git_dir);
}

void al_index_lock_release(struct al_index_lock *lock)
{
    if (is_ours(lock))
        (void)unlinkat(lock->git_dir, LOCK, 0);
    forget(lock);
}

int al_index_lock_take(const struct al_repo *repo, struct al_index_lock *ret_lock,
                       struct al_error *err)
{
    al_auto(al_index_lock_release) struct al_index_lock lock = AL_INDEX_LOCK_INIT;
    int r = al_location_open_git_dir(&repo->at, &lock.git_dir, err);

    for (int attempt = 0; r == 0; attempt++) {
        lock.fd =
            openat(lock.git_dir, LOCK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (lock.fd >= 0)
            break;
        if (errno != EEXIST || attempt == ATTEMPTS_MAX)
            return al_error_errno(err, errno, "cannot lock the index");
        r = al_git_lock_wait(&repo->at, AL_LOCK_INDEX, repo->at.budget, err);
    }
    if (r < 0)
        return r;
    *ret_lock = lock;
    lock = AL_INDEX_LOCK_INIT;
    return 0;
}

/* The mode stays what it is: a repository may be shared. */
static int fill(const struct al_index_lock *lock, int from)
{
    struct stat st;

    if (fstatat(lock->git_dir, "index", &st, AT_SYMLINK_NOFOLLOW) == 0)
        (void)fchmod(lock->fd, st.st_mode & 0777);
    return copy_with_time(from, lock->fd);
}

int al_index_lock_write(struct al_index_lock *lock, const char *path, struct al_error *err)
{
    al_auto(al_closep) int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int r = from < 0 ? -errno : fill(lock, from);

    return r < 0 ? al_error_errno(err, -r, "cannot write the index") : 0;
}

int al_index_lock_install(struct al_index_lock *lock, struct al_error *err)
{
    int r = is_ours(lock) ? 0 : -ESTALE;

    if (r == 0 && renameat(lock->git_dir, LOCK, lock->git_dir, "index") < 0)
        r = -errno;
    if (r < 0)
        return al_error_errno(err, -r, "cannot replace the index");
    forget(lock);
    return 0;
}

void al_scratch_index_removep(char **path)
{
    if (*path)
        (void)unlink(*path);
    free(*path);
}

int al_index_read_tree(const struct al_repo *repo, const char *index, const char *const *words,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.index = index;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "read-tree", NULL);
    while (*words)
        al_strv_add(&command.argv, *words++);
    return al_git_write(&repo->at, &command, AL_LOCK_INDEX, err);
}

int al_index_update(const struct al_repo *repo, int top_fd, const char *index, const char *option,
                    const struct al_str *input, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!input->len)
        return 0;
    command.index = index;
    command.cwd_fd = top_fd;
    al_git_command_feed(&command, input);
    al_strv_add(&command.argv, "git");
    if (!top_fd)
        al_strv_adds(&command.argv, "-C", repo->at.top, NULL);
    al_strv_adds(&command.argv, "update-index", "-z", option, NULL);
    if (strcmp(option, "--index-info") != 0)
        al_strv_add(&command.argv, "--stdin");
    return al_git_write(&repo->at, &command, 0, err);
}
