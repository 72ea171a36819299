// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/lib/assert.h"

struct tmpdir *tmpdir_new(void)
{
    struct tmpdir *dir = al_calloc(1, sizeof(*dir));
    const char *base = getenv("TMPDIR");
    al_auto(al_freep) char *name = al_asprintf("%s/airlock-test-XXXXXX", base ? base : "/tmp");

    assert_non_null(mkdtemp(name));
    dir->path = realpath(name, NULL);
    assert_non_null(dir->path);
    dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir->fd >= 0);
    return dir;
}

void tmpdir_free(struct tmpdir *dir)
{
    if (!dir)
        return;
    al_fs_remove_tree(dir->path);
    close(dir->fd);
    free(dir->path);
    free(dir);
}

char *tmpdir_path(const struct tmpdir *dir, const char *name)
{
    return al_fs_join(dir->path, name);
}

static char *with_parents(struct tmpdir *dir, const char *name)
{
    char *path = tmpdir_path(dir, name);
    char *slash = strrchr(path, '/');

    *slash = '\0';
    assert_int_equal(al_fs_mkdirs(path, 0755), 0);
    *slash = '/';
    return path;
}

void tmpdir_mkdir(struct tmpdir *dir, const char *name)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, name);

    assert_int_equal(al_fs_mkdirs(path, 0755), 0);
}

void tmpdir_write_bytes(struct tmpdir *dir, const char *name, const void *data, size_t len)
{
    al_auto(al_freep) char *path = with_parents(dir, name);
    al_auto(al_closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(al_write_all(fd, data, len), 0);
}

void tmpdir_write(struct tmpdir *dir, const char *name, const char *text)
{
    tmpdir_write_bytes(dir, name, text, strlen(text));
}

void tmpdir_symlink(struct tmpdir *dir, const char *target, const char *name)
{
    al_auto(al_freep) char *path = with_parents(dir, name);

    assert_int_equal(symlink(target, path), 0);
}

char *tmpdir_read(const struct tmpdir *dir, const char *name)
{
    struct al_str text = AL_STR_INIT;

    if (al_fs_read(dir->fd, name, 64u << 20, &text) < 0)
        return NULL;
    return al_str_detach(&text);
}
