// SPDX-License-Identifier: Apache-2.0
#include "verbs/worktree/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/layer.h"
#include "git/location.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/text.h"

/* --- Record --- */

#define RECORD_MAX_BYTES (32u << 10)

void al_worktree_record_clear(struct al_worktree_record *record)
{
    free(record->path);
    free(record->from);
    free(record->agent);
    free(record->tree);
    free(record->branch);
    free(record->branch_oid);
    *record = AL_WORKTREE_RECORD_INIT;
}

/* Caller frees; NULL: the repository is gone. */
static char *dir_of(const struct al_git *git, const char *common_dir)
{
    al_auto(al_freep) char *name = al_location_dir_name(common_dir);

    return name ? al_fs_join(git->records_dir, name) : NULL;
}

/* The same for a record in it. */
static char *path_of(const struct al_git *git, const char *common_dir, const char *name)
{
    al_auto(al_freep) char *dir = dir_of(git, common_dir);

    return dir ? al_fs_join(dir, name) : NULL;
}

static void parse_line(char *line, struct al_worktree_record *record)
{
    const struct {
        const char *key;
        char **field;
    } keys[] = {
        { "path ", &record->path },     { "from ", &record->from }, { "agent ", &record->agent },
        { "branch ", &record->branch }, { "tree ", &record->tree },
    };
    char *space;

    record->making |= !strcmp(line, "making");
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        if (!al_starts_with(line, keys[i].key) || *keys[i].field)
            continue;
        *keys[i].field = al_strdup(line + strlen(keys[i].key));
    }
    space = record->branch && !record->branch_oid ? strrchr(record->branch, ' ') : NULL;
    if (space) {
        record->branch_oid = al_strdup(space + 1);
        *space = '\0';
    }
}

int al_worktree_record_read(const struct al_git *git, const char *common_dir, const char *name,
                            struct al_worktree_record *ret_record)
{
    al_auto(al_freep) char *path = path_of(git, common_dir, name);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    *ret_record = AL_WORKTREE_RECORD_INIT;
    if (!path || al_fs_read(AT_FDCWD, path, RECORD_MAX_BYTES, &text) < 0 ||
        !al_ends_with(text.buf, "\nend\n"))
        return AL_ERR_NOT_FOUND;
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        parse_line(line, ret_record);
    if (ret_record->path && ret_record->from)
        return 0;
    al_worktree_record_clear(ret_record);
    return AL_ERR_NOT_FOUND;
}

bool al_worktree_is_recorded(const struct al_repo *repo, const char *top)
{
    al_auto(al_worktree_record_clear) struct al_worktree_record record = AL_WORKTREE_RECORD_INIT;

    return al_worktree_record_read(repo->at.git, repo->at.common_dir, strrchr(top, '/') + 1,
                                   &record) == 0 &&
           !strcmp(record.path, top);
}

static void add_line(struct al_str *text, const char *key, const char *value)
{
    if (value && !strchr(value, '\n'))
        al_str_addf(text, "%s %s\n", key, value);
}

int al_worktree_record_write(const struct al_repo *repo, const char *name,
                             const struct al_worktree_record *record, struct al_error *err)
{
    al_auto(al_freep) char *dir = dir_of(repo->at.git, repo->at.common_dir);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;
    int r = dir ? al_fs_mkdirs(dir, 0700) : -ENOENT;

    add_line(&text, "path", record->path);
    add_line(&text, "from", record->from);
    add_line(&text, "agent", record->agent);
    add_line(&text, "tree", record->tree);
    if (record->branch)
        al_str_addf(&text, "branch %s %s\n", record->branch, record->branch_oid);
    al_str_adds(&text, record->making ? "making\nend\n" : "end\n");
    if (r == 0)
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r == 0 && fd < 0)
        r = -errno;
    if (r == 0)
        r = al_fs_write_durable(fd, name, text.buf, text.len, 0600);
    return r < 0 ? al_error_errno(err, -r, "cannot write the record of the worktree") : 0;
}

void al_worktree_record_move(const struct al_repo *repo, const char *name, const char *to)
{
    al_auto(al_freep) char *path = path_of(repo->at.git, repo->at.common_dir, name);
    al_auto(al_freep) char *new = to ? path_of(repo->at.git, repo->at.common_dir, to) : NULL;

    if (path)
        (void)(new ? rename(path, new) : unlink(path));
}

void al_worktree_record_names(const struct al_git *git, const char *common_dir,
                              struct al_strv *ret_names)
{
    al_auto(al_freep) char *path = dir_of(git, common_dir);
    al_auto(al_closedirp) DIR *dir = path ? opendir(path) : NULL;
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !al_fs_temp_owner(entry->d_name))
            al_strv_add(ret_names, entry->d_name);
    al_strv_sort(ret_names);
}

/* --- Place --- */

#define NAME_MAX_BYTES 64u

void al_worktree_place_clear(struct al_worktree_place *place)
{
    free(place->main);
    free(place->dir);
    al_close(place->fd);
    *place = AL_WORKTREE_PLACE_INIT;
}

int al_worktree_check_name(const char *param, const char *name, struct al_error *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);

    if (len && len <= NAME_MAX_BYTES && strspn(name, allowed) == len && name[0] != '-' &&
        strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !al_path_has_dot_git(name))
        return 0;
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s: a worktree's name has 1 to %u letters, digits, '.', '_' and '-', does "
                        "not begin with '-', and is not '.', '..' or '.git'; its branch may be "
                        "called otherwise, with branch",
                        param, NAME_MAX_BYTES);
}

/* Whether a bare repository is in a project's directory, whose `.git` file leads to it. */
static bool is_in_project(const struct al_repo *repo, int common_fd)
{
    const char *slash = strrchr(repo->at.common_dir, '/');
    al_auto(al_freep) char *parent =
        al_strndup(repo->at.common_dir, (size_t)(slash - repo->at.common_dir));
    al_auto(al_closep) int fd = openat(common_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_freep) char *named =
        fd < 0 ? NULL : al_git_read_pointer(fd, ".git", "gitdir: ", parent);
    struct stat one, other;

    return named && stat(named, &one) == 0 && fstat(common_fd, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* Open the main working tree: git names it so, whatever core.worktree says.  Of a bare repository
 * the directory of the project, or its own. */
static int open_main(const struct al_repo *repo, struct al_worktree_place *place, int *ret_fd,
                     struct al_error *err)
{
    al_auto(al_closep) int common_fd = -1;
    bool beside;
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r < 0)
        return r;
    beside = al_ends_with(repo->at.common_dir, "/.git") || is_in_project(repo, common_fd);
    *ret_fd = openat(common_fd, beside ? ".." : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    place->main = *ret_fd < 0 ? NULL : al_fs_fd_path(*ret_fd);
    if (!place->main)
        return al_error_errno(err, errno, "cannot open the main working tree");
    return 0;
}

static int in_the_way(const char *path, int errno_value, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    if (errno_value == ELOOP || errno_value == ENOTDIR || errno_value == EXDEV)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' cannot hold worktrees: a link or a file is in its path; move it "
                            "away, or set worktrees.dir",
                            safe);
    return al_error_errno(err, errno_value, "cannot use '%s' for worktrees", safe);
}

/* Open `path` below `base_fd`, and make its missing directories. */
static int open_dir(int base_fd, const char *path, bool make, bool *ret_made)
{
    al_auto(al_closep) int parent_fd = -1;
    const char *name;
    int fd = al_nofollow_open(base_fd, path, O_RDONLY | O_DIRECTORY);

    if (fd != -ENOENT || !make)
        return fd;
    parent_fd = al_nofollow_open_parent(base_fd, path, true, &name);
    if (parent_fd < 0)
        return parent_fd;
    *ret_made = mkdirat(parent_fd, name, 0777) == 0;
    if (!*ret_made && errno != EEXIST)
        return -errno;
    return al_nofollow_open(parent_fd, name, O_RDONLY | O_DIRECTORY);
}

int al_worktree_place_find(const struct al_repo *repo, bool make,
                           struct al_worktree_place *ret_place, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_closep) int main_fd = -1;
    al_auto(al_closep) int base_fd = -1;
    const char *dir = repo->at.git->options.worktrees_dir;
    int r;

    if (!dir)
        return al_error_set(err, AL_ERR_EXECUTION, "this session makes no worktrees");
    r = open_main(repo, &place, &main_fd, err);
    if (r < 0)
        return r;
    place.dir = al_fs_join(place.main, dir);
    base_fd = *dir == '/' ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : al_take_fd(&main_fd);
    place.fd = open_dir(base_fd, *dir == '/' ? dir + 1 : dir, make, &place.made);
    if (place.fd == -ENOENT && !make)
        place.fd = -1;
    else if (place.fd < 0)
        return in_the_way(place.dir, -place.fd, err);
    /* git does not list every file of every worktree as untracked.  A file that is there stays. */
    else if (make && *dir != '/')
        r = al_fs_write_atomic(place.fd, ".gitignore", "*\n", 2, 0644, false);
    if (r < 0 && r != -EEXIST)
        return in_the_way(place.dir, -r, err);
    *ret_place = place;
    place = AL_WORKTREE_PLACE_INIT;
    return 0;
}

/* --- Find --- */

#define REASON_MAX_BYTES 4096u

void al_worktree_found_clear(struct al_worktree_found *found)
{
    free(found->top);
    free(found->id);
    free(found->git_dir);
    free(found->locked);
    *found = AL_WORKTREE_FOUND_INIT;
}

struct search {
    struct al_worktree_found *found;
    const struct al_worktree_place *place;
    size_t count;
};

static bool take_named(void *payload, const char *id, int fd, const char *top)
{
    struct search *search = payload;
    al_auto(al_str_clear) struct al_str reason = AL_STR_INIT;
    struct stat st;

    if (!top || strcmp(top, search->found->top) != 0)
        return true;
    search->found->id = al_strdup(id);
    if (fstatat(fd, "locked", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    (void)al_fs_read(fd, "locked", REASON_MAX_BYTES, &reason);
    al_str_trim_end(&reason);
    search->found->locked = al_strdup(reason.len ? reason.buf : "");
    return false;
}

int al_worktree_find(const struct al_repo *repo, const struct al_worktree_place *place,
                     const char *name, struct al_worktree_found *ret_found, struct al_error *err)
{
    struct search search = { .found = ret_found };
    al_auto(al_freep) char *git_dir = NULL;
    struct stat st;
    int r;

    ret_found->top = al_fs_join(place->dir, name);
    r = al_git_each_linked(&repo->at, take_named, &search, err);
    if (r < 0)
        return r;
    if (ret_found->id)
        ret_found->git_dir = al_asprintf("%s/worktrees/%s", repo->at.common_dir, ret_found->id);
    ret_found->has_top = place->fd >= 0 && fstatat(place->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    git_dir =
        ret_found->has_top ? al_git_dir_of_worktree(ret_found->top, repo->at.common_dir) : NULL;
    ret_found->is_whole = git_dir && ret_found->git_dir && !strcmp(git_dir, ret_found->git_dir);
    return 0;
}

static bool count_below(void *payload, const char *id, int fd, const char *top)
{
    struct search *search = payload;
    const char *below = top ? al_fs_beneath(search->place->dir, top) : NULL;

    (void)id;
    (void)fd;
    search->count += below && *below;
    return true;
}

int al_worktree_count(const struct al_repo *repo, const struct al_worktree_place *place,
                      size_t *ret_count, struct al_error *err)
{
    struct search search = { .place = place };
    int r = al_git_each_linked(&repo->at, count_below, &search, err);

    *ret_count = search.count;
    return r;
}
