// SPDX-License-Identifier: Apache-2.0
#include "gitops/submodule/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/oid.h"
#include "gitops/plumbing/index_scan.h"
#include "gitops/plumbing/nested.h"
#include "gitops/submodule/submodules.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define TYPE_GITLINK         0160000u
#define TYPE_LINK            0120000u
#define ATTRIBUTES           ".gitattributes"
#define ATTRIBUTES_MAX_BYTES (64u << 10)
#define ENTRIES_PER_CLOCK    256

static const char unreadable[] = "a file in it cannot be read";
static const char too_big[] = "too much of it would have to be compared";
static const char converted[] = "what its files are is for a filter to say";
static const char unknown_index[] = "its index cannot be read";

struct comparison {
    struct al_submodule_scan *scan;
    struct timespec index_time;
    char *parent;  /* the directory of the previous entry */
    int parent_fd; /* that directory, open, or -errno */
    bool differs;  /* the content of a file differs from what was staged */
    bool converts; /* attributes may convert content, which could explain `differs` */
};

/* The directory of an entry, open.  Consecutive entries are usually in the same one. */
static int parent_of(struct comparison *c, const char *name, const char **ret_base)
{
    const char *slash = strrchr(name, '/');
    size_t len = slash ? (size_t)(slash - name) : 0;

    *ret_base = slash ? slash + 1 : name;
    if (c->parent && strlen(c->parent) == len && !memcmp(c->parent, name, len))
        return c->parent_fd;
    free(c->parent);
    al_close(c->parent_fd);
    c->parent = al_strndup(name, len);
    c->parent_fd = al_nofollow_open(c->scan->top, c->parent, O_PATH | O_DIRECTORY);
    return c->parent_fd;
}

/* Whether `error` means that the file does not exist, as opposed to cannot be read. */
static bool is_gone(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

static bool same_time(const struct timespec *time, uint32_t s, uint32_t ns)
{
    return (uint32_t)time->tv_sec == s && (!ns || (uint32_t)time->tv_nsec == ns);
}

/* A file that was changed when the index was written, or later, may still have the same stat. */
static bool is_racy(const struct comparison *c, const struct al_index_entry *entry)
{
    uint32_t s = (uint32_t)c->index_time.tv_sec;

    if (s != entry->mtime_s || !entry->mtime_ns)
        return s <= entry->mtime_s;
    return (uint32_t)c->index_time.tv_nsec <= entry->mtime_ns;
}

static bool looks_the_same(const struct comparison *c, const struct stat *st,
                           const struct al_index_entry *entry)
{
    return (uint32_t)st->st_size == entry->size && (uint32_t)st->st_ino == entry->ino &&
           same_time(&st->st_mtim, entry->mtime_s, entry->mtime_ns) &&
           same_time(&st->st_ctim, entry->ctime_s, entry->ctime_ns) && !is_racy(c, entry);
}

/* A chmod changes the ctime; a file system without modes changes neither. */
static bool is_of_another_type(const struct stat *st, const struct al_index_entry *entry)
{
    if ((entry->mode & 0170000u) == TYPE_LINK)
        return !S_ISLNK(st->st_mode);
    if (!S_ISREG(st->st_mode))
        return true;
    return !(st->st_mode & S_IXUSR) != !(entry->mode & S_IXUSR) &&
           !same_time(&st->st_ctim, entry->ctime_s, entry->ctime_ns);
}

static bool has_id(const struct comparison *c, const struct al_index_entry *entry, const char *data,
                   size_t len)
{
    const bool sha256 = c->scan->repo->vetting->is_sha256;
    al_auto(al_freep) char *id = al_git_blob_id(sha256, data, len);
    char text[65];

    for (size_t i = 0; i < (sha256 ? 32u : 20u); i++)
        (void)snprintf(text + 2 * i, 3, "%02x", entry->oid[i]);
    return !strcmp(id, text);
}

/* Compare again with LF line ends, which git stores if it converts line ends. */
static bool has_id_with_lf(const struct comparison *c, const struct al_index_entry *entry,
                           const struct al_str *content)
{
    al_auto(al_str_clear) struct al_str lf = AL_STR_INIT;

    for (size_t i = 0; i < content->len; i++)
        if (content->buf[i] != '\r' || i + 1 == content->len || content->buf[i + 1] != '\n')
            al_str_addc(&lf, content->buf[i]);
    return lf.len != content->len && has_id(c, entry, lf.buf, lf.len);
}

static void compare_link(struct comparison *c, const struct al_index_entry *entry, int parent,
                         const char *base)
{
    char target[PATH_MAX];
    ssize_t len = readlinkat(parent, base, target, sizeof(target));

    if (len < 0)
        c->scan->unseen = unreadable;
    else if (!has_id(c, entry, target, (size_t)len))
        c->scan->content |= AL_MODIFIED_CONTENT;
}

static void compare_content(struct comparison *c, const struct al_index_entry *entry, int parent,
                            const char *base, uint64_t size)
{
    struct al_submodule_scan *scan = c->scan;
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;
    int r;

    if (size > scan->bounds->bytes) {
        scan->unseen = too_big;
        return;
    }
    scan->bounds->bytes -= size;
    fd = al_nofollow_open(parent, base, O_RDONLY);
    r = fd < 0 ? fd : al_fs_read_fd(fd, AL_SUBMODULE_HASHED_MAX, &content);
    if (r < 0)
        scan->unseen = unreadable;
    else if (!has_id(c, entry, content.buf, content.len) && !has_id_with_lf(c, entry, &content))
        c->differs = true;
}

static void compare_file(struct comparison *c, const struct al_index_entry *entry)
{
    struct al_submodule_scan *scan = c->scan;
    const char *base;
    int parent = parent_of(c, entry->name, &base), error = parent < 0 ? -parent : 0;
    struct stat st;

    if (!error && fstatat(parent, base, &st, AT_SYMLINK_NOFOLLOW) < 0)
        error = errno;
    if (is_gone(error))
        scan->content |= entry->skip_worktree ? 0 : AL_MODIFIED_CONTENT;
    else if (error)
        scan->unseen = unreadable;
    else if (looks_the_same(c, &st, entry))
        return;
    else if (is_of_another_type(&st, entry) || (entry->size && entry->size != (uint32_t)st.st_size))
        scan->content |= AL_MODIFIED_CONTENT;
    else if (S_ISLNK(st.st_mode))
        compare_link(c, entry, parent, base);
    else
        compare_content(c, entry, parent, base, (uint64_t)st.st_size);
}

/* A submodule of the submodule: another commit is modified content; its own content is scanned
 * later. */
static void compare_gitlink(struct comparison *c, const struct al_index_entry *entry)
{
    struct al_submodule_scan *scan = c->scan;
    al_auto(al_freep) char *path = al_asprintf("%s/%s", scan->path, entry->name);
    al_auto(al_freep) char *abs = al_fs_join(scan->repo->at.top, path);
    al_auto(al_freep) char *head = NULL;
    al_auto(al_closep) int fd = al_nofollow_open(scan->top, entry->name, O_PATH | O_DIRECTORY);
    char text[65];

    if (fd < 0) {
        scan->content |= is_gone(-fd) && !entry->skip_worktree ? AL_MODIFIED_CONTENT : 0;
        return;
    }
    head = al_git_nested_head(&scan->repo->at, abs);
    for (size_t i = 0; i < (scan->repo->vetting->is_sha256 ? 32u : 20u); i++)
        (void)snprintf(text + 2 * i, 3, "%02x", entry->oid[i]);
    if (head && *head && strcmp(head, text) != 0)
        scan->content |= AL_MODIFIED_CONTENT;
    al_strv_take(scan->nested, al_take(&path));
}

/* Whether an attributes file may convert content, other than line ends. */
static bool may_convert(int dir_fd, const char *name)
{
    static const char *const words[] = { "filter", "ident", "working-tree-encoding" };
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, name, O_RDONLY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (fd < 0)
        return fd != -ENOENT;
    if (al_fs_read_fd(fd, ATTRIBUTES_MAX_BYTES, &text) < 0)
        return true;
    for (size_t i = 0; i < AL_COUNT(words); i++)
        if (strstr(text.buf, words[i]))
            return true;
    return false;
}

static bool take_entry(void *payload, const struct al_index_entry *entry)
{
    struct comparison *c = payload;
    struct al_submodule_scan *scan = c->scan;

    if (!scan->bounds->entries) {
        scan->unseen = al_scan_too_many;
        return false;
    }
    if (--scan->bounds->entries % ENTRIES_PER_CLOCK == 0 && !al_scan_has_time(scan))
        return false;
    al_strv_add(&scan->names, entry->name);
    if (al_ends_with(entry->name, ATTRIBUTES) && !c->converts)
        c->converts = may_convert(scan->top, entry->name);
    if (entry->stage || entry->intent_to_add)
        scan->content |= AL_MODIFIED_CONTENT;
    else if ((entry->mode & 0170000u) == TYPE_GITLINK)
        compare_gitlink(c, entry);
    else if (!(scan->content & AL_MODIFIED_CONTENT))
        compare_file(c, entry);
    return true;
}

void al_scan_files(struct al_submodule_scan *scan, int index_fd)
{
    struct comparison c = { .scan = scan, .parent_fd = -1 };
    enum al_index_end end;
    struct stat st;

    if (fstat(index_fd, &st) == 0)
        c.index_time = st.st_mtim;
    c.converts = may_convert(scan->common, "info/attributes");
    end = al_index_read(index_fd, scan->repo->vetting->is_sha256 ? 32 : 20, take_entry, &c);
    if (end == AL_INDEX_NOT_UNDERSTOOD || end == AL_INDEX_SPLIT || end == AL_INDEX_SPARSE) {
        scan->content = 0; /* entries read so far are invalid */
        c.differs = false;
        scan->unseen = unknown_index;
    }
    if (c.differs && !c.converts)
        scan->content |= AL_MODIFIED_CONTENT;
    else if (c.differs && !scan->unseen && !(scan->content & AL_MODIFIED_CONTENT))
        scan->unseen = converted;
    free(c.parent);
    al_close(c.parent_fd);
}
