// SPDX-License-Identifier: Apache-2.0
/* The directory lies below the state directory, outside every root.  Its process holds a lock on
 * it; the next start removes unlocked ones. */
#include "git/private_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/layer.h"

static void remove_if_abandoned(const char *run_dir, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(run_dir, name);
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        al_fs_remove_tree(path);
}

static void remove_leftovers(const char *run_dir)
{
    DIR *dir = opendir(run_dir);
    struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (al_starts_with(entry->d_name, "git-"))
            remove_if_abandoned(run_dir, entry->d_name);
    (void)closedir(dir);
}

/* Creating and locking the directory are two steps.  Another start in between would remove it as
 * abandoned, so starts are serialised by a lock on the parent. */
static int make_locked(struct al_git *git, const char *run_dir)
{
    al_auto(al_closep) int parent = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_freep) char *path = al_asprintf("%s/git-XXXXXX", run_dir);
    al_auto(al_freep) char *tmp = NULL;

    if (parent < 0 || flock(parent, LOCK_EX) < 0)
        return -errno;
    remove_leftovers(run_dir);
    if (!mkdtemp(path))
        return -errno;
    git->private_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (git->private_fd < 0 || flock(git->private_fd, LOCK_EX | LOCK_NB) < 0)
        return -errno;
    git->private_dir = al_take(&path);
    tmp = al_fs_join(git->private_dir, "tmp");
    return mkdir(tmp, 0700) < 0 ? -errno : 0;
}

/* git starts airlock as askpass and as ssh; airlock tells which by the name of the link. */
static int make_links(const struct al_git *git)
{
    static const char *const names[] = { "airlock-askpass", "airlock-ssh" };
    al_auto(al_freep) char *bin = al_fs_join(git->private_dir, "bin");

    if (mkdir(bin, 0700) < 0)
        return -errno;
    for (size_t i = 0; git->self && i < AL_COUNT(names); i++) {
        al_auto(al_freep) char *path = al_fs_join(bin, names[i]);

        if (symlink(git->self, path) < 0)
            return -errno;
    }
    return 0;
}

int al_git_make_private_dir(struct al_git *git, const char *state_dir, struct al_error *err)
{
    al_auto(al_freep) char *run_dir = al_fs_join(state_dir, "run");
    int r = al_fs_mkdirs(run_dir, 0700);

    if (r == 0)
        r = make_locked(git, run_dir);
    if (r == 0)
        r = make_links(git);
    if (r < 0)
        return al_error_errno(err, -r, "cannot make a private directory in '%s'", run_dir);
    return 0;
}

void al_git_remove_private_dir(struct al_git *git)
{
    if (git->private_dir)
        al_fs_remove_tree(git->private_dir);
    al_closep(&git->private_fd);
    free(al_take(&git->private_dir));
}

char *al_git_private_name(struct al_git *git, const char *prefix)
{
    unsigned serial;

    (void)pthread_mutex_lock(&git->lock);
    serial = git->private_serial++;
    (void)pthread_mutex_unlock(&git->lock);
    return al_asprintf("%s/tmp/%s-%u", git->private_dir, prefix, serial);
}
