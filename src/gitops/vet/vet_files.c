// SPDX-License-Identifier: Apache-2.0
#include "gitops/vet/vet_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/layer.h"
#include "util/fs.h"

#define USER_FILE_MAX_BYTES (1u << 20)

void al_vetting_depend_on(struct al_vetting *vetting, const char *path)
{
    if (path && vetting->sources.count < AL_VETTING_SOURCES_MAX &&
        !al_strv_contains(&vetting->sources, path))
        al_strv_add(&vetting->sources, path);
}

char *al_user_config_path(const struct al_git *git, const char *name)
{
    if (git->config_home && *git->config_home)
        return al_asprintf("%s/git/%s", git->config_home, name);
    return git->home ? al_asprintf("%s/.config/git/%s", git->home, name) : NULL;
}

static int make_dir(struct al_git *git, struct al_vetting *vetting)
{
    if (vetting->dir)
        return 0;
    (void)pthread_mutex_lock(&git->lock);
    vetting->dir = al_asprintf("%s/config-%u", git->private_dir, git->private_serial++);
    (void)pthread_mutex_unlock(&git->lock);
    return mkdir(vetting->dir, 0700) < 0 ? -errno : 0;
}

char *al_vetting_write_file(struct al_git *git, struct al_vetting *vetting, const char *name,
                            const struct al_str *text)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_closep) int fd = -1;

    if (make_dir(git, vetting) < 0)
        return NULL;
    path = al_fs_join(vetting->dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || al_write_all(fd, text->buf, text->len) < 0)
        return NULL;
    return al_take(&path);
}

char *al_vetting_copy_user_file(struct al_git *git, struct al_vetting *vetting,
                                const char *configured, const char *name)
{
    al_auto(al_freep) char *path =
        configured ? al_strdup(configured) : al_user_config_path(git, name);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;

    al_vetting_depend_on(vetting, path);
    if (path) /* links are followed: it is the user's file */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || al_fs_read_fd(fd, USER_FILE_MAX_BYTES, &text) < 0 || !text.len)
        return NULL;
    return al_vetting_write_file(git, vetting, name, &text);
}
