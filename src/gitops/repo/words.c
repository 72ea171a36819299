// SPDX-License-Identifier: Apache-2.0
#include "gitops/repo/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/overrides.h"
#include "gitops/repo/git.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"

/* The configuration of git outside of every repository. */
static void make_config(struct al_git_config *config)
{
    al_auto(al_strv_clear) struct al_strv pairs = AL_STRV_INIT;

    al_overrides_add_always(&pairs, "/nonexistent", "/nonexistent");
    config->for_shell = al_strdup("/nonexistent");
    for (size_t i = 0; i < pairs.count; i += 2) {
        al_strv_addf(&config->overrides, "GIT_CONFIG_KEY_%zu=%s", i / 2, pairs.items[i]);
        al_strv_addf(&config->overrides, "GIT_CONFIG_VALUE_%zu=%s", i / 2, pairs.items[i + 1]);
    }
}

/* Where git runs without a repository.  Its config is released by the caller. */
static int find_here(struct al_git *git, struct al_git_config *config, struct al_location *ret_at,
                     struct al_error *err)
{
    struct al_location at = AL_LOCATION_INIT;

    at.git = git;
    at.dir = getcwd(NULL, 0);
    at.dir_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!at.dir || at.dir_fd < 0) {
        int error = errno;

        al_location_clear(&at);
        return al_error_errno(err, error, "cannot open the current directory");
    }
    make_config(config);
    at.config = config;
    *ret_at = at;
    return 0;
}

static void add_words(const struct al_git_words *words, struct al_strv *argv)
{
    al_strv_add(argv, "git");
    for (size_t i = 0; i < words->globals->count; i++)
        al_strv_add(argv, words->globals->items[i]);
    if (words->words->count)
        al_strv_add(argv, words->words->items[0]);
    if (words->shows_patches)
        al_strv_adds(argv, "--no-ext-diff", "--no-textconv", NULL);
    for (size_t i = 1; i < words->words->count; i++)
        al_strv_add(argv, words->words->items[i]);
}

int al_git_run_words(struct al_git *git, const struct al_repo *repo,
                     const struct al_git_words *words, struct al_run_limits *budget, int *ret_code,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_location_clear) struct al_location here = AL_LOCATION_INIT;
    struct al_git_config config = { .global = NULL };
    int r = repo ? 0 : find_here(git, &config, &here, err);

    add_words(words, &command.argv);
    command.class = words->class;
    command.starts_children = words->starts_children;
    command.finds_itself = words->finds_itself || !repo;
    command.quotes_names = true;
    command.shell = words->shell;
    if (r == 0)
        r = al_git_run(repo ? &repo->at : &here, &command, &(struct al_git_run){ .locks = 0 },
                       budget, &output, err);
    free(config.for_shell);
    al_strv_clear(&config.overrides);
    if (r == 0)
        *ret_code = output.signal ? 128 + output.signal : output.exit_code;
    return r;
}

char *al_git_setting(const struct al_repo *repo, const char *key, struct al_run_limits *budget)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str value = AL_STR_INIT;

    command.class = AL_GIT_CONFIG;
    al_strv_adds(&command.argv, "git", "config", "-z",
                 repo->vetting->includes ? "--includes" : "--no-includes", "--get", key, NULL);
    if (al_git_read(&repo->at, &command, al_git_sink(&value), budget, NULL) < 0)
        return NULL;
    return al_str_detach(&value);
}
