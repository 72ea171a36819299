// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/batch.h"

#include <stdlib.h>
#include <unistd.h>

#include "git/command.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "guard/text.h"

/** A tree of a few objects can stand for millions of paths. */
#define CHANGED_MAX_BYTES (64u << 20)

/* Every kernel since 2.6.23 takes this much with the usual stack of 8 MiB. */
#define COMMAND_LINE_MAX_BYTES ((size_t)2 * 1024 * 1024)

/* The other half is for the environment, to which git adds for its own children. */
size_t al_batch_max_bytes(void)
{
    long bytes = sysconf(_SC_ARG_MAX);

    if (bytes <= 0 || (size_t)bytes > COMMAND_LINE_MAX_BYTES)
        return COMMAND_LINE_MAX_BYTES / 2;
    return (size_t)bytes / 2;
}

bool al_batch_add(struct al_strv *argv, const struct al_str *words, size_t *at)
{
    size_t left = al_batch_max_bytes();
    bool first = true;

    while (*at < words->len) {
        const char *word = words->buf + *at;
        size_t bytes = strlen(word) + 1 + sizeof(word);

        if (bytes > left && !first)
            return true;
        al_strv_add(argv, word);
        *at += strlen(word) + 1;
        left -= bytes < left ? bytes : left;
        first = false;
    }
    return false;
}

int al_batch_add_all(const struct al_repo *repo, const struct al_strv *paths, const char *command,
                     struct al_strv *argv, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t at = 0;
    int r = al_repo_pathspecs(repo, paths, &words, err);

    if (r == 0 && al_batch_add(argv, &words, &at))
        r = al_error_set(err, AL_ERR_BAD_ARGS,
                         "paths: more than one git %s takes; name fewer, or their directory",
                         command);
    return r;
}

void al_paths_sort_once(struct al_strv *paths)
{
    size_t kept = 0;

    al_strv_sort(paths);
    for (size_t i = 0; i < paths->count; i++) {
        if (kept && !strcmp(paths->items[i], paths->items[kept - 1]))
            free(paths->items[i]);
        else
            paths->items[kept++] = paths->items[i];
    }
    paths->count = kept;
    if (paths->items)
        paths->items[kept] = NULL;
}

/* Words of two batches may name the same file, and a conflict has one entry for each side. */
int al_batch_list(const struct al_repo *repo, const char *const *command,
                  const struct al_str *words, struct al_strv *ret_paths, struct al_error *err)
{
    size_t at = 0;

    while (at < words->len) {
        al_auto(al_git_command_clear) struct al_git_command batch = AL_GIT_COMMAND_INIT;
        int r;

        for (size_t i = 0; command[i]; i++)
            al_strv_add(&batch.argv, command[i]);
        (void)al_batch_add(&batch.argv, words, &at);
        r = al_git_list_paths(repo, &batch, ret_paths, err);
        if (r < 0)
            return r;
    }
    al_paths_sort_once(ret_paths);
    return 0;
}

/* No program that the repository configures runs: no external diff, no textconv. */
static void add_diff(struct al_strv *argv)
{
    al_strv_adds(argv, "git", "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff",
                 "--no-textconv", NULL);
}

int al_batch_list_diff(const struct al_repo *repo, const char *const *options,
                       const struct al_str *words, struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv command = AL_STRV_INIT;

    add_diff(&command);
    for (size_t i = 0; options[i]; i++)
        al_strv_add(&command, options[i]);
    al_strv_add(&command, "--");
    return al_batch_list(repo, (const char *const *)command.items, words, ret_paths, err);
}

/** Paths while they are listed. */
struct listing {
    struct al_strv *paths;
    size_t bytes, max;
};

static bool take_path(void *payload, char *const *fields)
{
    struct listing *listing = payload;

    listing->bytes += strlen(fields[0]) + 1;
    if (listing->bytes <= listing->max)
        al_strv_add(listing->paths, fields[0]);
    return listing->bytes <= listing->max;
}

static int list(const struct al_repo *repo, const struct al_git_command *command, size_t max_bytes,
                struct al_strv *ret_paths, struct al_error *err)
{
    struct listing listing = { .paths = ret_paths, .max = max_bytes };
    int r = al_git_read_records(&repo->at, command, 1, take_path, &listing, err);

    return r == 0 && listing.bytes > max_bytes
               ? al_error_set(err, AL_ERR_EXECUTION,
                              "Too many changed files for one call; name fewer paths")
               : r;
}

int al_git_list_paths(const struct al_repo *repo, const struct al_git_command *command,
                      struct al_strv *ret_paths, struct al_error *err)
{
    return list(repo, command, AL_PATH_LIST_MAX_BYTES, ret_paths, err);
}

int al_git_list_changed(const struct al_repo *repo, const char *from, const char *to,
                        struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    if (to && !strcmp(from, to))
        return 0;
    add_diff(&command.argv);
    al_strv_adds(&command.argv, "--ignore-submodules=dirty", from, to ? to : "--", to ? "--" : NULL,
                 NULL);
    r = list(repo, &command, CHANGED_MAX_BYTES, ret_paths, err);
    al_strv_sort(ret_paths);
    return r;
}

int al_git_list_files(const struct al_repo *repo, int top_fd, al_record_fn take, void *payload,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.cwd_fd = top_fd;
    al_strv_adds(&command.argv, "git", "ls-files", "-z", "-c", "-o", "--exclude-standard", NULL);
    return al_git_read_records(&repo->at, &command, 1, take, payload, err);
}

/* --- Ls files tracked --- */

int al_repo_tracked_files(const struct al_repo *repo, const struct al_strv *names,
                          struct al_strv *ret_files, struct al_error *err)
{
    static const char *const tracked[] = { "git", "ls-files", "-z", "--full-name", "--", NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    for (size_t i = 0; i < names->count; i++) {
        al_str_addf(&words, ":(top,literal)%s", names->items[i]);
        al_str_addc(&words, '\0');
    }
    return al_batch_list(repo, tracked, &words, ret_files, err);
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

int al_git_find_ignored(const struct al_repo *repo, const struct al_strv *paths, char **ret_rule,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = add_paths(repo, paths, &list, err);

    *ret_rule = NULL;
    if (r < 0 || !list.len)
        return r;
    al_git_command_feed(&command, &list);
    al_strv_adds(&command.argv, "git", "check-ignore", "--stdin", "-z", "-v", NULL);
    return al_git_find_records(&repo->at, &command, 4, check_ignore_take, ret_rule, err);
}
