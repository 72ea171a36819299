// SPDX-License-Identifier: Apache-2.0
#include "verbs/preview/verify_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/command.h"
#include "git/layer.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/revision.h"
#include "git/run.h"
#include "guard/root.h"
#include "guard/text.h"
#include "proc/cancel.h"

/* --- Stable read --- */

/* The clock of a file system may be this far behind the local clock. */
#define STABLE_READ_MARGIN_MS 20

#define NS_PER_S              ((int64_t)1000000000)
#define NS_PER_MS             ((int64_t)1000000)
#define ALTERNATES_MAX_BYTES  65536u
#define STORES_MAX            64u

/* A time without a fraction may come from a file system with coarse times: FAT's resolution is two
 * seconds. */
#define COARSEST_NS (2 * NS_PER_S)

void al_stable_read_begin(struct al_stable_read *reading)
{
    struct timespec now;

    /* The kernel takes ctime from this clock. It advances by ticks, so a time from a finer clock is
     * never earlier. */
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    al_strv_clear(&reading->oids);
    reading->since_ns = now.tv_sec * NS_PER_S + now.tv_nsec - STABLE_READ_MARGIN_MS * NS_PER_MS;
}

void al_stable_read_wait(const struct al_run_limits *budget, int round)
{
    struct pollfd wait = { .fd = al_cancel_fd(budget->cancel), .events = POLLIN };

    (void)poll(&wait, 1, round * round * STABLE_READ_MARGIN_MS);
}

void al_stable_read_clear(struct al_stable_read *reading)
{
    al_strv_clear(&reading->oids);
}

/* One pass over the object stores. */
struct scan {
    const struct al_repo *repo;
    int64_t since_ns;
    struct al_strv stores; /* object directories, those of alternates included */
    char *link;            /* the first symbolic link found; NULL: none */
    bool changed;
};

static void scan_clear(struct scan *scan)
{
    al_strv_clear(&scan->stores);
    free(scan->link);
}

/* Compare the ctime that was just read with the window, which ends now.  A ctime in the future
 * means that the clock was set back; a change made now gets the current time. */
static void check_time(struct scan *scan, const struct stat *st)
{
    int64_t at = st->st_ctim.tv_sec * NS_PER_S + st->st_ctim.tv_nsec;
    int64_t finest = st->st_ctim.tv_nsec ? 0 : COARSEST_NS;

    scan->changed |= at >= scan->since_ns - finest && at <= al_clock_ns();
}

/* Check one directory entry. Returns false when it does not exist: it was not read then, and its
 * removal shows in the ctime of its directory. */
static bool check_entry(struct scan *scan, int dir_fd, const char *name)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    check_time(scan, &st);
    if (S_ISLNK(st.st_mode) && !scan->link)
        scan->link = al_strdup(name);
    return true;
}

/* Check the entries of a directory, and those of directories in it: layers of a multi-pack-index.
 */
static void check_entries(struct scan *scan, int parent_fd, const char *name, bool is_pack_dir)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        (void)check_entry(scan, dirfd(dir), entry->d_name);
        if (is_pack_dir && al_ends_with(entry->d_name, ".d"))
            check_entries(scan, dirfd(dir), entry->d_name, false);
    }
    scan->changed |= !dir; /* it existed a moment ago */
}

static void check_loose_objects(struct scan *scan, int store_fd, const struct al_strv *oids)
{
    for (size_t i = 0; i < oids->count; i++) {
        const char *oid = oids->items[i];
        const char fanout[] = { oid[0], oid[1], '\0' };
        al_auto(al_freep) char *path = al_asprintf("%s/%s", fanout, oid + 2);

        if (check_entry(scan, store_fd, fanout))
            (void)check_entry(scan, store_fd, path);
    }
}

/* Check the directories that lead to a store, up to a root, since another directory could be
 * renamed into the path for a while. Agents cannot change directories above a root. */
static void check_parents(struct scan *scan, const char *store)
{
    al_auto(al_freep) char *path = al_strdup(store);
    const struct al_roots *roots = al_roots_parts(scan->repo->at.git->roots);
    struct stat st;
    char *slash;

    for (;;) {
        const struct al_root *root = al_roots_find(roots, path);

        slash = strrchr(path, '/');
        if (!slash || slash == path || (root && !strcmp(root->path, path)))
            return;
        if (lstat(path, &st) == 0)
            check_time(scan, &st);
        *slash = '\0';
    }
}

/* Add the alternates of a store. Whether they are allowed was checked when the repository was
 * opened. */
static void add_alternates(struct scan *scan, const char *store)
{
    al_auto(al_freep) char *path = al_fs_join(store, "info/alternates");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    if (al_fs_read(AT_FDCWD, path, ALTERNATES_MAX_BYTES, &text) < 0)
        return;
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        al_auto(al_freep) char *other = al_fs_join(store, line);
        al_auto(al_closep) int fd = open(other, O_PATH | O_DIRECTORY | O_CLOEXEC);
        al_auto(al_freep) char *abs = fd < 0 ? NULL : al_fs_fd_path(fd);

        check_parents(scan, other);
        if (*line != '#' && abs && !al_strv_contains(&scan->stores, abs) &&
            scan->stores.count < STORES_MAX)
            al_strv_add(&scan->stores, abs);
    }
}

static void check_store(struct scan *scan, const char *store, const struct al_strv *oids)
{
    static const char *const names[] = { "info", "info/alternates" };
    al_auto(al_closep) int fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    scan->changed |= fd < 0;
    check_parents(scan, store);
    for (size_t i = 0; fd >= 0 && i < AL_COUNT(names); i++)
        (void)check_entry(scan, fd, names[i]);
    if (fd < 0)
        return;
    if (check_entry(scan, fd, "pack") && !scan->link)
        check_entries(scan, fd, "pack", true);
    check_loose_objects(scan, fd, oids);
    add_alternates(scan, store);
}

/* Find the first store. A symbolic link on the path to it is checked as well. */
static int find_store(struct scan *scan, struct al_error *err)
{
    al_auto(al_freep) char *path = al_fs_join(scan->repo->at.common_dir, "objects");
    al_auto(al_closep) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return al_error_errno(err, errno, "cannot open 'objects' in the git directory");
    check_time(scan, &st);
    al_strv_take(&scan->stores, al_fs_fd_path(fd));
    check_parents(scan, scan->repo->at.common_dir);
    return 0;
}

int al_stable_read_check(const struct al_repo *repo, const struct al_stable_read *reading,
                         bool *ret_stable, struct al_error *err)
{
    al_auto(scan_clear) struct scan scan = { .repo = repo, .since_ns = reading->since_ns };
    int r = 0;

    *ret_stable = true;
    if (!reading->oids.count || repo->at.is_own) /* no agent can write there */
        return 0;
    r = find_store(&scan, err);
    for (size_t i = 0; r == 0 && i < scan.stores.count; i++) {
        al_auto(al_freep) char *store = al_strdup(scan.stores.items[i]);

        check_store(&scan, store, &reading->oids);
    }
    if (r == 0 && scan.link) {
        al_auto(al_freep) char *word = al_text_sanitize_line(scan.link);

        r = al_error_set(err, AL_ERR_EXECUTION,
                         "'%s' among the repository's objects is a link, so that what is shown of "
                         "them cannot be relied on; put the file itself there",
                         word);
    }
    *ret_stable = r == 0 && !scan.changed;
    return r;
}

/* --- Verify objects --- */

#define LIST_MAX_BYTES (8u << 20)

/* The state while objects are hashed. */
struct verifier {
    struct al_cat_file reader;
    struct al_strv *oids; /* receives the id of each object; may be NULL */
    uint64_t bytes;       /* read in all */
};

static bool add_object(void *payload, const char *data, size_t len, bool last)
{
    struct verifier *verifier = payload;

    (void)data;
    verifier->bytes += len;
    if (last && verifier->oids)
        al_strv_add(verifier->oids, verifier->reader.id);
    return verifier->bytes <= AL_VERIFY_MAX_BYTES;
}

static int check_end(const struct verifier *verifier, bool *ret_complete, struct al_error *err)
{
    if (verifier->reader.mismatch)
        return al_error_set(
            err, AL_ERR_EXECUTION,
            "Object %s of the repository has other content than its id says, and cannot be "
            "shown. The user can look with git fsck",
            verifier->reader.id);
    if (verifier->bytes > AL_VERIFY_MAX_BYTES)
        *ret_complete = false;
    else if (!al_cat_file_is_whole(&verifier->reader))
        return al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    return 0;
}

int al_git_verify_objects(const struct al_location *at, const struct al_str *words,
                          bool *ret_complete, struct al_error *err)
{
    struct al_stable_read *reading = at->budget->stable_read;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct verifier verifier = { .reader = AL_CAT_FILE_INIT(NULL, add_object, &verifier),
                                 .oids = reading ? &reading->oids : NULL };
    int r;

    if (!words->len)
        return 0;
    verifier.reader.verifies = command.borrows = true;
    al_git_command_feed(&command, words);
    al_strv_adds(&command.argv, "git", "cat-file", "--batch", "--buffer", NULL);
    r = al_git_read(at, &command, (struct al_sink){ al_cat_file_add, &verifier.reader }, err);
    if (r == 0)
        r = check_end(&verifier, ret_complete, err);
    al_cat_file_clear(&verifier.reader);
    return r;
}

/* Append what a command lists, as far as it is no more than can be verified. */
static int list(const struct al_repo *repo, const struct al_git_command *command,
                struct al_buffer *list, bool *ret_complete, struct al_error *err)
{
    int r = al_git_read(&repo->at, command, al_buffer_sink(list), err);

    if (list->total > list->max_bytes)
        *ret_complete = false;
    return r;
}

/* Append the tree ids in the output of `ls-tree -z`, "<mode> tree <oid> TAB <path>", one a line. */
static void add_trees(const struct al_str *list, struct al_str *words)
{
    static const char mark[] = " tree ";

    for (size_t at = 0; at < list->len; at += strlen(list->buf + at) + 1) {
        const char *oid = strstr(list->buf + at, mark);

        if (oid)
            al_str_addf(words, "%.*s\n", (int)strcspn(oid + strlen(mark), "\t"),
                        oid + strlen(mark));
    }
}

int al_git_verify_tree(const struct al_repo *repo, const char *commit, bool *ret_complete,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_buffer_clear) struct al_buffer trees = AL_BUFFER_INIT(LIST_MAX_BYTES);
    int r;

    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-d", "-z", "--full-tree", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", commit);
    r = list(repo, &command, &trees, ret_complete, err);
    al_str_addf(&words, "%s\n%s^{tree}\n", commit, commit);
    add_trees(&trees.text, &words);
    return r < 0 ? r : al_git_verify_objects(&repo->at, &words, ret_complete, err);
}

int al_git_verify_commits(const struct al_repo *repo, const char *const *words, bool *ret_complete,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_buffer_clear) struct al_buffer ids = AL_BUFFER_INIT(LIST_MAX_BYTES);
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", NULL);
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    al_strv_add(&command.argv, "--");
    r = list(repo, &command, &ids, ret_complete, err);
    return r < 0 ? r : al_git_verify_objects(&repo->at, &ids.text, ret_complete, err);
}
