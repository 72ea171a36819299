// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/staged_objects.h"

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "gitops/refs.h"

/* A record ":<mode> SP <mode> SP <oid> SP <oid> SP <status>" NUL <path>. */
static bool take_entry(void *payload, char *const *fields)
{
    const char *word = strchr(fields[0], ' ');

    for (int i = 0; word && i < 2; i++)
        word = strchr(word + 1, ' ');
    if (word)
        al_strv_take(payload, al_strndup(word + 1, strcspn(word + 1, " ")));
    return true;
}

/* A record "<mode> SP <oid> SP <stage> TAB <path>". */
static bool take_listed(void *payload, char *const *fields)
{
    const char *word = strchr(fields[0], ' ');

    if (word)
        al_strv_take(payload, al_strndup(word + 1, strcspn(word + 1, " ")));
    return true;
}

int al_git_staged_objects(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_strv *ret_oids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_nul_records_clear) struct al_nul_records changed =
        AL_NUL_RECORDS_INIT(2, take_entry, ret_oids);
    al_auto(al_nul_records_clear) struct al_nul_records all =
        AL_NUL_RECORDS_INIT(1, take_listed, ret_oids);

    if (!head || !*head) {
        al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", "-s", NULL);
        return al_git_read_records(&repo->at, &command, &all, budget, err);
    }
    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "--raw", "-z", "--no-renames",
                 "--no-abbrev", "--ignore-submodules=dirty", "HEAD", "--", NULL);
    return al_git_read_records(&repo->at, &command, &changed, budget, err);
}
