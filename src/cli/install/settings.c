// SPDX-License-Identifier: Apache-2.0
#include "cli/install/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "cli/environment.h"

#define NEW_MODE 0644

void al_settings_file_clear(struct al_settings_file *file)
{
    free(file->path);
    free(file->real_path);
    al_str_clear(&file->text);
    *file = AL_SETTINGS_FILE_INIT;
}

static int read_text(const struct al_settings_file *file, struct al_str *ret_text,
                     struct stat *ret_st, struct al_error *err)
{
    al_auto(al_closep) int fd =
        open(file->real_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int r;

    if (fd < 0 || fstat(fd, ret_st) < 0)
        return al_error_errno(err, errno, "cannot read '%s'", file->path);
    if (!S_ISREG(ret_st->st_mode))
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is no regular file", file->path);
    if (ret_st->st_uid != geteuid())
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is another user's", file->path);
    r = al_fs_read_fd(fd, (size_t)file->max_mib << 20, ret_text);
    if (r == -EFBIG)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is larger than %u MiB", file->path,
                            file->max_mib);
    if (r < 0)
        return al_error_errno(err, -r, "cannot read '%s'", file->path);
    if (ret_text->len && (!al_utf8_valid(ret_text->buf, ret_text->len) ||
                          memchr(ret_text->buf, '\0', ret_text->len)))
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is no UTF-8 text", file->path);
    return 0;
}

int al_settings_file_read(const char *path, unsigned max_mib, struct al_settings_file *ret,
                          struct al_error *err)
{
    al_auto(al_settings_file_clear) struct al_settings_file file = AL_SETTINGS_FILE_INIT;
    struct stat st;

    file.path = al_strdup(path);
    file.mode = NEW_MODE;
    file.max_mib = max_mib;
    file.exists = lstat(path, &st) == 0;
    if (!file.exists && errno != ENOENT)
        return al_error_errno(err, errno, "cannot read '%s'", path);
    file.real_path = file.exists ? realpath(path, NULL) : al_environment_canonical(path);
    if (!file.real_path)
        return al_error_errno(err, errno, "cannot follow '%s'", path);
    if (file.exists) {
        int r = read_text(&file, &file.text, &st, err);

        if (r < 0)
            return r;
        file.mode = st.st_mode & 07777;
    }
    *ret = file;
    file = AL_SETTINGS_FILE_INIT;
    return 0;
}

/* Check that the file is still what was read. */
static int check_unchanged(const struct al_settings_file *file, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str now = AL_STR_INIT;
    struct stat st;
    int r;

    if (!file->exists)
        return lstat(file->real_path, &st) < 0 && errno == ENOENT
                   ? 0
                   : al_error_set(err, AL_ERR_EXECUTION,
                                  "'%s' was made meanwhile; nothing was written", file->path);
    r = read_text(file, &now, &st, err);
    if (r < 0)
        return r;
    if (now.len != file->text.len || (now.len && memcmp(now.buf, file->text.buf, now.len)))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' was changed meanwhile; nothing was written", file->path);
    return 0;
}

/* Make the directories that lead to a file, as private as that is, and count them. */
static int make_dirs(const char *dir, mode_t mode, unsigned *ret_count, struct al_error *err)
{
    al_auto(al_freep) char *path = al_strdup(dir);
    struct stat st;
    int r;

    for (*ret_count = 0; *path && stat(path, &st) < 0 && errno == ENOENT; ++*ret_count)
        *strrchr(path, '/') = '\0';
    r = al_fs_mkdirs(dir, mode & S_IROTH ? 0755 : 0700);
    return r < 0 ? al_error_errno(err, -r, "cannot make the directory '%s'", dir) : 0;
}

int al_settings_file_write(const struct al_settings_file *file, const struct al_str *text,
                           unsigned *dirs, struct al_error *err)
{
    const char *name = strrchr(file->real_path, '/');
    al_auto(al_freep) char *dir = al_strndup(file->real_path, (size_t)(name - file->real_path));
    al_auto(al_closep) int dir_fd = -1;
    int r = text ? make_dirs(dir, file->mode, dirs, err) : 0;

    if (r == 0)
        r = check_unchanged(file, err);
    if (r < 0)
        return r;
    if (text) {
        dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        r = dir_fd < 0 ? -errno
                       : al_fs_write_durable(dir_fd, name + 1, text->buf, text->len, file->mode);
        return r < 0 ? al_error_errno(err, -r, "cannot write '%s'", file->path) : 0;
    }
    if (unlink(file->real_path) < 0)
        return al_error_errno(err, errno, "cannot remove '%s'", file->path);
    for (unsigned i = 0; i < *dirs && *dir && rmdir(dir) == 0; i++)
        *strrchr(dir, '/') = '\0';
    return 0;
}

void al_settings_replace(struct al_str *text, size_t begin, size_t end, const char *by)
{
    struct al_str changed = AL_STR_INIT;

    al_str_add(&changed, text->buf, begin);
    al_str_adds(&changed, by);
    al_str_add(&changed, text->buf + end, text->len - end);
    al_str_clear(text);
    *text = changed;
}
