// SPDX-License-Identifier: Apache-2.0
#include "cli/install/settings_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "util/error.h"
#include "util/fs.h"
#include "util/str.h"
#include "util/utf8.h"

#define NEW_MODE 0644

void al_settings_file_clear(struct al_settings_file *file)
{
    free(file->path);
    free(file->real_path);
    al_str_clear(&file->text);
    *file = AL_SETTINGS_FILE_INIT;
}

static int check(const struct al_settings_file *file, int fd, struct stat *ret_st,
                 struct al_error *err)
{
    if (fstat(fd, ret_st) < 0)
        return al_error_errno(err, errno, "cannot read '%s'", file->path);
    if (!S_ISREG(ret_st->st_mode))
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is no regular file", file->path);
    if (ret_st->st_uid != geteuid())
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is another user's", file->path);
    return 0;
}

static int read_text(const struct al_settings_file *file, struct al_str *ret_text,
                     struct stat *ret_st, struct al_error *err)
{
    al_auto(al_closep) int fd =
        open(file->real_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int r = fd < 0 ? al_error_errno(err, errno, "cannot read '%s'", file->path)
                   : check(file, fd, ret_st, err);

    if (r < 0)
        return r;
    r = al_fs_read_fd(fd, AL_SETTINGS_FILE_MAX_BYTES, ret_text);
    if (r == -EFBIG)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is larger than 16 MiB", file->path);
    if (r < 0)
        return al_error_errno(err, -r, "cannot read '%s'", file->path);
    if (ret_text->len && (!al_utf8_valid(ret_text->buf, ret_text->len) ||
                          memchr(ret_text->buf, '\0', ret_text->len)))
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is no UTF-8 text", file->path);
    return 0;
}

/* The path at which a file would be made: a directory that leads to it may be a link.  NULL with
 * errno. */
static char *future_path(const char *path)
{
    al_auto(al_freep) char *dir = al_strdup(path);
    char *slash = strrchr(dir, '/');
    struct stat st;

    *slash = '\0';
    while (*dir && lstat(dir, &st) < 0 && errno == ENOENT) {
        slash = strrchr(dir, '/');
        *slash = '\0';
    }
    {
        const size_t len = strlen(dir);
        char *real = realpath(*dir ? dir : "/", NULL), *joined;

        if (!real)
            return NULL;
        joined = al_fs_join(real, path + len + 1);
        free(real);
        return joined;
    }
}

int al_settings_file_read(const char *path, struct al_settings_file *ret, struct al_error *err)
{
    al_auto(al_settings_file_clear) struct al_settings_file file = AL_SETTINGS_FILE_INIT;
    struct stat st;
    int r;

    file.path = al_strdup(path);
    file.mode = NEW_MODE;
    if (lstat(path, &st) == 0) {
        file.exists = true;
        file.real_path = realpath(path, NULL);
        if (!file.real_path)
            return al_error_errno(err, errno, "cannot follow '%s'", path);
        r = read_text(&file, &file.text, &st, err);
        if (r < 0)
            return r;
        file.mode = st.st_mode & 07777;
    } else if (errno == ENOENT) {
        file.real_path = future_path(path);
        if (!file.real_path)
            return al_error_errno(err, errno, "cannot follow '%s'", path);
    } else {
        return al_error_errno(err, errno, "cannot read '%s'", path);
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

/* The directory that has the file.  Caller frees. */
static char *dir_of(const struct al_settings_file *file)
{
    return al_strndup(file->real_path, (size_t)(strrchr(file->real_path, '/') - file->real_path));
}

/* Make the directories that lead to the file, and count them. */
static int make_dirs(const char *dir, unsigned *ret_count, struct al_error *err)
{
    al_auto(al_freep) char *path = al_strdup(dir);
    struct stat st;
    int r;

    *ret_count = 0;
    while (*path && stat(path, &st) < 0 && errno == ENOENT) {
        ++*ret_count;
        *strrchr(path, '/') = '\0';
    }
    r = al_fs_mkdirs(dir, 0755);
    return r < 0 ? al_error_errno(err, -r, "cannot make the directory '%s'", dir) : 0;
}

int al_settings_file_write(const struct al_settings_file *file, const struct al_str *text,
                           unsigned *ret_dirs, struct al_error *err)
{
    al_auto(al_freep) char *dir = dir_of(file);
    al_auto(al_closep) int dir_fd = -1;
    int r = make_dirs(dir, ret_dirs, err);

    if (r == 0)
        r = check_unchanged(file, err);
    if (r < 0)
        return r;
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    r = dir_fd < 0 ? -errno
                   : al_fs_write_durable(dir_fd, strrchr(file->real_path, '/') + 1, text->buf,
                                         text->len, file->mode);
    return r < 0 ? al_error_errno(err, -r, "cannot write '%s'", file->path) : 0;
}

int al_settings_file_remove(const struct al_settings_file *file, unsigned dirs,
                            struct al_error *err)
{
    al_auto(al_freep) char *dir = dir_of(file);
    int r = check_unchanged(file, err);

    if (r < 0)
        return r;
    if (unlink(file->real_path) < 0)
        return al_error_errno(err, errno, "cannot remove '%s'", file->path);
    for (; dirs && *dir && rmdir(dir) == 0; dirs--)
        *strrchr(dir, '/') = '\0';
    return 0;
}

void al_settings_text_clear(struct al_settings_text *settings)
{
    al_str_clear(&settings->text);
    al_strv_clear(&settings->before);
    al_strv_clear(&settings->after);
}

static void replace(struct al_str *text, size_t begin, size_t end, const char *by)
{
    struct al_str changed = AL_STR_INIT;

    al_str_add(&changed, text->buf, begin);
    al_str_adds(&changed, by);
    al_str_add(&changed, text->buf + end, text->len - end);
    al_str_clear(text);
    *text = changed;
}

void al_settings_text_replace(struct al_settings_text *settings, size_t begin, size_t end,
                              const char *by)
{
    al_strv_take(&settings->before, al_strndup(settings->text.buf + begin, end - begin));
    al_strv_add(&settings->after, by);
    replace(&settings->text, begin, end, by);
}

/* The position of `part`, which has to be there exactly once. */
static bool find_once(const struct al_str *text, const char *part, size_t *ret_at)
{
    const size_t len = strlen(part);
    const char *found = len ? memmem(text->buf, text->len, part, len) : NULL;

    if (!found)
        return false;
    *ret_at = (size_t)(found - text->buf);
    found++;
    return !memmem(found, text->len - (size_t)(found - text->buf), part, len);
}

bool al_settings_text_undo(struct al_settings_text *settings, const struct al_strv *before,
                           const struct al_strv *after)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    size_t at;

    al_str_add(&text, settings->text.buf, settings->text.len);
    for (size_t i = after->count; i-- > 0;) {
        if (!find_once(&text, after->items[i], &at))
            return false;
        replace(&text, at, at + strlen(after->items[i]), before->items[i]);
    }
    al_settings_text_replace(settings, 0, settings->text.len, text.buf ? text.buf : "");
    return true;
}
