// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/staged_objects.h"

#include <string.h>

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "gitops/oid.h"
#include "gitops/refs.h"

/* Add the object of an entry "<mode> SP [<oid> SP] <oid> SP ..." that is a file. */
static bool add_object(struct al_strv *oids, const char *mode, int word)
{
    const char *oid = mode;

    for (int i = 0; oid && i < word; i++)
        oid = strchr(oid + 1, ' ');
    if (oid && !al_starts_with(mode, "000000") && !al_starts_with(mode, "160000"))
        al_strv_take(oids, al_strndup(oid + 1, strcspn(oid + 1, " ")));
    return true;
}

/* A record ":<mode> SP <mode> SP <oid> SP <oid> SP <status>" NUL <path>. */
static bool take_changed(void *payload, char *const *fields)
{
    const char *mode = strchr(fields[0], ' ');

    return !mode || add_object(payload, mode + 1, 2);
}

/* A record "<mode> SP <oid> SP <stage> TAB <path>". */
static bool take_listed(void *payload, char *const *fields)
{
    return add_object(payload, fields[0], 1);
}

int al_git_staged_objects(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_strv *ret_oids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_nul_records_clear) struct al_nul_records changed =
        AL_NUL_RECORDS_INIT(2, take_changed, ret_oids);
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
