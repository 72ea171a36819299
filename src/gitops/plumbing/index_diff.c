// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/index_diff.h"

#include <endian.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/deadline.h"
#include "gitops/location.h"
#include "gitops/plumbing/index_places.h"
#include "gitops/plumbing/tree_diff.h"
#include "gitops/refs.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define RECORD_AT    9u  /* after "TREE", the size and a NUL */
#define RECORD_BYTES 80u /* of a first record, and its NUL */
#define MODE_LINK    0120000u
#define MODE_GITLINK 0160000u

/** An entry of the index. */
struct entry {
    char *name;
    unsigned mode;
    struct al_oid oid;
    bool same; /* the commit has it, too */
};

/** What is compared. */
struct index_diff {
    bool sha256, has_filters;
    size_t nread;       /* files */
    int top_fd, dir_fd; /* the directory of the last entry, which is `dir` */
    struct al_str dir;
    struct stat index;
    struct entry *entries; /* sorted by name */
    size_t count, capacity;
    const struct al_strv *below;  /* only what is at or below these paths; NULL: all */
    struct al_deadline *deadline; /* NULL: the entries are few, and kept for the commit */
    struct al_strv names;         /* that differ */
};

static void index_diff_clear(struct index_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++)
        free(diff->entries[i].name);
    free(diff->entries);
    al_strv_clear(&diff->names);
    al_str_clear(&diff->dir);
    al_close(diff->dir_fd);
    al_close(diff->top_fd);
}

static bool is_before(uint32_t a_s, uint32_t a_ns, const struct timespec *b)
{
    return a_s < (uint32_t)b->tv_sec || (a_s == (uint32_t)b->tv_sec && a_ns < (uint32_t)b->tv_nsec);
}

bool al_index_entry_has_mode(const struct al_index_entry *entry, const struct stat *file)
{
    if (S_ISREG(file->st_mode))
        return entry->mode == (file->st_mode & S_IXUSR ? 0100755u : 0100644u);
    return S_ISLNK(file->st_mode) && entry->mode == MODE_LINK;
}

/* git gives an entry whose file may have changed since the size 0 ("smudged").  It is unchanged
 * only if its content is empty. */
static bool may_be_empty(const struct al_index_entry *entry)
{
    static const unsigned char empty[][20] = {
        { 0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b,
          0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4, 0x8c, 0x53, 0x91 },
        { 0x47, 0x3a, 0x0f, 0x4c, 0x3b, 0xe8, 0xa9, 0x36, 0x81, 0xa2,
          0x67, 0xe3, 0xb1, 0xe9, 0xa7, 0xdc, 0xda, 0x11, 0x85, 0x43 }, /* of SHA-256 */
    };

    return !memcmp(entry->oid, empty[0], sizeof(empty[0])) ||
           !memcmp(entry->oid, empty[1], sizeof(empty[1]));
}

/* Whether the stat data are those of the entry. */
static bool has_stat(const struct al_index_entry *entry, const struct stat *file)
{
    return entry->stage == 0 && !entry->intent_to_add && al_index_entry_has_mode(entry, file) &&
           entry->mtime_s == (uint32_t)file->st_mtim.tv_sec &&
           entry->mtime_ns == (uint32_t)file->st_mtim.tv_nsec &&
           entry->ctime_s == (uint32_t)file->st_ctim.tv_sec &&
           entry->ctime_ns == (uint32_t)file->st_ctim.tv_nsec &&
           entry->ino == (uint32_t)file->st_ino && entry->size == (uint32_t)file->st_size &&
           (entry->size || may_be_empty(entry));
}

bool al_index_entry_is_unchanged(const struct al_index_entry *entry, const struct stat *file,
                                 const struct stat *index)
{
    return has_stat(entry, file) && is_before(entry->mtime_s, entry->mtime_ns, &index->st_mtim);
}

bool al_index_entry_has_content(int top_fd, const struct al_index_entry *entry,
                                const struct stat *file, bool sha256, bool *ret_plain)
{
    al_auto(al_closep) int fd = -1;
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    struct al_oid oid;

    if (entry->stage != 0 || entry->intent_to_add || !S_ISREG(file->st_mode) ||
        !al_index_entry_has_mode(entry, file))
        return false;
    fd = al_nofollow_open(top_fd, entry->name, O_RDONLY);
    if (fd < 0 || al_fs_read_fd(fd, AL_INDEX_CONTENT_MAX_BYTES, &bytes) < 0)
        return false;
    al_oid_of(sha256, AL_OBJECT_BLOB, bytes.buf, bytes.len, &oid);
    *ret_plain = !memchr(bytes.buf, '\r', bytes.len) && !memmem(bytes.buf, bytes.len, "$Id", 3);
    for (size_t i = 0; i < bytes.len && *ret_plain; i++)
        *ret_plain = !(bytes.buf[i] & 0x80);
    return !memcmp(oid.bytes, entry->oid, al_oid_bytes(sha256));
}

/* lstat(2) below the top, following no link on the way.  Entries of one directory follow each
 * other. */
static bool stat_entry(struct index_diff *diff, const char *name, struct stat *ret_stat)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    size_t len = (size_t)(last - name);

    if (len != diff->dir.len || memcmp(name, diff->dir.buf, len) != 0) {
        al_auto(al_freep) char *dir = al_strndup(name, len ? len - 1 : 0);

        al_close(diff->dir_fd);
        diff->dir_fd = al_nofollow_open(diff->top_fd, dir, O_PATH | O_DIRECTORY);
        al_str_reset(&diff->dir);
        al_str_add(&diff->dir, name, len);
    }
    return (!len || diff->dir_fd >= 0) &&
           fstatat(len ? diff->dir_fd : diff->top_fd, last, ret_stat, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether git writes over the file only if its content differs from the commit's. */
static bool is_unchanged(struct index_diff *diff, const struct al_index_entry *entry)
{
    struct stat st;
    bool plain;

    if (!stat_entry(diff, entry->name, &st) || !has_stat(entry, &st))
        return false;
    /* Git may compare whole seconds, and then reads a file that is as old as the index.  A file
     * that no conversion changes is read here. */
    if (entry->mtime_s < (uint32_t)diff->index.st_mtim.tv_sec)
        return true;
    return !diff->has_filters && diff->nread++ < AL_INDEX_DIFF_FILES_MAX &&
           al_index_entry_has_content(diff->top_fd, entry, &st, diff->sha256, &plain) && plain;
}

/* Whether an entry is at one of the paths, or below, or a submodule that one of them is in. */
static bool is_named(const struct al_strv *below, const struct al_index_entry *entry)
{
    for (size_t i = 0; i < below->count; i++) {
        const char *path = below->items[i];
        size_t same = 0;

        while (path[same] && path[same] == entry->name[same])
            same++;
        if (!path[same] && (!entry->name[same] || entry->name[same] == '/'))
            return true;
        if (!entry->name[same] && path[same] == '/' && entry->mode == MODE_GITLINK)
            return true;
    }
    return false;
}

static void keep_entry(struct index_diff *diff, const struct al_index_entry *entry)
{
    struct entry *kept;

    if (diff->count == diff->capacity) {
        diff->capacity = diff->capacity ? 2 * diff->capacity : 128;
        diff->entries = al_reallocarray(diff->entries, diff->capacity, sizeof(*diff->entries));
    }
    kept = &diff->entries[diff->count++];
    *kept = (struct entry){ .name = al_strdup(entry->name), .mode = entry->mode };
    memcpy(kept->oid.bytes, entry->oid, al_oid_bytes(diff->sha256));
}

static bool take_entry(void *payload, const struct al_index_entry *entry)
{
    struct index_diff *diff = payload;

    if (diff->below && !is_named(diff->below, entry))
        return true;
    if (entry->mode == MODE_GITLINK || diff->count == AL_INDEX_DIFF_ENTRIES_MAX ||
        (diff->deadline && al_deadline_step(diff->deadline, NULL) < 0))
        return false;
    if (!diff->deadline)
        keep_entry(diff, entry);
    if (!is_unchanged(diff, entry))
        al_strv_add(&diff->names, entry->name);
    return diff->names.count <= AL_INDEX_DIFF_FILES_MAX;
}

/* Whether the index says that its entries are those of this tree (extension "TREE").  Its first
 * record is "" NUL "<entries> SP <subtrees>" LF <oid>.
 *
 * @param end    Where the extensions begin.
 * @param count  The entries of the index. */
static bool is_tree_of(int fd, bool sha256, int64_t end, uint32_t count, const struct al_oid *tree)
{
    const size_t oid_bytes = al_oid_bytes(sha256);
    char bytes[RECORD_BYTES] = "";
    char entries[16];
    const char *line = bytes + RECORD_AT, *lf;
    uint32_t size;
    size_t used; /* of the bytes, with the id */
    ssize_t len = pread(fd, bytes, sizeof(bytes) - 1, end);

    if (len < (ssize_t)RECORD_AT || memcmp(bytes, "TREE", 4) != 0 || line[-1] != '\0')
        return false;
    memcpy(&size, bytes + 4, sizeof(size));
    (void)snprintf(entries, sizeof(entries), "%u ", count);
    lf = strchr(line, '\n');
    used = lf ? (size_t)(lf + 1 - bytes) + oid_bytes : 0;
    return used && !strncmp(line, entries, strlen(entries)) && used <= (size_t)len &&
           used <= 8 + (size_t)be32toh(size) && !memcmp(lf + 1, tree->bytes, oid_bytes);
}

static int by_name(const void *key, const void *entry)
{
    return strcmp(key, ((const struct entry *)entry)->name);
}

/* A file of the commit. */
static bool take_file(void *payload, const struct al_tree_change *file)
{
    struct index_diff *diff = payload;
    struct entry *entry = diff->count ? bsearch(file->path, diff->entries, diff->count,
                                                sizeof(*diff->entries), by_name)
                                      : NULL;

    if (entry && entry->mode == file->new_mode && al_oid_equal(&entry->oid, &file->new_oid))
        entry->same = true;
    else if (!entry)
        al_strv_add(&diff->names, file->path);
    return file->new_mode != MODE_GITLINK;
}

/* Compare the entries with the commit. */
static bool compare_commit(const struct al_repo *repo, struct index_diff *diff, int fd,
                           const char *commit)
{
    al_auto(al_object_reader_clear) struct al_object_reader reader = AL_OBJECT_READER_INIT;
    struct al_oid tree;
    uint32_t count;
    int64_t end;

    if (!al_object_reader_open(&reader, &repo->at, diff->sha256) ||
        !al_object_reader_commit(&reader, commit, &tree, NULL))
        return false;
    if (al_index_find_end(fd, al_oid_bytes(diff->sha256), &end, &count) &&
        is_tree_of(fd, diff->sha256, end, count, &tree))
        return true;
    if (!al_tree_diff(&reader, NULL, &tree, take_file, diff))
        return false;
    for (size_t i = 0; i < diff->count; i++)
        if (!diff->entries[i].same)
            al_strv_add(&diff->names, diff->entries[i].name);
    return true;
}

/* --- A large index --- */

#define CACHE_LINE 64

/** What one thread looks at.  Threads that write into one line of the cache wait for each other. */
struct part {
    alignas(CACHE_LINE) struct index_diff diff;
    struct al_deadline deadline;
};

/* Test whether the index is that of the commit, by its own word. */
static bool is_of_commit(const struct al_repo *repo, const char *commit, int fd,
                         const struct al_index_places *places)
{
    al_auto(al_object_reader_clear) struct al_object_reader reader = AL_OBJECT_READER_INIT;
    uint32_t count = 0;
    struct al_oid tree;

    for (size_t i = 0; i < places->count; i++)
        count += places->items[i].nentries;
    return al_object_reader_open(&reader, &repo->at, repo->vetting->is_sha256) &&
           al_object_reader_commit(&reader, commit, &tree, NULL) &&
           is_tree_of(fd, repo->vetting->is_sha256, al_index_places_end(places), count, &tree);
}

/* Give the names that a thread found to those of all. */
static bool take_names(struct index_diff *all, const struct index_diff *part)
{
    for (size_t i = 0; i < part->names.count; i++)
        al_strv_add(&all->names, part->names.items[i]);
    return all->names.count <= AL_INDEX_DIFF_FILES_MAX;
}

/*
 * Look at the file of every entry, in several threads.
 *
 * Nothing is known of a file but what lstat() says now, so each one is asked for: a change that
 * git would see is never left out.  An index that differs from the commit, or does not say that it
 * is the same, is left to git.
 */
static bool compare_large(const struct al_repo *repo, const char *commit, int fd,
                          struct al_run_limits *budget, struct index_diff *diff)
{
    al_auto(al_index_places_clear) struct al_index_places places = AL_INDEX_PLACES_INIT;
    const size_t oid_bytes = al_oid_bytes(diff->sha256);
    struct part parts[AL_INDEX_THREADS_MAX];
    void *payloads[AL_INDEX_THREADS_MAX];
    bool good;

    if (al_index_places_find(fd, oid_bytes, &places) != AL_INDEX_WHOLE ||
        (commit && !is_of_commit(repo, commit, fd, &places)))
        return false;
    for (size_t i = 0; i < AL_INDEX_THREADS_MAX; i++) {
        parts[i] = (struct part){ .diff = *diff, .deadline = al_deadline_begin(budget) };
        parts[i].diff.deadline = &parts[i].deadline;
        payloads[i] = &parts[i].diff;
    }
    good = al_index_read_shared(fd, oid_bytes, &places, take_entry, payloads) == AL_INDEX_WHOLE;
    al_deadline_sync(&parts[0].deadline);
    for (size_t i = 0; i < AL_INDEX_THREADS_MAX; i++) {
        good = good && take_names(diff, &parts[i].diff);
        parts[i].diff.top_fd = -1; /* borrowed */
        index_diff_clear(&parts[i].diff);
    }
    return good;
}

/* --- Any index --- */

static bool compare_entries(const struct al_repo *repo, const char *commit, int fd,
                            struct al_run_limits *budget, struct index_diff *diff)
{
    const size_t oid_bytes = al_oid_bytes(diff->sha256);
    unsigned char header[AL_INDEX_HEADER_BYTES];
    uint32_t version, count;

    if (diff->below)
        return al_index_read_near(fd, oid_bytes, diff->below, take_entry, diff) == AL_INDEX_WHOLE;
    if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        !al_index_parse_header(header, &version, &count))
        return false;
    if (count > AL_INDEX_DIFF_ENTRIES_MAX)
        return budget && compare_large(repo, commit, fd, budget, diff);
    return al_index_read(fd, oid_bytes, take_entry, diff) == AL_INDEX_WHOLE &&
           (!commit || compare_commit(repo, diff, fd, commit));
}

static bool compare(const struct al_repo *repo, const char *commit, const struct al_strv *below,
                    struct al_run_limits *budget, struct al_strv *names)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    al_auto(index_diff_clear) struct index_diff diff = { .sha256 = repo->vetting->is_sha256,
                                                         .has_filters =
                                                             repo->vetting->filters.count > 0,
                                                         .top_fd = -1,
                                                         .dir_fd = -1,
                                                         .dir = AL_STR_INIT,
                                                         .below = below,
                                                         .names = AL_STRV_INIT };

    if (fd < 0 || fstat(fd, &diff.index) < 0 ||
        al_location_open_top(&repo->at, &diff.top_fd, NULL) < 0 ||
        !compare_entries(repo, commit, fd, budget, &diff))
        return false;
    al_strv_sort(&diff.names);
    for (size_t i = 0; i < diff.names.count; i++)
        if (!i || strcmp(diff.names.items[i], diff.names.items[i - 1]) != 0)
            al_strv_add(names, diff.names.items[i]);
    return true;
}

bool al_index_diff(const struct al_repo *repo, const char *commit, struct al_run_limits *budget,
                   struct al_strv *names)
{
    return compare(repo, commit, NULL, budget, names);
}

bool al_index_is_clean(const struct al_repo *repo)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    return *head && al_index_diff(repo, head, NULL, &names) && !names.count;
}

bool al_index_diff_below(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_strv *names)
{
    return paths->count <= AL_INDEX_DIFF_PATHS_MAX && compare(repo, NULL, paths, NULL, names);
}
