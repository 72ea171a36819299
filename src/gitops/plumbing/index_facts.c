// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/index_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/plumbing/index_scan.h"
#include "util/fs.h"

#define REMEMBERED 8

/** An index that was read. */
struct known {
    struct al_file_id id;
    struct al_oid end;
    bool sha256;
    struct al_index_facts facts;
};

static struct known known[REMEMBERED];
static size_t next_known;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* for both, never held over a file access */

void al_index_facts_remember(const struct al_file_id *id, const struct al_oid *end, bool sha256,
                             const struct al_index_facts *facts)
{
    if (!id->exists || al_oid_is_none(end))
        return;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < REMEMBERED; i++)
        if (known[i].id.dev == id->dev && known[i].id.ino == id->ino)
            known[i].id.exists = false;
    known[next_known++ % REMEMBERED] = (struct known){ *id, *end, sha256, *facts };
    (void)pthread_mutex_unlock(&lock);
}

static bool find_known(const struct al_file_id *id, struct known *ret_known)
{
    bool found = false;

    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < REMEMBERED && !found; i++) {
        found = al_file_id_equal(&known[i].id, id);
        if (found)
            *ret_known = known[i];
    }
    (void)pthread_mutex_unlock(&lock);
    return found;
}

/* Two changes in one tick leave the same stat data; git writes another checksum for each. */
static bool recall(int fd, struct al_index_facts *ret_facts)
{
    struct al_oid end = { .bytes = { 0 } };
    struct al_file_id id;
    struct known was;
    struct stat st;
    size_t bytes;

    if (fstat(fd, &st) < 0)
        return false;
    id = al_file_id_from(&st);
    if (!find_known(&id, &was))
        return false;
    bytes = al_oid_bytes(was.sha256);
    *ret_facts = was.facts;
    return pread(fd, end.bytes, bytes, st.st_size - (off_t)bytes) == (ssize_t)bytes &&
           al_oid_equal(&end, &was.end);
}

/* An entry for a directory of a sparse index may stand for gitlinks. */
static bool note_entry(void *payload, const struct al_index_entry *entry)
{
    struct al_index_facts *facts = payload;

    facts->marks |= entry->assume_unchanged || entry->skip_worktree;
    facts->gitlinks |= entry->mode == 0160000u || entry->mode == 0040000u;
    facts->conflicts |= entry->stage != 0;
    facts->names_only |= entry->intent_to_add;
    return true;
}

/* The next question about this index is answered from memory. */
static void remember(int fd, size_t oid_bytes, const struct stat *before,
                     const struct al_index_facts *facts)
{
    struct al_oid end = { .bytes = { 0 } };
    const struct al_file_id id = al_file_id_from(before);
    struct al_file_id now;
    struct stat after;

    if (fstat(fd, &after) < 0)
        return;
    now = al_file_id_from(&after);
    if (al_file_id_equal(&id, &now) &&
        pread(fd, end.bytes, oid_bytes, after.st_size - (off_t)oid_bytes) == (ssize_t)oid_bytes)
        al_index_facts_remember(&id, &end, oid_bytes == al_oid_bytes(true), facts);
}

/* Read the index whole.  False: it was not understood completely. */
static bool read_facts(int fd, struct al_index_facts *ret_facts)
{
    static const size_t oid_bytes[] = { 20, 32 };
    struct stat before;

    if (fstat(fd, &before) < 0)
        return false;
    /* Only one of the two lengths fits the whole file. */
    for (size_t i = 0; i < AL_COUNT(oid_bytes); i++) {
        enum al_index_end end;

        *ret_facts = (struct al_index_facts){ .marks = false };
        end = al_index_read(fd, oid_bytes[i], note_entry, ret_facts);
        if (end == AL_INDEX_WHOLE)
            remember(fd, oid_bytes[i], &before, ret_facts);
        if (end != AL_INDEX_NOT_UNDERSTOOD)
            return end == AL_INDEX_WHOLE;
    }
    return false;
}

/* Whether the fact `breaks` may hold for an entry of the index. */
static bool may_have(const char *path, bool (*breaks)(const struct al_index_facts *))
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct al_index_facts facts;

    if (fd < 0)
        return errno != ENOENT;
    return (!recall(fd, &facts) && !read_facts(fd, &facts)) || breaks(&facts);
}

static bool has_gitlinks(const struct al_index_facts *facts)
{
    return facts->gitlinks;
}

bool al_index_may_have_gitlinks(const char *path)
{
    return may_have(path, has_gitlinks);
}

static bool has_marks(const struct al_index_facts *facts)
{
    return facts->marks;
}

bool al_repo_may_have_marks(const struct al_location *at)
{
    al_auto(al_freep) char *index = al_fs_join(at->git_dir, "index");

    return may_have(index, has_marks);
}

static bool has_conflicts(const struct al_index_facts *facts)
{
    return facts->conflicts;
}

bool al_repo_may_have_conflicts(const struct al_location *at)
{
    al_auto(al_freep) char *index = al_fs_join(at->git_dir, "index");

    return may_have(index, has_conflicts);
}

static bool has_names_only(const struct al_index_facts *facts)
{
    return facts->names_only;
}

bool al_repo_may_have_names_only(const struct al_location *at)
{
    al_auto(al_freep) char *index = al_fs_join(at->git_dir, "index");

    return may_have(index, has_names_only);
}

bool al_repo_may_have_gitlinks(const struct al_location *at)
{
    al_auto(al_freep) char *index = al_fs_join(at->git_dir, "index");

    return al_index_may_have_gitlinks(index);
}
