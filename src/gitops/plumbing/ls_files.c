// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/ls_files.h"

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/batch.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "guard/text.h"

int al_git_list_files(const struct al_repo *repo, int top_fd, al_listed_fn take, void *payload,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take, payload);

    command.cwd_fd = top_fd;
    al_strv_adds(&command.argv, "git", "ls-files", "-z", "-c", "-o", "--exclude-standard", NULL);
    return al_git_read_records(&repo->at, &command, &records, budget, err);
}

/* --- Ls files tracked --- */

static bool take(void *payload, char *const *fields)
{
    al_strv_add(payload, fields[0]);
    return true;
}

int al_repo_tracked_files(const struct al_repo *repo, const struct al_strv *names,
                          struct al_run_limits *budget, struct al_strv *ret_files,
                          struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    for (size_t i = 0; i < names->count; i++) {
        al_str_addf(&words, ":(top,literal)%s", names->items[i]);
        al_str_addc(&words, '\0');
    }
    for (size_t at = 0; at < words.len;) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_nul_records_clear) struct al_nul_records records =
            AL_NUL_RECORDS_INIT(1, take, ret_files);
        int r;

        al_strv_adds(&command.argv, "git", "ls-files", "-z", "--full-name", "--", NULL);
        (void)al_batch_add(&command.argv, &words, &at);
        r = al_git_read_records(&repo->at, &command, &records, budget, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* --- Check ignore --- */

/* "<source> NUL <line> NUL <pattern> NUL <path>": the pattern of a path that is not ignored begins
 * with '!'. */
static bool check_ignore_take(void *payload, char *const *fields)
{
    char **rule = payload;
    al_auto(al_freep) char *line = NULL;

    if (*rule || *fields[2] == '!')
        return true;
    line = al_asprintf("'%s' is ignored by %s:%s %s", fields[3], fields[0], fields[1], fields[2]);
    *rule = al_text_sanitize_line(line);
    return true;
}

/* Append the paths that name something, from the top; a pattern finds no ignored file. */
static int add_paths(const struct al_repo *repo, const struct al_strv *paths, struct al_str *list,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < paths->count && r == 0; i++) {
        al_auto(al_freep) char *path = NULL;

        r = al_repo_file(repo, "paths", paths->items[i], &path, err);
        if (r == 0 && *path && *path != ':' && strcmp(path, ".") != 0)
            al_str_add(list, path, strlen(path) + 1);
    }
    return r;
}

int al_git_find_ignored(const struct al_repo *repo, const struct al_strv *paths,
                        struct al_run_limits *budget, char **ret_rule, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(4, check_ignore_take, ret_rule);
    int r = add_paths(repo, paths, &list, err);

    *ret_rule = NULL;
    if (r < 0 || !list.len)
        return r;
    command.input = list.buf;
    command.input_len = list.len;
    al_strv_adds(&command.argv, "git", "check-ignore", "--stdin", "-z", "-v", NULL);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = { al_nul_records_add, &records } }, budget,
                   &output, err);
    /* 1: none is ignored */
    return r == 0 && output.exit_code > 1 ? al_git_failed(&output, err) : r;
}
