// SPDX-License-Identifier: Apache-2.0
#include "verbs/transport/remote.h"

#include <errno.h>
#include <fcntl.h>

#include "git/command.h"
#include "git/git_lock.h"
#include "git/layer.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/revision.h"
#include "git/repo/remotes.h"
#include "git/run.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/url.h"
#include "verbs/transport/network.h"

/* Any failure of git remote is a remote error. */
static int run(struct al_repo *repo, struct al_git_command *command, struct al_error *err)
{
    int r = al_git_write(&repo->at, command, AL_LOCK_CONFIG, err);

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
    return al_error_remedy(al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_REMOTE_ERROR,
                                             "Path outside sandbox: %s", url.shown),
                           err,
                           "Give a repository inside the roots, or an address on the network.");
}

int al_git_remote_change(struct al_repo *repo, const struct al_remote_change *change,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const char *name = change->name, *url = change->url, *to = change->new_name;
    int r = url ? check_free(repo, name, err) : check_there(repo, name, err);

    if (r == 0 && url)
        r = check_address(repo, url, err);
    if (r == 0 && to)
        r = check_free(repo, to, err);
    if (r == 0 && !url)
        r = al_git_note_pushed(repo, err);
    if (r < 0)
        return r;
    if (url || to)
        al_remote_forget(repo, name);
    if (to)
        al_remote_forget(repo, to);
    al_strv_adds(&command.argv, "git", "remote", url ? "add" : to ? "rename" : "remove", NULL);
    if (to)
        al_strv_add(&command.argv, "--no-progress");
    al_strv_adds(&command.argv, "--", name, url ? url : to, NULL);
    return run(repo, &command, err);
}

/* The line "From <address>" tells the caller nothing new. */
static void add_changes(const struct al_git_output *output, struct al_str *out)
{
    const char *line = output->err.out.buf;

    while (*line) {
        size_t len = strcspn(line, "\n");

        if (len && !al_starts_with(line, "From ")) {
            if (out->len)
                al_str_addc(out, '\n');
            al_str_add(out, line, len);
        }
        line += len + (line[len] == '\n');
    }
}

int al_git_fetch(struct al_network *network, const struct al_fetch_options *options,
                 const struct al_progress *progress, size_t max_bytes, struct al_str *ret_text,
                 struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "fetch", "--no-recurse-submodules", "--no-auto-maintenance",
                 "--upload-pack=git-upload-pack", "--no-prune-tags",
                 options->prune ? "--prune" : "--no-prune",
                 progress ? "--progress" : "--no-progress", NULL);
    if (options->tags)
        al_strv_add(&command.argv, "--tags");
    al_strv_add(&command.argv, network->name);
    if (options->branch)
        al_strv_addf(&command.argv, "refs/heads/%s", options->branch);
    r = al_network_run(network, &command, max_bytes, progress, &output, err);
    if (r < 0)
        return r;
    if (output.exit_code != 0)
        return al_network_failed(network, &output, err);
    add_changes(&output, ret_text);
    return 0;
}

int al_git_fetch_words(struct al_network *network, const struct al_fetch_words *words,
                       struct al_network_shown *shown, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", words->command, "--upload-pack=git-upload-pack", NULL);
    if (!strcmp(words->command, "fetch"))
        al_strv_adds(&command.argv, "--no-recurse-submodules", "--no-auto-maintenance",
                     "--no-prune-tags", NULL);
    al_strv_add_all(&command.argv, &words->options);
    al_strv_add(&command.argv, network->name);
    al_strv_add_all(&command.argv, &words->refs);
    return al_network_run_shown(network, &command, shown, err);
}

int al_git_clone_words(struct al_network *network, const struct al_strv *options, const char *dir,
                       struct al_network_shown *shown, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_closep) int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (here < 0)
        return al_error_errno(err, errno, "cannot open the current directory");
    al_network_use_address(network);
    command.cwd_fd = here;
    al_strv_adds(&command.argv, "git", "clone", "--no-local", "--no-recurse-submodules",
                 "--upload-pack=git-upload-pack", NULL);
    al_strv_add_all(&command.argv, options);
    al_strv_adds(&command.argv, "--", network->name, dir, NULL);
    return al_network_run_shown(network, &command, shown, err);
}

int al_git_count_updated(const struct al_repo *repo, const char *before, uint64_t *ret_count,
                         struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    int r =
        al_git_list_changed(repo, *before ? before : al_git_empty_tree(repo), "HEAD", &files, err);

    *ret_count = files.count;
    return r;
}
