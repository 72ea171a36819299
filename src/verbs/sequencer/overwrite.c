// SPDX-License-Identifier: Apache-2.0
#include "verbs/sequencer/overwrite.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/index_scan.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* The thing in the place of a file that is to be written: its own path, or that of one of its
 * directories which is no directory.  NULL: nothing.  Caller frees. */
static char *find_place(int top_fd, const char *path)
{
    char *above = al_nofollow_blocked(top_fd, path);
    struct stat st;

    if (above)
        return above;
    return fstatat(top_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? al_strdup(path) : NULL;
}

static bool is_tracked(const void *tracked, const char *path)
{
    return al_strv_contains_sorted(tracked, path);
}

/* The file in the place that is lost; NULL: none.  A submodule is tracked.  Caller frees. */
static char *find_lost(int top_fd, const char *path, const struct al_strv *tracked)
{
    al_auto(al_freep) char *nested = al_fs_join(path, ".git");
    struct stat st;

    if (fstatat(top_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        (is_tracked(tracked, path) &&
         (!S_ISDIR(st.st_mode) || faccessat(top_fd, nested, F_OK, AT_SYMLINK_NOFOLLOW) == 0)))
        return NULL;
    return S_ISDIR(st.st_mode) ? al_nofollow_find_file(top_fd, path, path, is_tracked, tracked)
                               : al_strdup(path);
}

struct tracked {
    const struct al_strv *asked; /* sorted */
    struct al_strv *found;
};

/* Add an entry that is one of those that were asked for, or is below one. */
static bool add_tracked(void *payload, const struct al_index_entry *entry)
{
    const struct tracked *tracked = payload;
    al_auto(al_freep) char *part = al_strdup(entry->name);
    bool is = al_strv_contains_sorted(tracked->asked, part);

    for (char *slash = strchr(part, '/'); !is && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        is = al_strv_contains_sorted(tracked->asked, part);
        *slash = '/';
    }
    if (is)
        al_strv_add(tracked->found, entry->name);
    return true;
}

/* The index tells at once, where airlock can read all of it. */
static int find_tracked(const struct al_repo *repo, const struct al_strv *asked,
                        struct al_strv *ret_found, struct al_error *err)
{
    struct tracked tracked = { asked, ret_found };
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (!asked->count || (fd >= 0 && al_index_read(fd, al_oid_bytes(repo->vetting->is_sha256),
                                                   add_tracked, &tracked) == AL_INDEX_WHOLE))
        return 0;
    al_strv_clear(ret_found);
    return al_repo_tracked_files(repo, asked, ret_found, err);
}

/* List those of these that are untracked, and something untracked of each that is a directory. */
static int list_lost(const struct al_repo *repo, int top_fd, const struct al_strv *found,
                     struct al_strv *ret_lost, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv tracked = AL_STRV_INIT;
    int r = find_tracked(repo, found, &tracked, err);

    al_strv_sort(&tracked);
    for (size_t i = 0; r == 0 && i < found->count; i++) {
        char *lost = find_lost(top_fd, found->items[i], &tracked);

        if (lost)
            al_strv_take(ret_lost, lost);
    }
    return r;
}

const char *al_overwrite_moved_away(const char *path)
{
    const char *tilde = strrchr(path, '~');
    size_t hex = tilde ? strspn(tilde + 1, "0123456789abcdef") : 0;

    return (hex == 40 || hex == 64) && (!tilde[1 + hex] || tilde[1 + hex] == '_') ? tilde : NULL;
}

/* git names the side as the operation has it.  All names there of that form count. */
static void find_moved_away(int top_fd, const char *path, const char *tilde, struct al_strv *found)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    al_auto(al_freep) char *parent = slash ? al_strndup(path, (size_t)(slash - path)) : NULL;
    al_auto(al_closedirp) DIR *dir = al_fs_list(parent ? al_nofollow_open(top_fd, parent, DIR_FLAGS)
                                                       : openat(top_fd, ".", DIR_FLAGS));
    const size_t len = (size_t)(tilde - name) + 1;
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (!strncmp(entry->d_name, name, len) && entry->d_name[len])
            al_strv_take(found,
                         parent ? al_fs_join(parent, entry->d_name) : al_strdup(entry->d_name));
}

int al_overwrite_list(const struct al_repo *repo, const struct al_strv *files,
                      struct al_strv *ret_lost, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    al_auto(al_closep) int top_fd = -1;
    int r = al_location_open_top(&repo->at, &top_fd, err);

    for (size_t i = 0; r == 0 && i < files->count; i++) {
        const char *path = files->items[i], *tilde = al_overwrite_moved_away(path);
        char *place = *path ? find_place(top_fd, path) : NULL;

        if (tilde)
            find_moved_away(top_fd, path, tilde, &found);
        if (place)
            al_strv_take(&found, place);
    }
    al_paths_sort_once(&found); /* one in the way of many files is listed for each of them */
    return r < 0 ? r : list_lost(repo, top_fd, &found, ret_lost, err);
}

int al_overwrite_check_files(const struct al_repo *repo, const struct al_strv *files,
                             struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv lost = AL_STRV_INIT;
    al_auto(al_freep) char *word = NULL;
    int r = al_overwrite_list(repo, files, &lost, err);

    if (r < 0 || !lost.count)
        return r;
    word = al_text_sanitize_line(lost.items[0]);
    return al_error_reason(
        al_error_remedy(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR,
                                          "The untracked file '%s' would be overwritten; move or "
                                          "remove it first",
                                          word),
                        err, "No file was changed."),
        err, "conflict");
}

static int check_listed(const struct al_repo *repo, const struct al_git_command *command,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    int r = al_git_list_paths(repo, command, &files, err);

    return r < 0 ? r : al_overwrite_check_files(repo, &files, err);
}

/* git writes over no file that both have and the index has not. */
int al_overwrite_check(const struct al_repo *repo, const char *from, const char *to,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff-tree", "-r", "-z", "--name-only", "--no-renames",
                 "--diff-filter=A", from, to, "--", NULL);
    return check_listed(repo, &command, err);
}

int al_overwrite_check_steps(const struct al_repo *repo, const char *from, const char *to,
                             struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-c", "log.showRoot=true", "log",
                 "--format=", "--no-show-signature", "--no-notes", "--no-decorate", "--no-color",
                 "--diff-merges=separate", "--name-only", "-z", "--no-relative", "--no-renames",
                 "--no-ext-diff", "--no-textconv", "--diff-filter=A", NULL);
    al_strv_addf(&command.argv, "%s..%s", from, to);
    al_strv_add(&command.argv, "--");
    return check_listed(repo, &command, err);
}
