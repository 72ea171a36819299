// SPDX-License-Identifier: Apache-2.0
/* Which names are files of the index.  For paths that are not on the disk, where only the index can
 * tell a file from a directory. */
#include "gitops/command.h"
#include "gitops/records.h"
#include "gitops/repo.h"

/* Names given to one git: 4 KiB each at most, so the command line stays below its limit. */
#define NAMES_AT_ONCE 100

static bool take(void *payload, char *const *fields)
{
    al_strv_add(payload, fields[0]);
    return true;
}

int al_repo_tracked_files(const struct al_repo *repo, const struct al_strv *names,
                          struct al_budget *budget, struct al_strv *ret_files, struct al_error *err)
{
    for (size_t i = 0; i < names->count;) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
        al_auto(al_records_clear) struct al_records records = AL_RECORDS_INIT(1, take, ret_files);
        size_t end = names->count - i > NAMES_AT_ONCE ? i + NAMES_AT_ONCE : names->count;
        int r;

        al_strv_adds(&command.argv, "git", "ls-files", "-z", "--full-name", "--", NULL);
        for (; i < end; i++)
            al_strv_addf(&command.argv, ":(top,literal)%s", names->items[i]);
        r = al_git_run_sink(repo, &command, (struct al_sink){ al_records_add, &records }, budget,
                            &output, err);
        if (r == 0 && output.exit_code != 0)
            r = al_git_failed(&output, err);
        if (r < 0)
            return r;
    }
    return 0;
}
