// SPDX-License-Identifier: Apache-2.0
#include "staging/branches.h"

#include <stdlib.h>

#include "gitops/failure.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"

#define HEADS "refs/heads/"

void al_target_branches_clear(struct al_target_branches *branches)
{
    al_strv_clear(&branches->names);
    free(branches->current);
    *branches = (struct al_target_branches){ .names = AL_STRV_INIT };
}

/* One name a line, in pieces. */
struct reading {
    struct al_target_branches *branches;
    struct al_str line;
    size_t left; /* bytes */
};

static bool add_name(struct reading *reading)
{
    struct al_target_branches *branches = reading->branches;

    if (reading->line.len > reading->left) {
        branches->truncated = true;
        return false;
    }
    reading->left -= reading->line.len;
    if (al_starts_with(reading->line.buf, HEADS))
        al_strv_add(&branches->names, reading->line.buf + strlen(HEADS));
    al_str_reset(&reading->line);
    return true;
}

static bool add_output(void *payload, const char *data, size_t len)
{
    struct reading *reading = payload;

    while (len) {
        const char *eol = memchr(data, '\n', len);
        size_t piece = eol ? (size_t)(eol - data) : len;

        al_str_add(&reading->line, data, piece);
        if (eol && !add_name(reading))
            return false;
        data += piece + (eol != NULL);
        len -= piece + (eol != NULL);
    }
    return true;
}

static char *read_current(const struct al_repo *repo)
{
    static const char mark[] = "ref: " HEADS;
    al_auto(al_freep) char *head = al_ref_read_head(&repo->at);

    return head && al_starts_with(head, mark) ? al_strdup(head + strlen(mark)) : NULL;
}

int al_target_branches_list(const struct al_repo *repo, size_t max_bytes,
                            struct al_run_limits *budget, struct al_target_branches *ret_branches,
                            struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_target_branches_clear) struct al_target_branches branches = { .names =
                                                                                 AL_STRV_INIT };
    struct reading reading = { .branches = &branches, .line = AL_STR_INIT, .left = max_bytes };
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(refname)", HEADS, NULL);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = { add_output, &reading } },
                   budget, &output, err);
    al_str_clear(&reading.line);
    if (r == 0 && !al_git_read_well(&output))
        r = al_git_failed(&output, err);
    if (r < 0)
        return r;
    branches.current = read_current(repo);
    *ret_branches = branches;
    branches = (struct al_target_branches){ .names = AL_STRV_INIT };
    return 0;
}
