// SPDX-License-Identifier: Apache-2.0
/*
 * The files of a commit that is pushed, in a private index.
 *
 * A file with CRLF line ends is stored as `git add` would store it in the target: git itself
 * decides, by the attributes of the commit, from a copy of the file below <push directory>/wt.
 *
 * Source: gitattributes(5) "text", git-update-index(1) --index-info.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/revision.h"
#include "git/run.h"
#include "staging/base.h"
#include "staging/push/private.h"
#include "staging/store.h"
#include "staging/target.h"

/* How a pointer of git-lfs begins. */
#define LFS_MARK "version https://git-lfs.github.com/spec/"

/* --- The directory that one push works in: store.git/push-<pid>-<random> --- */

#define PREFIX "push-"

/* Remove what a killed process left.  A process of another user, or one that took over the number,
 * only makes it stay longer. */
static void remove_left(const struct al_location *store)
{
    al_auto(al_closedirp) DIR *entries = al_fs_list_at(store->dir_fd);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        al_auto(al_freep) char *path = NULL;
        unsigned long long pid;

        if (!al_starts_with(entry->d_name, PREFIX))
            continue;
        pid = strtoull(entry->d_name + strlen(PREFIX), NULL, 10);
        if (!pid || pid > INT32_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        path = al_fs_join(store->dir, entry->d_name);
        al_fs_remove_tree(path);
    }
}

int al_push_dir_make(struct al_push *push)
{
    const struct al_staging *staging = push->staging;
    al_auto(al_freep) char *name = NULL;
    uint64_t nonce;

    if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return al_staging_unusable(staging, errno, push->err);
    remove_left(&staging->bare);
    name = al_asprintf(PREFIX "%ld-%016" PRIx64, (long)getpid(), nonce);
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

int al_push_git(const struct al_push *push, struct al_git_command *command, struct al_str *out)
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

/* What the push looks at: the files, and the attributes of their directories. */
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
        al_oid_text(&file->oid, al_staging_is_sha256(push->staging), oid);
        if (S_ISREG(file->mode))
            al_strv_add(ret_oids, oid);
    }
}

/* git reads a whole tree into an index, however large.  Of one on GitHub the content comes that is
 * needed. */
static int list_parent(const struct al_push *push, struct al_sandbox_files *ret_files)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_tree_reader_clear) struct al_tree_reader tree;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    int r;

    al_tree_reader_begin(&tree, al_staging_is_sha256(push->staging));
    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-t", "-z", "--full-tree", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", push->parent);
    r = al_push_git_sink(push, &command, (struct al_sink){ al_nul_records_add, &tree.records });
    if (r == 0)
        r = al_tree_reader_end(&tree, "the branch", "push to a smaller one", push->err);
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
    return al_push_git(push, &command, NULL);
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
        al_starts_with(contents->text.buf, LFS_MARK);
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
        al_oid_text(&staged->files[i].oid, al_staging_is_sha256(contents->push->staging), oid);
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
        al_oid_text(&file->oid, al_staging_is_sha256(push->staging), oid);
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
    return al_push_git(contents->push, &command, NULL);
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
    return al_push_git(contents->push, &command, NULL);
}

int al_push_build_index(const struct al_push *push)
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
