// SPDX-License-Identifier: Apache-2.0
/* What a repository is at, read from its files: no git is started for it. */
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/private.h"
#include "gitops/repo.h"
#include "util/fs.h"

#define REF_MAX_BYTES         4096u
#define PACKED_REFS_MAX_BYTES (64u << 20)
#define SYMREF_DEPTH_MAX      5
#define CHECKSUM_MIN_BYTES    20 /* SHA-1 */
#define CHECKSUM_MAX_BYTES    32 /* SHA-256 */
#define SCAN_BYTES            (64u * 1024u)

bool al_is_reference(const char *name)
{
    return al_starts_with(name, "refs/") && !strstr(name, "..");
}

bool al_is_oid(const char *text, size_t len)
{
    return len > 0 && strspn(text, "0123456789abcdef") == len;
}

/* Open a reference, or the link that it is; -1 when something on the way leads outside. */
static int open_reference(const struct al_repo *repo, const char *ref, int flags)
{
    al_auto(al_freep) char *path = al_fs_join(repo->common_dir, ref);
    al_auto(al_freep) char *abs = NULL;
    int fd;

    if (!al_is_reference(ref) ||
        al_roots_open(repo->git->roots, path, flags | O_NOFOLLOW, &fd, &abs, NULL) < 0)
        return -1;
    return fd;
}

char *al_repo_read_loose(const struct al_repo *repo, const char *ref)
{
    al_auto(al_closep) int fd = open_reference(repo, ref, O_RDONLY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (fd < 0 || al_fs_read_fd(fd, REF_MAX_BYTES, &text) < 0)
        return NULL;
    al_str_trim_end(&text);
    return al_str_detach(&text);
}

/* The line in HEAD, MERGE_HEAD or another file that is a working tree's own. */
static char *read_own(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(repo->git_dir, name);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_fs_read(AT_FDCWD, path, REF_MAX_BYTES, &text) < 0)
        return NULL;
    al_str_trim_end(&text);
    return al_str_detach(&text);
}

char *al_repo_read_head(const struct al_repo *repo)
{
    return read_own(repo, "HEAD");
}

/* `<oid> SP <ref>` in packed-refs. */
static char *read_packed(const char *common_dir, const char *ref)
{
    al_auto(al_freep) char *path = al_fs_join(common_dir, "packed-refs");
    al_auto(al_freep) char *needle = al_asprintf(" %s\n", ref);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *at, *line;

    if (al_fs_read(AT_FDCWD, path, PACKED_REFS_MAX_BYTES, &text) < 0)
        return NULL;
    at = strstr(text.buf, needle);
    if (!at)
        return NULL;
    for (line = at; line > text.buf && line[-1] != '\n'; line--)
        continue;
    return al_strndup(line, (size_t)(at - line));
}

bool al_repo_has_ref(const struct al_repo *repo, const char *ref)
{
    al_auto(al_freep) char *loose = al_repo_read_loose(repo, ref);
    al_auto(al_freep) char *packed = loose ? NULL : read_packed(repo->common_dir, ref);

    return loose || packed;
}

/* Where a reference leads by what it holds, NULL when that is a commit. */
static char *symref_target(const char *value)
{
    if (!value || !al_starts_with(value, "ref:"))
        return NULL;
    return al_strdup(value + 4 + strspn(value + 4, " \t"));
}

/* Where a link leads, which is an old form of the same; NULL when it is none. */
static char *link_target(int dir_fd, const char *path)
{
    char target[REF_MAX_BYTES];
    ssize_t len = readlinkat(dir_fd, path, target, sizeof(target) - 1);

    if (len <= 0)
        return NULL;
    target[len] = '\0';
    return al_starts_with(target, "refs/") ? al_strdup(target) : NULL;
}

static char *follow_head(const struct al_repo *repo)
{
    al_auto(al_freep) char *path = al_fs_join(repo->git_dir, "HEAD");
    al_auto(al_freep) char *value = al_repo_read_head(repo);

    return value ? symref_target(value) : link_target(AT_FDCWD, path);
}

static char *follow(const struct al_repo *repo, const char *ref)
{
    al_auto(al_closep) int fd = open_reference(repo, ref, O_PATH);
    al_auto(al_freep) char *link = fd < 0 ? NULL : link_target(fd, "");
    al_auto(al_freep) char *value = link ? NULL : al_repo_read_loose(repo, ref);

    return link ? al_take(&link) : symref_target(value);
}

/* Append `ref` and the references it leads through. */
static void follow_all(const struct al_repo *repo, char *ref, struct al_strv *ret_refs)
{
    for (int depth = 0; ref && depth < SYMREF_DEPTH_MAX && al_is_reference(ref); depth++) {
        char *next = follow(repo, ref);

        al_strv_take(ret_refs, ref);
        ref = next;
    }
    free(ref);
}

void al_repo_follow_head(const struct al_repo *repo, struct al_strv *ret_refs)
{
    follow_all(repo, follow_head(repo), ret_refs);
}

/* What the last reference holds.  What leads on leads too far, or to where nothing is read. */
static char *commit_at_end(const struct al_repo *repo, const struct al_strv *refs)
{
    const char *last = refs->count ? refs->items[refs->count - 1] : NULL;
    al_auto(al_freep) char *value = last ? al_repo_read_loose(repo, last) : al_repo_read_head(repo);

    if (last && !value)
        value = read_packed(repo->common_dir, last);
    return value && !al_starts_with(value, "ref:") ? al_take(&value) : al_strdup("");
}

char *al_repo_head(const struct al_repo *repo)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    al_repo_follow_head(repo, &refs);
    return commit_at_end(repo, &refs);
}

char *al_repo_read_ref(const struct al_repo *repo, const char *ref)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    follow_all(repo, al_strdup(ref), &refs);
    return refs.count ? commit_at_end(repo, &refs) : al_strdup("");
}

/* The branch that a stopped rebase will move when it has gone on to its end. */
static void add_rebased(const struct al_repo *repo, struct al_strv *refs)
{
    static const char *const files[] = { "rebase-merge/head-name", "rebase-apply/head-name" };

    for (size_t i = 0; i < AL_COUNT(files); i++) {
        al_auto(al_freep) char *ref = read_own(repo, files[i]);

        if (ref && al_is_reference(ref))
            al_strv_add(refs, ref);
    }
}

void al_repo_current_branches(const struct al_repo *repo, struct al_strv *ret_names)
{
    static const char heads[] = "refs/heads/";
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    al_repo_follow_head(repo, &refs);
    if (!refs.count)
        al_strv_add(ret_names, "HEAD");
    add_rebased(repo, &refs);
    for (size_t i = 0; i < refs.count; i++) {
        const char *ref = refs.items[i];

        al_strv_add(ret_names, al_starts_with(ref, heads) ? ref + strlen(heads) : ref);
    }
}

static void add_id(struct sha256_ctx *sum, const struct al_file_id *id)
{
    sha256_update(sum, sizeof(id->ino), (const uint8_t *)&id->ino);
    sha256_update(sum, sizeof(id->size), (const uint8_t *)&id->size);
    sha256_update(sum, sizeof(id->mtime_ns), (const uint8_t *)&id->mtime_ns);
    sha256_update(sum, sizeof(id->ctime_ns), (const uint8_t *)&id->ctime_ns);
}

/*
 * The index ends with a checksum of itself, which stays the same when git rewrites the same index.
 * With index.skipHash it ends with zeros: then its stat has to tell.
 */
static void add_index(const struct al_repo *repo, struct sha256_ctx *sum)
{
    al_auto(al_freep) char *path = al_fs_join(repo->git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    static const uint8_t no_checksum[CHECKSUM_MIN_BYTES];
    uint8_t tail[CHECKSUM_MAX_BYTES] = { 0 };
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (st.st_size >= CHECKSUM_MAX_BYTES)
        (void)!pread(fd, tail, sizeof(tail), st.st_size - CHECKSUM_MAX_BYTES);
    sha256_update(sum, sizeof(st.st_size), (const uint8_t *)&st.st_size);
    sha256_update(sum, sizeof(tail), tail);
    if (!memcmp(tail + sizeof(tail) - sizeof(no_checksum), no_checksum, sizeof(no_checksum))) {
        const struct al_file_id id = al_file_id_from(&st);

        add_id(sum, &id);
    }
}

static void add_path(const struct al_repo *repo, const char *path, struct sha256_ctx *sum)
{
    struct al_file_id id = { .exists = false };
    struct stat st;

    if (fstatat(repo->dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
        id = al_file_id_from(&st);
    sha256_update(sum, strlen(path) + 1, (const uint8_t *)path);
    add_id(sum, &id);
}

/* Which branch HEAD is, and what a commit would conclude. */
static void add_words(const struct al_repo *repo, struct sha256_ctx *sum)
{
    static const char *const names[] = { "HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD" };

    for (size_t i = 0; i < AL_COUNT(names); i++) {
        al_auto(al_freep) char *line = read_own(repo, names[i]);
        const char *word = line ? line : "";

        sha256_update(sum, strlen(word) + 1, (const uint8_t *)word);
    }
}

void al_repo_state(const struct al_repo *repo, const struct al_strv *paths, char ret_hex[65])
{
    al_auto(al_freep) char *head = al_repo_head(repo);
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx sum;

    sha256_init(&sum);
    sha256_update(&sum, strlen(head) + 1, (const uint8_t *)head);
    add_words(repo, &sum);
    add_index(repo, &sum);
    for (size_t i = 0; paths && i < paths->count; i++)
        add_path(repo, paths->items[i], &sum);
    sha256_digest(&sum, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        (void)snprintf(ret_hex + 2 * i, 3, "%02x", digest[i]);
}

/*
 * The mode of a gitlink as an index entry stores it (0160000, big-endian), or the mark of a split
 * index, whose entries are elsewhere.  Read in pieces and never mapped: the file may shrink.
 */
static bool holds_gitlink(const char *path)
{
    static const char gitlink[] = { 0, 0, (char)0xe0, 0 };
    enum { overlap = sizeof(gitlink) - 1 };
    al_auto(al_freep) char *piece = al_malloc(SCAN_BYTES);
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    size_t kept = 0;

    if (fd < 0)
        return errno != ENOENT;
    for (;;) {
        ssize_t n = read(fd, piece + kept, SCAN_BYTES - kept);
        size_t len;

        if (n <= 0)
            return n < 0;
        len = kept + (size_t)n;
        if (memmem(piece, len, gitlink, sizeof(gitlink)) || memmem(piece, len, "link", 4))
            return true;
        kept = len < overlap ? len : overlap;
        memmove(piece, piece + len - kept, kept);
    }
}

bool al_repo_may_have_gitlinks(const struct al_repo *repo)
{
    al_auto(al_freep) char *index = al_fs_join(repo->git_dir, "index");

    return holds_gitlink(index);
}
