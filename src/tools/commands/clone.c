// SPDX-License-Identifier: Apache-2.0
/* git clone: an exchange of an empty repository of airlock's own, in which git makes another one.
 */
#include <fcntl.h>
#include <unistd.h>

#include "git/repo/known_remotes.h"
#include "git/repo/words.h"
#include "guard/path.h"
#include "tools/commands/commands.h"
#include "tools/private.h"

/* A path is given to git as an address, since it would copy what is there; it then keeps what it
 * would have of the path. */
static int take_path(struct al_call *call, const struct al_shell_words *words, struct al_error *err)
{
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    al_auto(al_freep) char *path = al_fs_join(here ? here : ".", words->operands.items[0]);
    const char *origin = al_shell_words_value(&words->connection.git.options, "--origin=", "-o");
    al_auto(al_strv_clear) struct al_strv place = AL_STRV_INIT, set = AL_STRV_INIT;
    int code;

    al_strv_adds(&place, "-C", words->operands.items[1], NULL);
    al_strv_add(&set, "config");
    al_strv_addf(&set, "remote.%s.url", origin ? origin : AL_DEFAULT_REMOTE);
    al_strv_add(&set, path);
    return al_git_run_words(al_call_session(call)->git, NULL,
                            &(struct al_git_words){ .globals = &place,
                                                    .words = &set,
                                                    .class = AL_GIT_WRITE,
                                                    .shell = al_call_session(call)->caller_shell },
                            al_call_budget(call), &code, err);
}

static int check_there(const struct al_call *call, const char *given, struct al_error *err)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    int r = al_url_parse(given, &url, err);

    if (r < 0 || url.kind != AL_URL_PATH)
        return r;
    path = al_fs_join(here ? here : ".", url.path);
    if (al_roots_open(al_call_session(call)->roots, path, O_PATH, &fd, &abs, NULL) !=
        AL_ERR_NOT_FOUND)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION, "repository '%s' does not exist", url.shown);
}

/* Open what a path names, without its ".git" too, as git finds it.  -1: nothing, or an address. */
static int open_named(const char *given)
{
    al_auto(al_freep) char *full = al_asprintf("%s.git", given);
    const int fd = strstr(given, "://") ? -1 : open(given, O_PATH | O_CLOEXEC);

    return fd < 0 && !strstr(given, "://") ? open(full, O_PATH | O_CLOEXEC) : fd;
}

/* `own` has no reference and no object: git makes another repository for what it gets. */
static int clone_into(struct al_call *call, struct al_shell_words *words, struct al_repo *own,
                      struct al_network_shown *shown, struct al_error *err)
{
    const char *given = words->operands.items[0];
    const struct al_strv *options = &words->connection.git.options;
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    const bool is_path = al_url_parse(given, &url, NULL) == 0 && url.kind == AL_URL_PATH;
    al_auto(al_closep) int fd = open_named(given);
    /* The user's own url.*.insteadOf is followed.  It makes no address of a path, which is asked
     * about as one of this machine. */
    al_auto(al_freep) char *path =
        fd >= 0   ? al_fs_fd_path(fd)
        : is_path ? al_strdup(given)
                  : al_remote_rewritten(own->vetting, given, "insteadof", given);
    al_auto(al_remote_clear) struct al_remote remote = { .name = al_strdup(given) };
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r = fd < 0 ? check_there(call, given, err) : 0;

    if (r < 0)
        return r;
    al_strv_add(&remote.urls, path ? path : given);
    if (fd < 0 && strcmp(path, given) != 0)
        al_strv_add(&remote.urls, given); /* which is agreed to as well */
    al_known_remotes_note(own);
    if (al_call_was_asked(call))
        al_remote_accept(own, &remote, AL_FETCHES);
    r = al_transfer_begin(call, own, &remote, remote.urls.items[0], AL_FETCHES, &network, err);
    if (r == 0 && fd < 0 && strcmp(path, given) != 0) { /* the new one has it as it was given */
        free(network->address);
        network->address = al_strdup(given);
    }
    if (r == 0)
        r = al_git_clone_words(network, options, words->operands.items[1], shown, err);
    if (r == 0 && !shown->exit_code && network->other && !strstr(remote.urls.items[0], "://") &&
        !al_strv_contains(options, "-q") && !al_strv_contains(options, "--quiet") &&
        !al_strv_contains(options, "--no-local")) /* as git when it has copied */
        (void)al_write_all(shown->shell->err_fd, "done.\n", strlen("done.\n"));
    if (r == 0 && !shown->exit_code && network->other && fd >= 0)
        r = take_path(call, words, err);
    return r;
}

int al_shell_clone(struct al_call *call, struct al_shell_words *words, int *ret_code,
                   struct al_error *err)
{
    struct al_network_shown shown = { .shell = al_call_session(call)->caller_shell };
    struct al_repo *own = NULL;
    int r = al_repo_make_own(al_call_session(call)->git, al_call_budget(call), &own, err);

    if (r < 0)
        return r;
    own->at.is_own = false; /* the new one is in a root */
    r = clone_into(call, words, own, &shown, err);
    *ret_code = shown.exit_code;
    al_repo_free(own);
    return r;
}
