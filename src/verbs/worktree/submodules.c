// SPDX-License-Identifier: Apache-2.0
#include "verbs/worktree/submodules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/environment.h"
#include "git/failure.h"
#include "git/location.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/revision.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/arg.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "verbs/worktree/list.h"

/* The most submodules of one call. */
#define WORKTREE_SUBMODULES_MAX 64

/* --- Submodule list --- */

/* The submodules of a repository: entries of its index, and their names in .gitmodules. */

#define NAME_MAX_BYTES    1024u
#define MODULES_MAX_BYTES (1u << 20)
#define LINES_MAX         4096u /* of them count */

static void worktree_submodule_clear(struct al_worktree_submodule *submodule)
{
    free(submodule->path);
    free(submodule->dir);
    free(submodule->head);
    free(submodule->url);
    free(submodule->update);
}

void al_worktree_submodules_clear(struct al_worktree_submodules *submodules)
{
    for (size_t i = 0; i < submodules->count; i++)
        worktree_submodule_clear(&submodules->items[i]);
    free(submodules->items);
    *submodules = AL_WORKTREE_SUBMODULES_INIT;
}

/* "<mode> <oid> <stage> TAB <path>" gives path and commit. */
static bool take_link(void *payload, char *const *fields)
{
    struct al_strv *links = payload;
    const char *tab = strchr(fields[0], '\t');
    const char *oid = fields[0] + strlen("160000 ");

    if (!tab || !al_starts_with(fields[0], "160000 ") || tab[-1] != '0')
        return true;
    al_strv_add(links, tab + 1);
    al_strv_take(links, al_strndup(oid, strcspn(oid, " ")));
    return links->count <= 2 * (size_t)WORKTREE_SUBMODULES_MAX;
}

static int read_links(const struct al_repo *repo, const struct al_strv *words,
                      struct al_strv *links, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "ls-files", "--full-name", "--stage", "-z", "--", NULL);
    al_strv_add_all(&command.argv, words);
    if (!words || !words->count)
        al_strv_add(&command.argv, ":/");
    return al_git_read_records(&repo->at, &command, 1, take_link, links, err);
}

/* git reads the file, else the index.  A link counts for no file: it could lead anywhere. */
void al_worktree_submodule_settings(const struct al_repo *repo, bool of_modules,
                                    struct al_strv *lines)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int top_fd = -1;
    const bool is_file = of_modules && al_location_open_top(&repo->at, &top_fd, NULL) == 0 &&
                         al_fs_read(top_fd, ".gitmodules", MODULES_MAX_BYTES, &text) == 0;

    command.class = of_modules ? AL_GIT_READ : AL_GIT_CONFIG;
    if (is_file)
        al_git_command_feed(&command, &text);
    al_strv_adds(&command.argv, "git", "config", "-z",
                 !of_modules && repo->vetting->includes ? "--includes" : "--no-includes", NULL);
    if (of_modules)
        al_strv_add(&command.argv, is_file ? "--file=-" : "--blob=:.gitmodules");
    al_strv_adds(&command.argv, "--get-regexp", "^submodule\\.", NULL);
    (void)al_git_read_records(&repo->at, &command, 1, al_nul_records_list, lines, NULL);
}

const char *al_worktree_submodule_value(const struct al_strv *lines, const char *name,
                                        const char *variable)
{
    al_auto(al_freep) char *begin = al_asprintf("submodule.%s.%s\n", name, variable);
    const char *found = NULL;

    for (size_t i = 0; i < lines->count && i < LINES_MAX; i++)
        if (al_starts_with(lines->items[i], begin))
            found = lines->items[i] + strlen(begin);
    return found;
}

/* The name is a path below modules/: no part of it may be empty, "." or "..", or a git directory.
 */
static bool is_name(const char *name)
{
    if (!*name || strlen(name) > NAME_MAX_BYTES || *name == '/' || al_ends_with(name, "/") ||
        strpbrk(name, "\\\n\r") || strstr(name, "//") || al_path_has_dot_git(name))
        return false;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        size_t len = strcspn(at, "/");

        if ((len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.'))
            return false;
    }
    return true;
}

/* The last name that has the path.  Caller frees; NULL: none. */
static char *name_of(const struct al_strv *lines, const char *path)
{
    const size_t begin = strlen("submodule.");
    al_auto(al_freep) char *tail = al_asprintf(".path\n%s", path);
    const char *found = NULL;

    for (size_t i = 0; i < lines->count && i < LINES_MAX; i++)
        if (al_ends_with(lines->items[i], tail))
            found = lines->items[i];
    return found && strlen(found) > begin + strlen(tail)
               ? al_strndup(found + begin, strlen(found) - strlen(tail) - begin)
               : NULL;
}

static void refuse(struct al_strv *refused, const char *path, const char *reason)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    al_strv_addf(refused, "'%s': %s", safe, reason);
}

int al_worktree_list_submodules(const struct al_repo *repo, const char *path, const char *dir,
                                const struct al_strv *words, struct al_worktree_submodules *list,
                                struct al_strv *refused, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv links = AL_STRV_INIT, lines = AL_STRV_INIT;
    int r = read_links(repo, words, &links, err);

    if (r < 0 || !links.count)
        return r;
    al_worktree_submodule_settings(repo, true, &lines);
    for (size_t i = 0; i + 1 < links.count; i += 2) {
        al_auto(al_freep) char *name = name_of(&lines, links.items[i]);
        al_auto(al_freep) char *at = al_asprintf("%s%s", path, links.items[i]);

        list->items = al_grow(list->items, list->count, sizeof(*list->items));
        if (list->count >= WORKTREE_SUBMODULES_MAX)
            refuse(refused, at, "there are too many submodules");
        else if (!name)
            refuse(refused, at, ".gitmodules does not name it");
        else if (!is_name(name) || strpbrk(at, "\n\r"))
            refuse(refused, at, "its name in .gitmodules is no name of a directory");
        else
            list->items[list->count++] = (struct al_worktree_submodule){
                .path = al_take(&at),
                .dir = al_asprintf("%smodules/%s", dir, name),
                .head = al_strdup(links.items[i + 1]),
                .url = al_strdup(al_worktree_submodule_value(&lines, name, "url")),
                .update = al_strdup(al_worktree_submodule_value(&lines, name, "update")),
            };
    }
    return 0;
}

/* --- Submodule make --- */

/* Making the repository and the files of one submodule from a repository that is there. */

#define OUTPUT_MAX_BYTES  (64u << 10)
#define SHALLOW_MAX_BYTES (1u << 20)

/* A submodule while it is made. */
struct making {
    const struct al_worktree_half *half;
    const struct al_worktree_submodule *submodule;
    struct al_worktree_beside source, made;
    int source_fd; /* the git directory that it is made from */
    int top_fd, git_fd;
    bool has_git_dir; /* what is there is ours to remove */
};

static void making_clear(struct making *making)
{
    al_worktree_beside_clear(&making->source);
    al_worktree_beside_clear(&making->made);
    al_close(making->source_fd);
    al_close(making->top_fd);
    al_close(making->git_fd);
}

static char *find_below(int base_fd, const char *dir)
{
    al_auto(al_closep) int fd = al_nofollow_open(base_fd, dir, O_PATH | O_DIRECTORY);
    struct stat st;

    return fd >= 0 && fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)
               ? al_fs_fd_path(fd)
               : NULL;
}

/* The git directory that a submodule is made from; NULL: there is none.  Caller frees. */
static char *worktree_submodule_source(const struct al_repo *repo, const char *dir)
{
    al_auto(al_closep) int git_fd = -1;
    al_auto(al_closep) int common_fd = -1;
    char *path = NULL;

    if (al_location_open_git_dir(&repo->at, &git_fd, NULL) == 0)
        path = find_below(git_fd, dir);
    if (!path && al_location_open_common_dir(&repo->at, &common_fd, NULL) == 0)
        path = find_below(common_fd, dir);
    return path;
}

static int worktree_open_made(const struct al_worktree_half *half,
                              const struct al_worktree_submodule *submodule,
                              struct al_worktree_beside *ret_beside, struct al_error *err)
{
    al_auto(al_freep) char *top = al_fs_join(half->top, submodule->path);
    al_auto(al_freep) char *git_dir = al_fs_join(half->git_dir, submodule->dir);

    return al_worktree_open_submodule(half->repo, top, git_dir, ret_beside, err);
}

/* --- What it is made from --- */

static bool borrows(const char *git_dir)
{
    al_auto(al_freep) char *file = al_fs_join(git_dir, "objects/info/alternates");
    struct stat st;

    return lstat(file, &st) == 0;
}

static int open_source(struct making *making, struct al_error *err)
{
    al_auto(al_freep) char *path =
        worktree_submodule_source(making->half->repo, making->submodule->dir);
    struct stat st;
    int r;

    if (!path)
        return al_error_set(err, AL_ERR_EXECUTION, "there is no repository of it here");
    if (borrows(path))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "it borrows objects (objects/info/alternates); 'git repack -a -d' in "
                            "it, and removing that file, changes that");
    r = al_worktree_open_submodule(making->half->repo, NULL, path, &making->source, err);
    if (r == 0)
        r = al_location_open_git_dir(&making->source.repo->at, &making->source_fd, err);
    if (r == 0 && fstatat(making->source_fd, "commondir", &st, AT_SYMLINK_NOFOLLOW) == 0)
        r = al_error_set(err, AL_ERR_EXECUTION, "its repository is part of another one");
    return r;
}

/* --- Its git directory --- */

/* The path from one directory to another, both absolute and canonical.  Caller frees. */
static char *relative(const char *from, const char *to)
{
    struct al_str path = AL_STR_INIT;
    size_t same = 0;

    for (size_t i = 0;; i++) {
        bool ends = (!from[i] || from[i] == '/') && (!to[i] || to[i] == '/');

        if (ends)
            same = i;
        if (!from[i] || from[i] != to[i])
            break;
    }
    for (const char *at = from + same; *at; at++)
        if (*at == '/')
            al_str_adds(&path, "../");
    al_str_adds(&path, to[same] ? to + same + 1 : "");
    return al_str_detach(&path);
}

static void add_value(struct al_str *text, const char *key, const char *value)
{
    al_str_addf(text, "\t%s = ", key);
    al_git_quote(text, value);
    al_str_addc(text, '\n');
}

/* "remote.<name>.url NL <address>", "submodule.<name>.url NL <address>" */
static bool take_address(void *payload, char *const *fields)
{
    const bool is_remote = al_starts_with(fields[0], "remote.");
    const char *line = strchr(fields[0], '\n');
    const char *begin = strchr(fields[0], '.') + 1, *end = line ? line - strlen(".url") : begin;
    al_auto(al_freep) char *name = al_strndup(begin, end > begin ? (size_t)(end - begin) : 0);
    struct al_str *text = payload;

    if (!*name || strpbrk(name, "\"\\") ||
        (is_remote && al_arg_check_branch("remote", name, NULL) < 0))
        return true;
    al_str_addf(text, "[%s \"%s\"]\n", is_remote ? "remote" : "submodule", name);
    add_value(text, "url", line + 1);
    if (is_remote)
        al_str_addf(text, "\tfetch = +refs/heads/*:refs/remotes/%s/*\n", name);
    else
        al_str_adds(text, "\tactive = true\n");
    return true;
}

/* Its origin stays known, as after a clone, and its own submodules are initialised as they are
 * there.  No other key is taken: `update` would name a program. */
static int add_addresses(const struct making *making, struct al_str *text, struct al_error *err)
{
    const struct al_repo *source = making->source.repo;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "config", "--no-includes", NULL);
    al_strv_addf(&command.argv, "--file=%s/config", source->at.git_dir);
    al_strv_adds(&command.argv, "-z", "--get-regexp", "^(remote|submodule)\\..*\\.url$", NULL);
    return al_git_find_records(&source->at, &command, 1, take_address, text, err);
}

static int write_config(const struct making *making, struct al_str *text, struct al_error *err)
{
    const struct al_repo *source = making->source.repo;
    al_auto(al_freep) char *git_dir = al_fs_join(making->half->git_dir, making->submodule->dir);
    al_auto(al_freep) char *top = al_fs_join(making->half->top, making->submodule->path);
    al_auto(al_freep) char *to_top = relative(git_dir, top);

    al_str_addf(text, "[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = false\n",
                source->vetting->is_sha256);
    al_str_adds(text, "\tlogallrefupdates = true\n");
    add_value(text, "worktree", to_top);
    if (source->vetting->is_sha256)
        al_str_adds(text, "[extensions]\n\tobjectformat = sha256\n");
    return add_addresses(making, text, err);
}

static int write_file(int dir_fd, const char *name, const char *text, struct al_error *err)
{
    int r = al_fs_write_atomic(dir_fd, name, text, strlen(text), 0644, false);

    return r < 0 ? al_error_errno(err, -r, "its '%s' cannot be written", name) : 0;
}

/* The files that make an empty repository of a directory, with the commit that it will have. */
static int write_files(struct making *making, struct al_error *err)
{
    static const char *const dirs[] = { "objects", "objects/pack", "refs" };
    al_auto(al_str_clear) struct al_str config = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str shallow = AL_STR_INIT;
    al_auto(al_freep) char *head = al_asprintf("%s\n", making->submodule->head);
    int r = write_config(making, &config, err);

    if (r == 0)
        r = write_file(making->git_fd, "config", config.buf, err);
    if (r == 0 && al_fs_read(making->source_fd, "shallow", SHALLOW_MAX_BYTES, &shallow) == 0)
        r = write_file(making->git_fd, "shallow", shallow.buf, err);
    for (size_t i = 0; r == 0 && i < AL_COUNT(dirs); i++)
        if (mkdirat(making->git_fd, dirs[i], 0777) < 0)
            r = al_error_errno(err, errno, "its '%s' cannot be made", dirs[i]);
    return r < 0 ? r : write_file(making->git_fd, "HEAD", head, err);
}

/* The directory may not be inside of another submodule's repository, nor be there already. */
static int make_git_dir(struct making *making, struct al_error *err)
{
    al_auto(al_closep) int base_fd =
        open(making->half->git_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_closep) int parent_fd = -1;
    const char *name;
    struct stat st;

    if (base_fd < 0)
        return al_error_errno(err, errno, "cannot open the administrative directory");
    parent_fd = al_nofollow_open_parent(base_fd, making->submodule->dir, true, &name);
    if (parent_fd < 0)
        return al_error_errno(err, -parent_fd, "its git directory cannot be made");
    if (fstatat(parent_fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "its git directory would be inside of another submodule's");
    if (mkdirat(parent_fd, name, 0777) < 0)
        return al_error_errno(err, errno, "its git directory cannot be made");
    making->has_git_dir = true;
    making->git_fd = al_nofollow_open(parent_fd, name, O_RDONLY | O_DIRECTORY);
    return making->git_fd < 0
               ? al_error_errno(err, -making->git_fd, "its git directory cannot be opened")
               : 0;
}

/* --- What is in it --- */

static bool write_pack(void *payload, const char *data, size_t len)
{
    return al_write_all(*(const int *)payload, data, len) == 0;
}

/* The two gits share no directory: what the other repository has is only read, and every object
 * gets the id that its content says. */
static int copy_objects(struct making *making, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command pack = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command index = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_asprintf("%s\n", making->submodule->head);
    al_auto(al_new_file_clear) struct al_new_file file;
    int r = al_new_file_open(&file, making->git_fd, 0600);

    if (r < 0)
        return al_error_errno(err, -r, "its objects cannot be written");
    pack.input = head;
    pack.input_len = strlen(head);
    al_strv_adds(&pack.argv, "git", "pack-objects", "-q", "--stdout", "--revs", "--all",
                 "--missing=allow-any", NULL);
    r = al_git_read(&making->source.repo->at, &pack, (struct al_sink){ write_pack, &file.fd }, err);
    if (r == 0 && lseek(file.fd, 0, SEEK_SET) < 0)
        r = al_error_errno(err, errno, "its objects cannot be read");
    index.in_fd = file.fd;
    al_strv_adds(&index.argv, "git", "index-pack", "--stdin", NULL);
    return r < 0 ? r : al_git_write(&making->made.repo->at, &index, 0, err);
}

/* One git lists the references as the other takes them.  A symbolic one gives no line of its own.
 */
static int copy_refs(struct making *making, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command list = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command create = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str refs = AL_STR_INIT;
    int r;

    al_strv_adds(&list.argv, "git", "for-each-ref",
                 "--format=%(if)%(symref)%(then)option no-deref%(else)create %(refname) "
                 "%(objectname)%(end)",
                 "refs/remotes/", "refs/tags/", NULL);
    r = al_git_read(&making->source.repo->at, &list, al_git_sink(&refs), err);
    al_git_command_feed(&create, &refs);
    al_strv_adds(&create.argv, "git", "update-ref", "--stdin", NULL);
    return r < 0 ? r : al_git_write(&making->made.repo->at, &create, 0, err);
}

/* --- Its files --- */

/* git makes an empty directory for a gitlink. */
static int open_top(struct making *making, struct al_error *err)
{
    al_auto(al_closep) int base_fd =
        open(making->half->top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_closep) int parent_fd = -1;
    const char *name;

    if (base_fd < 0)
        return al_error_errno(err, errno, "cannot open the worktree");
    parent_fd = al_nofollow_open_parent(base_fd, making->submodule->path, true, &name);
    if (parent_fd >= 0 && (mkdirat(parent_fd, name, 0777) == 0 || errno == EEXIST))
        making->top_fd = al_nofollow_open(parent_fd, name, O_RDONLY | O_DIRECTORY);
    return making->top_fd >= 0 && al_fs_is_empty_dir(making->top_fd)
               ? 0
               : al_error_set(err, AL_ERR_EXECUTION, "there is something else at its path");
}

static int write_dot_git(const struct making *making, struct al_error *err)
{
    al_auto(al_freep) char *git_dir = al_fs_join(making->half->git_dir, making->submodule->dir);
    al_auto(al_freep) char *top = al_fs_join(making->half->top, making->submodule->path);
    al_auto(al_freep) char *to_git_dir = relative(top, git_dir);
    al_auto(al_freep) char *line = al_asprintf("gitdir: %s\n", to_git_dir);

    return write_file(making->top_fd, ".git", line, err);
}

static int fill(struct making *making, struct al_error *err)
{
    al_auto(al_freep) char *oid = NULL;
    int r = al_git_find_object(making->source.repo, making->submodule->head, "commit", &oid, err);

    if (r == 0 && !oid)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "the repository of it that is here lacks the commit %.8s",
                         making->submodule->head);
    if (r == 0)
        r = write_files(making, err);
    if (r == 0)
        r = write_dot_git(making, err);
    if (r == 0)
        r = worktree_open_made(making->half, making->submodule, &making->made, err);
    if (r == 0)
        r = copy_objects(making, err);
    return r < 0 ? r : copy_refs(making, err);
}

static int check_out(struct making *making, struct al_error *err)
{
    struct al_repo *made = making->made.repo;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    r = al_git_check_filters_between(made, al_git_empty_tree(made), "HEAD", err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "read-tree", "--reset", "-u", "HEAD", NULL);
    r = al_git_run(&made->at, &command, &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES },
                   &output, err);
    return r == 0 && !al_git_wrote_all_files(&output) ? al_git_failed(&output, err) : r;
}

/* --- All of it --- */

/* The submodule's content goes; the empty directory stays in the worktree, as git makes it. */
static void discard(struct making *making)
{
    al_auto(al_closep) int base_fd =
        open(making->half->git_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_closep) int parent_fd = -1;
    al_auto(al_closedirp) DIR *dir = making->top_fd < 0 ? NULL : al_fs_list_at(making->top_fd);
    const struct dirent *entry;
    const char *name;

    if (!making->has_git_dir || base_fd < 0)
        return;
    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            al_fs_remove_tree_at(making->top_fd, entry->d_name);
    parent_fd = al_nofollow_open_parent(base_fd, making->submodule->dir, false, &name);
    if (parent_fd < 0)
        return;
    al_fs_remove_tree_at(parent_fd, name);
    al_nofollow_remove_parents(base_fd, making->submodule->dir);
}

/* Make one submodule of a worktree; on failure nothing of it is left. */
static int worktree_make_submodule(const struct al_worktree_half *half,
                                   const struct al_worktree_submodule *submodule,
                                   struct al_error *err)
{
    al_auto(making_clear) struct making making = { .half = half,
                                                   .submodule = submodule,
                                                   .source = AL_WORKTREE_BESIDE_INIT,
                                                   .made = AL_WORKTREE_BESIDE_INIT,
                                                   .source_fd = -1,
                                                   .top_fd = -1,
                                                   .git_fd = -1 };
    int r = open_source(&making, err);

    if (r == 0)
        r = open_top(&making, err);
    if (r == 0)
        r = make_git_dir(&making, err);
    if (r == 0)
        r = fill(&making, err);
    if (r == 0)
        r = check_out(&making, err);
    if (r < 0)
        discard(&making);
    return r;
}

/* --- Submodules --- */

/* Whether it is initialised in the working tree that is there: its `.git` file names the repository
 * that it has to have.  A reason: it is, but not so; NULL with *ret_is false: it is not. */
static const char *find_initialised(const struct al_repo *from,
                                    const struct al_worktree_submodule *submodule, bool *ret_is)
{
    al_auto(al_closep) int top_fd = -1;
    al_auto(al_closep) int fd = -1;
    al_auto(al_freep) char *source = worktree_submodule_source(from, submodule->dir);
    al_auto(al_freep) char *top = al_fs_join(from->at.top, submodule->path);
    al_auto(al_freep) char *named = NULL;
    struct stat st;

    *ret_is = false;
    if (al_location_open_top(&from->at, &top_fd, NULL) < 0)
        return NULL;
    fd = al_nofollow_open(top_fd, submodule->path, O_PATH | O_DIRECTORY);
    if (fd < 0 || fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL;
    if (!S_ISREG(st.st_mode))
        return "its git directory is in its working tree; 'git submodule absorbgitdirs' moves it";
    named = al_git_read_pointer(fd, ".git", "gitdir: ", top);
    if (!named || !source || !al_location_is_same(named, source))
        return "its .git file does not name the repository below modules/ that its name means";
    *ret_is = true;
    return NULL;
}

/* Make one, and list the submodules that it has. */
static int make_next(const struct al_worktree_half *half, size_t at,
                     struct al_worktree_submodules *list, struct al_worktree_submodules_made *made,
                     struct al_error *err)
{
    const struct al_worktree_submodule *submodule = &list->items[at];
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *path = al_asprintf("%s/", submodule->path);
    al_auto(al_freep) char *dir = al_asprintf("%s/", submodule->dir);
    bool is_initialised;
    const char *reason = find_initialised(half->repo, submodule, &is_initialised);
    int r;

    if (!is_initialised) {
        if (reason)
            refuse(&made->missing, submodule->path, reason);
        return 0;
    }
    r = worktree_make_submodule(half, submodule, &why);
    /* Only the end of the call's time ends the making. */
    if (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return al_error_set(err, r, "%s", why.message);
    if (r < 0) {
        refuse(&made->missing, submodule->path, why.message);
        return 0;
    }
    made->count++;
    r = worktree_open_made(half, submodule, &beside, err);
    return r < 0 ? r
                 : al_worktree_list_submodules(beside.repo, path, dir, NULL, list, &made->missing,
                                               err);
}

int al_worktree_make_submodules(const struct al_worktree_half *half,
                                struct al_worktree_submodules_made *made, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules list =
        AL_WORKTREE_SUBMODULES_INIT;
    int r = al_worktree_open_beside(half->repo, half->top, NULL, &beside, err);

    if (r == 0)
        r = al_worktree_list_submodules(beside.repo, "", "", NULL, &list, &made->missing, err);
    for (size_t i = 0; i < list.count && r == 0; i++)
        r = make_next(half, i, &list, made, err);
    return r;
}
