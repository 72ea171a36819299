// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/add.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/index_facts.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "guard/text.h"

/* Append pathspecs for everything except `without`. */
static void add_exclusions(const struct al_add_options *options, struct al_str *list)
{
    static const char everywhere[] = ":/";

    if (!options->without || !options->without->count)
        return;
    al_str_add(list, everywhere, sizeof(everywhere));
    for (size_t i = 0; i < options->without->count; i++) {
        al_str_addf(list, ":(top,exclude,literal)%s", options->without->items[i]);
        al_str_add(list, "", 1);
    }
}

int al_git_add(struct al_repo *repo, const struct al_add_options *options, size_t max_bytes,
               struct al_run_limits *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = al_repo_index_facts(&repo->at).gitlinks;
    command.index = options->index;
    al_strv_adds(&command.argv, "git", "add", NULL);
    if (options->mode == AL_ADD_ALL) {
        al_strv_add(&command.argv, "-A");
        add_exclusions(options, &list);
    } else if (options->mode == AL_ADD_UPDATE) {
        al_strv_add(&command.argv, "-u");
    }
    if (options->mode == AL_ADD_PATHS || options->limited) {
        r = al_repo_pathspecs(repo, options->paths, budget, &list, err);
        if (r < 0)
            return r;
    }
    if (list.len) {
        al_strv_adds(&command.argv, "--pathspec-from-file=-", "--pathspec-file-nul", NULL);
        command.input = list.buf;
        command.input_len = list.len;
    }
    return al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = max_bytes, .waits_for_lock = true, .checked = true },
        budget, ret_output, err);
}

/* Whether one of the files is `path`, or is below it. */
static bool has_below(const struct al_strv *files, const char *path)
{
    const size_t len = strlen(path);
    bool found = false;

    for (size_t i = 0; i < files->count && !found; i++)
        found = al_starts_with(files->items[i], path) &&
                (!files->items[i][len] || files->items[i][len] == '/');
    return found;
}

static int check_path(const struct al_repo *repo, const char *given, bool or_head,
                      const struct al_strv *affected, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *path = NULL, *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);
    struct stat st;
    int r = al_repo_file(repo, "paths", given, &path, err);

    /* A pattern may match what only git can list. */
    if (r < 0 || fstatat(repo->at.dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 || path[0] == ':' ||
        strpbrk(path, "*?[\\") || has_below(affected, path))
        return r;
    /* Only an entry that git does not want in the working tree is left. */
    al_strv_adds(&command.argv, "git", "ls-files", "-z", NULL);
    if (or_head && *head)
        al_strv_add(&command.argv, "--with-tree=HEAD");
    al_strv_add(&command.argv, "--");
    al_strv_addf(&command.argv, ":(literal)%s", path);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 1 }, budget, &output,
                   err);
    if (r < 0 || !al_git_read_well(&output) || output.out.out.len)
        return r;
    return al_git_would_fail(err, "fatal: pathspec '%s' did not match any files", safe);
}

int al_git_add_check(const struct al_repo *repo, const struct al_strv *paths, bool or_head,
                     const struct al_strv *affected, struct al_run_limits *budget,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < paths->count && r == 0; i++)
        r = check_path(repo, paths->items[i], or_head, affected, budget, err);
    return r;
}

int al_git_count_staged(const struct al_repo *repo, struct al_run_limits *budget,
                        uint64_t *ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff", "--cached", "--name-only", "-z", "--no-ext-diff",
                 "--no-textconv", "--ignore-submodules=dirty", "--", NULL);
    return al_git_count_records(&repo->at, &command, budget, ret_count, err);
}
