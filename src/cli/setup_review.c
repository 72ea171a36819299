// SPDX-License-Identifier: Apache-2.0
/* The queue of questions of a session, and its socket. */
#include <errno.h>
#include <string.h>

#include "cli/environment.h"
#include "cli/setup.h"
#include "review/place.h"
#include "review/server.h"
#include "util/fs.h"
#include "util/log.h"

char *al_setup_runtime_dir(void)
{
    const char *runtime = al_environment_get("XDG_RUNTIME_DIR");

    return runtime && *runtime == '/' ? al_fs_join(runtime, "airlock") : NULL;
}

void al_setup_review_dirs(const struct al_setup *setup, struct al_strv *ret_dirs)
{
    char *runtime = al_setup_runtime_dir();

    if (runtime)
        al_strv_take(ret_dirs, runtime);
    if (setup->state_dir)
        al_strv_take(ret_dirs, al_fs_join(setup->state_dir, "review"));
}

void al_setup_review(struct al_setup *setup)
{
    setup->session.review = al_review_queue_new(setup->config.approval.wait_s);
    setup->review_server = al_review_server_new(setup->session.review);
    if (!setup->review_server)
        al_log_warn("airlock review cannot answer questions: %s", strerrordesc_np(errno));
}

void al_setup_review_listen(struct al_setup *setup)
{
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (!setup->review_server || setup->review_listens)
        return;
    setup->review_listens = true;
    al_setup_review_dirs(setup, &dirs);
    if (al_review_server_listen(setup->review_server, &dirs, &err) < 0)
        al_log_warn("airlock review cannot answer questions: %s", err.message);
}

static bool is_attended(const struct al_strv *dirs)
{
    bool attended = false;

    for (size_t i = 0; i < dirs->count && !attended; i++) {
        al_auto(al_closep) int fd = -1;

        attended = al_review_place_open(dirs->items[i], false, false, &fd, NULL) == 0 &&
                   al_review_place_is_attended(fd);
    }
    return attended;
}

void al_setup_review_await(struct al_setup *setup)
{
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;

    al_setup_review_dirs(setup, &dirs);
    if (!is_attended(&dirs))
        return;
    al_setup_review_listen(setup);
    al_review_attach(setup->session.review);
}

void al_setup_clear_review(struct al_setup *setup)
{
    al_review_server_free(al_take(&setup->review_server));
    al_review_queue_free(al_take(&setup->session.review));
}
