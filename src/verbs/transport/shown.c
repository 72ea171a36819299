// SPDX-License-Identifier: Apache-2.0
/* An exchange whose output a shell sees. */
#include <stdlib.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/location.h"
#include "git/refs.h"
#include "verbs/transport/network.h"

void al_network_add_upstream(struct al_strv *config, const struct al_network *network)
{
    al_auto(al_freep) char *branch = al_ref_head_branch(&network->repo->at);
    al_auto(al_freep) char *upstream = al_remote_upstream(network->repo, network->remote, branch);

    if (!upstream)
        return;
    al_strv_addf(config, "branch.%s.remote", branch);
    al_strv_add(config, network->name);
}

void al_network_use_address(struct al_network *network)
{
    const bool is_path = network->other && *network->address == '/';

    free(network->name);
    network->name = al_asprintf("%s%s", is_path ? "file://" : "", network->address);
}

/* A shell's, which is read and then written as a whole. */
#define SHOWN_MAX_BYTES ((size_t)256 << 20)

static void replace(struct al_str *text, const char *from, const char *to)
{
    struct al_str out = AL_STR_INIT;
    const char *at = text->buf, *found;

    while ((found = strstr(at, from))) {
        al_str_add(&out, at, (size_t)(found - at));
        al_str_adds(&out, to);
        at = found + strlen(from);
    }
    al_str_adds(&out, at);
    al_str_clear(text);
    *text = out;
}

/* These are only said because of the descriptors between the two gits. */
static const char *const of_descriptors[] = {
    "fatal: Bad command: \n",
    "fatal: the remote end hung up unexpectedly\n",
    "fatal: read error: Connection reset by peer\n",
};

static void show(const struct al_network *network, const struct al_network_shown *shown,
                 struct al_str *text, int fd)
{
    static const char *const ends[] = { " -> ", ":refs/" }; /* as git push has them */

    replace(text, network->name, network->remote->name);
    for (size_t i = 0; network->other && i < AL_COUNT(of_descriptors); i++)
        replace(text, of_descriptors[i], "");
    for (size_t i = 0; shown->id && *shown->id && i < AL_COUNT(ends); i++) {
        al_auto(al_freep) char *id = al_asprintf("%s%s", shown->id, ends[i]);
        al_auto(al_freep) char *name = al_asprintf("%s%s", shown->name, ends[i]);

        replace(text, id, name);
    }
    (void)al_write_all(fd, text->buf, text->len);
}

/* The descriptor is no part of the address that FETCH_HEAD has. */
static void clean_fetch_head(const struct al_network *network)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str cleaned = AL_STR_INIT;
    al_auto(al_closep) int dir_fd = -1;

    if (!network->other || al_location_open_git_dir(&network->repo->at, &dir_fd, NULL) < 0 ||
        al_fs_read(dir_fd, "FETCH_HEAD", SHOWN_MAX_BYTES, &text) < 0)
        return;
    al_network_hide_descriptor(&text, &cleaned);
    if (cleaned.len < text.len)
        (void)al_fs_write_atomic(dir_fd, "FETCH_HEAD", cleaned.buf, cleaned.len, 0644, true);
}

/* The words looked for in the output are English. */
static void leave_language(const struct al_strv *env, struct al_strv *ret_env)
{
    for (size_t i = 0; i < env->count; i++)
        if (!al_starts_with(env->items[i], "LC_") && !al_starts_with(env->items[i], "LANG"))
            al_strv_add(ret_env, env->items[i]);
}

int al_network_run_shown(struct al_network *network, struct al_git_command *command,
                         struct al_network_shown *shown, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    const struct al_git_shell captured = { .env = &env };
    int r;

    leave_language(shown->shell->env, &env);
    network->is_shown = true;
    command->shell = &captured;
    command->quotes_names = true;
    r = al_network_run(network, command, SHOWN_MAX_BYTES, NULL, &output, err);
    command->shell = NULL;
    clean_fetch_head(network);
    if (r < 0)
        return r;
    show(network, shown, &output.out.out, shown->shell->out_fd);
    show(network, shown, &output.err.out, shown->shell->err_fd);
    shown->exit_code = output.signal ? 128 + output.signal : output.exit_code;
    return 0;
}
