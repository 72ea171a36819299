// SPDX-License-Identifier: Apache-2.0
#include "toolsets/workflow/paths.h"

#include "gitops/repo/repo.h"
#include "guard/gitdir.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"
#include "tool/call.h"
#include "util/fs.h"

int al_workflow_check_path(struct al_call *call, const char *param, const char *given,
                           struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_freep) char *word = NULL;
    const char *rest;
    int r = al_path_resolve(al_call_session(call)->roots, repo->at.dir, given, &path, err);

    if (r < 0)
        return r;
    rest = al_fs_beneath(repo->at.top, path.abs);
    if ((rest && al_path_has_dot_git(rest)) || (*given != '/' && al_path_has_dot_git(given))) {
        word = al_text_sanitize_line(given);
        return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH, "Protected path: %s",
                                 word);
    }
    return al_repo_file(repo, param, given, &word, err);
}

int al_workflow_check_paths(struct al_call *call, const char *param, const struct al_strv *given,
                            struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < given->count && r == 0; i++)
        r = al_workflow_check_path(call, param, given->items[i], err);
    return r;
}
