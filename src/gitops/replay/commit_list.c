// SPDX-License-Identifier: Apache-2.0
#include "gitops/replay/commit_list.h"

#include <stdlib.h>

#include "gitops/failure.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/run.h"

/** The bytes of one line of rev-list. */
#define LINE_BYTES 80

void al_rebase_list_clear(struct al_rebase_list *list)
{
    al_strv_clear(&list->commits);
    *list = (struct al_rebase_list){ .merges = 0 };
}

/* Run a command that prints ids, one a line, perhaps with a mark in front. */
static int read_ids(const struct al_repo *repo, struct al_git_command *command,
                    struct al_run_limits *budget, struct al_strv *out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_buffer ids = { .max_bytes = (size_t)AL_COMMIT_LIST_MAX * LINE_BYTES };
    char *save = NULL;
    int r = al_git_run(&repo->at, command, &(struct al_git_run){ .sink = al_buffer_sink(&ids) },
                       budget, &output, err);

    if (r == 0 && output.stopped)
        r = al_error_set(err, AL_ERR_EXECUTION, "These are more than %d commits",
                         AL_COMMIT_LIST_MAX);
    else if (r == 0 && output.exit_code != 0)
        r = al_git_failed(&output, err);
    for (char *line = r == 0 && ids.len ? strtok_r(ids.data, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save))
        al_strv_add(out, line);
    al_buffer_clear(&ids);
    return r;
}

static void begin(struct al_git_command *command)
{
    al_strv_adds(&command->argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", NULL);
}

int al_commit_list_add(const struct al_repo *repo, const char *word, bool newest_first,
                       struct al_run_limits *budget, struct al_strv *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_freep) char *oid = NULL;
    int r;

    if (!strstr(word, "..")) {
        r = al_git_resolve_commit(repo, word, budget, &oid, err);
        if (r == 0)
            al_strv_take(out, al_take(&oid));
        return r;
    }
    begin(&command);
    al_strv_add(&command.argv, "--topo-order");
    if (!newest_first)
        al_strv_add(&command.argv, "--reverse");
    al_strv_adds(&command.argv, "--end-of-options", word, "--", NULL);
    return read_ids(repo, &command, budget, out, err);
}

int al_commit_list_full(const struct al_repo *repo, const struct al_strv *words,
                        struct al_run_limits *budget, struct al_strv *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    for (size_t i = 0; i < words->count; i++)
        al_str_addf(&input, "%s\n", words->items[i]);
    command.input = input.buf;
    command.input_len = input.len;
    begin(&command);
    al_strv_adds(&command.argv, "--no-walk=unsorted", "--stdin", NULL);
    return read_ids(repo, &command, budget, out, err);
}

/* Count the commits that `words` (for git rev-list, ending with NULL) select. */
static int count_commits(const struct al_repo *repo, const char *const *words,
                         struct al_run_limits *budget, size_t *ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_freep) char *number = NULL;
    int r;

    begin(&command);
    al_strv_add(&command.argv, "--count");
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    al_strv_add(&command.argv, "--");
    r = al_git_run_word(repo, &command, budget, &number, err);
    if (r == 0 && !number)
        r = al_error_set(err, AL_ERR_EXECUTION, "git cannot list the commits");
    if (r == 0)
        *ret_count = (size_t)strtoull(number, NULL, 10);
    return r;
}

int al_commit_list_rebase(const struct al_repo *repo, const char *onto, bool all,
                          struct al_run_limits *budget, struct al_rebase_list *ret_list,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_strv_clear) struct al_strv marked = AL_STRV_INIT;
    al_auto(al_freep) char *range = onto ? al_asprintf("%s...HEAD", onto) : al_strdup("HEAD");
    al_auto(al_freep) char *without = onto ? al_asprintf("^%s", onto) : NULL;
    int r;

    begin(&command);
    al_strv_adds(&command.argv, "--reverse", "--topo-order", "--no-merges", NULL);
    if (onto)
        al_strv_adds(&command.argv, "--right-only", "--cherry-mark", NULL);
    al_strv_adds(&command.argv, range, "--", NULL);
    r = read_ids(repo, &command, budget, &marked, err);
    for (size_t i = 0; r == 0 && i < marked.count; i++) {
        const char *line = marked.items[i];
        bool known = *line == '=';

        if (known && !all)
            ret_list->known++;
        else
            al_strv_add(&ret_list->commits, line + strcspn(line, "0123456789abcdef"));
    }
    return r < 0 ? r
                 : count_commits(repo, (const char *const[]){ "--merges", "HEAD", without, NULL },
                                 budget, &ret_list->merges, err);
}
