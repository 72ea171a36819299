// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/ls_files_tracked.h"

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/batch.h"
#include "gitops/repo/repo.h"

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
