// SPDX-License-Identifier: Apache-2.0
#include "git/repo/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/layer.h"
#include "git/run.h"
#include "git/vet/vet.h"

/* The place where git runs without a repository: it has the user's settings alone, which are those
 * of an empty one. */
static int find_here(struct al_git *git, struct al_run_limits *budget, struct al_repo **ret_none,
                     struct al_location *ret_at, struct al_error *err)
{
    int r = al_repo_make_own(git, budget, ret_none, err);

    if (r < 0)
        return r;
    ret_at->git = git;
    ret_at->budget = budget;
    ret_at->config = &(*ret_none)->vetting->config;
    ret_at->dir = getcwd(NULL, 0);
    ret_at->dir_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return ret_at->dir && ret_at->dir_fd >= 0
               ? 0
               : al_error_errno(err, errno, "cannot open the current directory");
}

/* Whether a command is a script in this git: no shell is started, and the program that does its
 * work is told instead. */
static bool is_script(const struct al_git *git, const char *command)
{
    al_auto(al_freep) char *path = git->core ? al_asprintf("%s-%s", git->core, command) : NULL;
    al_auto(al_closep) int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    char begin[2];

    return fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin) && !memcmp(begin, "#!", 2);
}

/* Whether a word of git bisect says what a commit is like; the user chooses these words. */
static bool is_state(const char *command, const char *verb)
{
    static const char *const others[] = { "start", "terms",  "skip", "next",
                                          "reset", "replay", "log",  "status" };

    for (size_t i = 0; i < AL_COUNT(others); i++)
        if (!strcmp(verb, others[i]))
            return false;
    return !strcmp(command, "bisect");
}

/* "bisect bad" is "bisect--helper state bad", and "submodule -q init" "submodule--helper init -q".
 * git itself took the prefix as long as git bisect was a script. */
static void add_script(const struct al_git *git, const struct al_git_words *given,
                       struct al_strv *argv)
{
    const struct al_strv *words = given->words;
    const bool is_early = given->prefix && is_script(git, "bisect");
    size_t at = 1;
    const char *verb;

    while (at < words->count && words->items[at][0] == '-')
        at++;
    verb = at < words->count ? words->items[at] : "status";
    if (is_early)
        al_strv_addf(argv, "--super-prefix=%s", given->prefix);
    al_strv_addf(argv, "%s--helper", words->items[0]);
    if (is_state(words->items[0], verb))
        al_strv_add(argv, "state");
    al_strv_add(argv, verb);
    if (given->prefix && !is_early)
        al_strv_addf(argv, "--super-prefix=%s", given->prefix);
    for (size_t i = 1; i < words->count; i++)
        if (i != at)
            al_strv_add(argv, words->items[i]);
}

/* git bisect prints its usage without a word, and with -h, as long as it is a script. */
static bool say_usage(const struct al_git *git, const struct al_git_words *words, int *ret_code)
{
    static const char usage[] = "usage: git bisect [help|start|bad|good|new|old|terms|skip|next|"
                                "reset|visualize|view|replay|log|run]\n";
    const struct al_strv *given = words->words;
    const bool helps = given->count == 2 && !strcmp(given->items[1], "-h");

    if ((given->count != 1 && !helps) || strcmp(given->items[0], "bisect") != 0 ||
        !is_script(git, "bisect"))
        return false;
    (void)al_write_all(helps ? words->shell->out_fd : words->shell->err_fd, usage, strlen(usage));
    *ret_code = !helps;
    return true;
}

static void add_words(const struct al_git *git, const struct al_git_words *words,
                      struct al_strv *argv)
{
    al_strv_add(argv, "git");
    al_strv_add_all(argv, words->globals);
    if (words->words->count && is_script(git, words->words->items[0])) {
        add_script(git, words, argv);
        return;
    }
    for (size_t i = 0; i < words->words->count; i++) {
        al_strv_add(argv, words->words->items[i]);
        if (!i && words->shows_patches)
            al_strv_adds(argv, "--no-ext-diff", "--no-textconv", NULL);
    }
}

int al_git_run_words(struct al_git *git, const struct al_repo *repo,
                     const struct al_git_words *words, struct al_run_limits *budget, int *ret_code,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_location_clear) struct al_location here = AL_LOCATION_INIT;
    struct al_repo *none = NULL;
    int r;

    if (say_usage(git, words, ret_code))
        return 0;
    r = repo ? 0 : find_here(git, budget, &none, &here, err);

    add_words(git, words, &command.argv);
    command.class = words->class;
    command.starts_children = words->starts_children;
    command.finds_itself = words->finds_itself || !repo;
    command.quotes_names = true;
    command.shell = words->shell;
    if (r == 0)
        r = al_git_run(repo ? &repo->at : &here, &command, &(struct al_git_run){ .locks = 0 },
                       &output, err);
    al_repo_free(none);
    if (r == 0)
        *ret_code = output.signal ? 128 + output.signal : output.exit_code;
    return r;
}

char *al_git_setting(const struct al_repo *repo, const char *key)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str value = AL_STR_INIT;

    command.class = AL_GIT_CONFIG;
    al_strv_adds(&command.argv, "git", "config", "-z",
                 repo->vetting->includes ? "--includes" : "--no-includes", "--get", key, NULL);
    if (al_git_read(&repo->at, &command, al_git_sink(&value), NULL) < 0)
        return NULL;
    return al_str_detach(&value);
}
