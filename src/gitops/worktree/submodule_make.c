// SPDX-License-Identifier: Apache-2.0
/* Making the repository and the files of one submodule from a repository that is there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/partial_clone.h"
#include "gitops/plumbing/revision.h"
#include "gitops/repo/remotes.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "gitops/worktree/beside.h"
#include "gitops/worktree/submodules.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define OUTPUT_MAX_BYTES  (64u << 10)
#define SHALLOW_MAX_BYTES (1u << 20)

/* A submodule while it is made. */
struct making {
    const struct al_worktree_half *half;
    const struct al_worktree_submodule *submodule;
    struct al_run_limits *budget;
    size_t *files_left;
    struct al_worktree_beside source;
    char *refs;    /* as packed-refs has them */
    int source_fd; /* the git directory that it is made from */
    int top_fd, git_fd;
    bool has_git_dir; /* what is there is ours to remove */
};

static void making_clear(struct making *making)
{
    al_worktree_beside_clear(&making->source);
    free(making->refs);
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

char *al_worktree_submodule_source(const struct al_repo *repo, const char *dir)
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

int al_worktree_open_made(const struct al_worktree_half *half,
                          const struct al_worktree_submodule *submodule,
                          struct al_run_limits *budget, struct al_worktree_beside *ret_beside,
                          struct al_error *err)
{
    al_auto(al_freep) char *top = al_fs_join(half->top, submodule->path);
    al_auto(al_freep) char *git_dir = al_fs_join(half->git_dir, submodule->dir);

    return al_worktree_open_submodule(half->repo, top, git_dir, budget, ret_beside, err);
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
        al_worktree_submodule_source(making->half->repo, making->submodule->dir);
    struct stat st;
    int r;

    if (!path)
        return al_error_set(err, AL_ERR_EXECUTION, "there is no repository of it here");
    if (borrows(path))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "it borrows objects (objects/info/alternates); 'git repack -a -d' in "
                            "it, and removing that file, changes that");
    r = al_worktree_open_submodule(making->half->repo, NULL, path, making->budget, &making->source,
                                   err);
    if (r == 0)
        r = al_location_open_git_dir(&making->source.repo->at, &making->source_fd, err);
    if (r == 0 && fstatat(making->source_fd, "commondir", &st, AT_SYMLINK_NOFOLLOW) == 0)
        r = al_error_set(err, AL_ERR_EXECUTION, "its repository is part of another one");
    return r;
}

/* References of a packed-refs file, while they are read. */
struct reading {
    struct al_str text;
    size_t count;
};

static bool take_ref(void *payload, char *const *fields)
{
    struct reading *reading = payload;
    const char *ref = fields[0] + (fields[0][0] == '\n'); /* git ends the line before */

    if (al_ends_with(ref, "/HEAD")) /* a symbolic one, which the file cannot have */
        return true;
    al_str_addf(&reading->text, "%s\n", ref);
    return ++reading->count <= AL_WORKTREE_SUBMODULE_REFS_MAX;
}

static int read_refs(struct making *making, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    struct reading reading = { .text = AL_STR_INIT };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_ref, &reading);
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(objectname) %(refname)%00",
                 "refs/remotes/", "refs/tags/", NULL);
    r = al_git_read_records(&making->source.repo->at, &command, &records, making->budget, err);
    if (r == 0 && reading.count > AL_WORKTREE_SUBMODULE_REFS_MAX)
        r = al_error_set(err, AL_ERR_EXECUTION, "it has too many references");
    making->refs = al_str_detach(&reading.text);
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
    bool plain = !strpbrk(value, "\"\\#;\n\t") && *value != ' ' && !al_ends_with(value, " ");

    al_str_addf(text, "\t%s = %s", key, plain ? "" : "\"");
    for (const char *at = value; *at; at++) {
        if (*at == '"' || *at == '\\')
            al_str_addc(text, '\\');
        if (*at == '\n' || *at == '\t')
            al_str_adds(text, *at == '\n' ? "\\n" : "\\t");
        else
            al_str_addc(text, *at);
    }
    al_str_adds(text, plain ? "\n" : "\"\n");
}

/* Where it came from stays known, as after a clone; nothing else of the configuration is taken. */
static void add_remotes(const struct al_repo *source, struct al_str *text)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_remote_names(source, &names);
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i];
        al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT;
        al_auto(al_strv_clear) struct al_strv push_urls = AL_STRV_INIT;

        if (al_remote_check_name("remote", name, NULL) < 0 || strpbrk(name, "\"\\") ||
            !al_remote_addresses(source, name, &urls, &push_urls))
            continue;
        al_str_addf(text, "[remote \"%s\"]\n", name);
        for (size_t k = 0; k < urls.count && k < AL_REMOTE_URLS_MAX; k++)
            add_value(text, "url", urls.items[k]);
        al_str_addf(text, "\tfetch = +refs/heads/*:refs/remotes/%s/*\n", name);
    }
}

/* "submodule.<name>.url NL <address>" */
static bool take_address(void *payload, char *const *fields)
{
    const char *name = fields[0] + strlen("submodule.");
    const char *line = strchr(fields[0], '\n');
    const char *end = line ? line - strlen(".url") : NULL;
    struct al_str *text = payload;

    if (!line || end <= name || memchr(name, '"', (size_t)(end - name)) ||
        memchr(name, '\\', (size_t)(end - name)))
        return true;
    al_str_addf(text, "[submodule \"%.*s\"]\n\tactive = true\n", (int)(end - name), name);
    add_value(text, "url", line + 1);
    return true;
}

/* Its own submodules are initialised as they are there.  No other key is taken: `update` would name
 * a program. */
static int add_submodules(const struct making *making, struct al_str *text, struct al_error *err)
{
    const struct al_repo *source = making->source.repo;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_address, text);

    al_strv_adds(&command.argv, "git", "config", "--no-includes", NULL);
    al_strv_addf(&command.argv, "--file=%s/config", source->at.git_dir);
    al_strv_adds(&command.argv, "-z", "--get-regexp", "^submodule\\..*\\.url$", NULL);
    return al_git_run(&source->at, &command,
                      &(struct al_git_run){ .sink = { al_nul_records_add, &records } },
                      making->budget, &output, err);
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
    add_remotes(source, text);
    return add_submodules(making, text, err);
}

static int write_file(int dir_fd, const char *name, const char *text, struct al_error *err)
{
    int r = al_fs_write_atomic(dir_fd, name, text, strlen(text), 0644, false);

    return r < 0 ? al_error_errno(err, -r, "its '%s' cannot be written", name) : 0;
}

static int write_files(struct making *making, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str config = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str shallow = AL_STR_INIT;
    al_auto(al_freep) char *head = al_asprintf("%s\n", making->submodule->head);
    al_auto(al_freep) char *refs =
        al_asprintf("# pack-refs with: sorted \n%s", making->refs ? making->refs : "");
    int r = write_config(making, &config, err);

    if (r == 0)
        r = write_file(making->git_fd, "config", config.buf, err);
    if (r == 0 && al_fs_read(making->source_fd, "shallow", SHALLOW_MAX_BYTES, &shallow) == 0)
        r = write_file(making->git_fd, "shallow", shallow.buf, err);
    if (r == 0)
        r = write_file(making->git_fd, "packed-refs", refs, err);
    if (r == 0 && mkdirat(making->git_fd, "refs", 0777) < 0)
        r = al_error_errno(err, errno, "its references cannot be written");
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

static int link_objects(struct making *making, struct al_error *err)
{
    al_auto(al_closep) int from_fd =
        al_nofollow_open(making->source_fd, "objects", O_RDONLY | O_DIRECTORY);
    al_auto(al_closep) int to_fd = -1;

    if (from_fd < 0)
        return al_error_errno(err, -from_fd, "its objects cannot be read");
    if (mkdirat(making->git_fd, "objects", 0777) == 0)
        to_fd = al_nofollow_open(making->git_fd, "objects", O_RDONLY | O_DIRECTORY);
    if (to_fd < 0)
        return al_error_set(err, AL_ERR_EXECUTION, "its git directory cannot be written");
    return al_worktree_link_objects(from_fd, to_fd, making->files_left, making->budget, err);
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

/* git would run these programs for the files that it writes. */
static int check_filters(const struct al_repo *repo, struct al_run_limits *budget,
                         struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r;

    if (!al_git_has_filters(repo))
        return 0;
    r = al_git_list_changed(repo, al_git_empty_tree(repo), "HEAD", budget, &list, err);
    if (r == 0)
        r = al_git_check_filters(repo, &list, "HEAD", budget, err);
    al_buffer_clear(&list);
    return r;
}

static int check_out(struct making *making, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside made = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *oid = NULL;
    int r = al_worktree_open_made(making->half, making->submodule, making->budget, &made, err);

    if (r < 0)
        return r;
    al_repo_use_absolute_paths(made.repo);
    r = al_git_find_object(made.repo, "HEAD", "commit", making->budget, &oid, err);
    if (r == 0 && !oid)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "the repository of it that is here lacks the commit %.8s",
                         making->submodule->head);
    if (r == 0)
        r = al_git_check_downloaded(made.repo, "HEAD", NULL, making->budget, err);
    if (r == 0)
        r = check_filters(made.repo, making->budget, err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "read-tree", "--reset", "-u", "HEAD", NULL);
    r = al_git_run(&made.repo->at, &command, &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES },
                   making->budget, &output, err);
    return r == 0 && !al_git_wrote_all_files(&output) ? al_git_failed(&output, err) : r;
}

/* --- All of it --- */

/* What is below the worktree goes with its content; the empty directory stays, as git makes it. */
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

int al_worktree_make_submodule(const struct al_worktree_half *half,
                               const struct al_worktree_submodule *submodule, size_t *files_left,
                               struct al_run_limits *budget, struct al_error *err)
{
    al_auto(making_clear) struct making making = { .half = half,
                                                   .submodule = submodule,
                                                   .budget = budget,
                                                   .files_left = files_left,
                                                   .source = AL_WORKTREE_BESIDE_INIT,
                                                   .source_fd = -1,
                                                   .top_fd = -1,
                                                   .git_fd = -1 };
    int r = open_source(&making, err);

    if (r == 0)
        r = read_refs(&making, err);
    if (r == 0)
        r = open_top(&making, err);
    if (r == 0)
        r = make_git_dir(&making, err);
    if (r == 0)
        r = link_objects(&making, err);
    if (r == 0)
        r = write_files(&making, err);
    if (r == 0)
        r = write_dot_git(&making, err);
    if (r == 0)
        r = check_out(&making, err);
    if (r < 0)
        discard(&making);
    return r;
}
