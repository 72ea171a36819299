// SPDX-License-Identifier: Apache-2.0
#include "gitops/transport/remote.h"

#include <fcntl.h>

#include "gitops/command.h"
#include "gitops/git_lock.h"
#include "gitops/layer.h"
#include "gitops/plumbing/heads.h"
#include "gitops/repo/known_remotes.h"
#include "gitops/repo/remotes.h"
#include "gitops/run.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/url.h"

/* Any failure of git remote is a remote error. */
static int run(struct al_repo *repo, struct al_git_command *command, struct al_run_limits *budget,
               struct al_error *err)
{
    int r = al_git_write(&repo->at, command, AL_LOCK_CONFIG, budget, err);

    if (r == AL_ERR_EXECUTION && err && err->code != AL_CODE_LOCK_TIMEOUT) {
        err->code = AL_CODE_REMOTE_ERROR;
        err->reason = NULL;
    }
    return r;
}

static bool is_there(const struct al_repo *repo, const char *name)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_remote_names(repo, &names);
    return al_strv_contains(&names, name);
}

static int check_there(const struct al_repo *repo, const char *name, struct al_error *err)
{
    if (is_there(repo, name))
        return 0;
    return al_error_about(al_remote_error(err,
                                          "See git_remote with action list for those there are.",
                                          "There is no remote '%s'", name),
                          err, AL_SUBJECT_REMOTE, name);
}

static int check_free(const struct al_repo *repo, const char *name, struct al_error *err)
{
    if (!is_there(repo, name))
        return 0;
    return al_remote_error(err, "Choose another name, or remove or rename that one first.",
                           "There is a remote '%s' already", name);
}

/* Refuse an address that could never be fetched from: one that does not parse, or a path outside
 * the roots.  A path may still be missing. */
static int check_address(const struct al_repo *repo, const char *text, struct al_error *err)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    int r = al_url_parse(text, &url, err);

    if (r < 0 || url.kind != AL_URL_PATH)
        return r;
    path = al_fs_join(repo->at.top, url.path);
    if (al_roots_open(repo->at.git->roots, path, O_PATH, &fd, &abs, NULL) != AL_ERR_SANDBOX)
        return 0;
    r = al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_REMOTE_ERROR, "Path outside sandbox: %s",
                          url.shown);
    if (err)
        err->remedy = "Give a repository inside the roots, or an address on the network.";
    return r;
}

int al_git_remote_add(struct al_repo *repo, const char *name, const char *url,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = check_free(repo, name, err);

    if (r == 0)
        r = check_address(repo, url, err);
    if (r < 0)
        return r;
    al_remote_forget(repo, name);
    al_strv_adds(&command.argv, "git", "remote", "add", "--", name, url, NULL);
    return run(repo, &command, budget, err);
}

int al_git_remote_remove(struct al_repo *repo, const char *name, struct al_run_limits *budget,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = check_there(repo, name, err);

    if (r == 0)
        r = al_git_note_pushed(repo, budget, err);
    if (r < 0)
        return r;
    al_strv_adds(&command.argv, "git", "remote", "remove", "--", name, NULL);
    return run(repo, &command, budget, err);
}

int al_git_remote_rename(struct al_repo *repo, const char *from, const char *to,
                         struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = check_there(repo, from, err);

    if (r == 0)
        r = check_free(repo, to, err);
    if (r == 0)
        r = al_git_note_pushed(repo, budget, err);
    if (r < 0)
        return r;
    al_remote_forget(repo, from);
    al_remote_forget(repo, to);
    al_strv_adds(&command.argv, "git", "remote", "rename", "--no-progress", "--", from, to, NULL);
    return run(repo, &command, budget, err);
}
