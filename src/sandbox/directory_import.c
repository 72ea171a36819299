// SPDX-License-Identifier: Apache-2.0
/*
 * Writing files of a store into a directory, while their content arrives.
 *
 * A file gets its name when its content is complete, so that nobody sees a part of it, and a
 * process that is killed leaves none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "sandbox/directory.h"
#include "util/fs.h"

/** An import that runs. */
struct import {
    struct al_sandbox *sandbox;
    const struct al_sandbox_file *files;
    struct al_new_file file;             /* that arrives */
    struct al_str target;                /* of the link that arrives */
    uint64_t size;                       /* of either, so far */
    const struct al_sandbox_file *begun; /* the one that arrives; NULL: none */
    int parent;                          /* the directory of the last file, open; -1: none */
    const char *last;                    /* that file */
    unsigned uses;                       /* how many files this directory was opened for */
};

/* Files of one directory come one after the other.  It is looked up again after so many, in case it
 * was moved. */
#define PARENT_USES_MAX 64u

/* --- The directory of a file --- */

static void forget_parent(struct import *import)
{
    al_close(import->parent);
    import->parent = -1;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool has_same_parent(const char *a, const char *b)
{
    size_t len = (size_t)(name_of(a) - a);

    return !strncmp(a, b, len) && !strchr(b + len, '/');
}

/* Open the parent, and create it if it is missing. */
static int open_parent(struct import *import, const char *path, struct al_error *err)
{
    const struct al_directory *directory = import->sandbox->state;
    const char *name;
    struct stat st;

    forget_parent(import);
    import->uses = 0;
    import->last = path;
    return al_directory_open_parent(directory->fd, path, &import->parent, &name, &st, err);
}

/* Test whether the open directory is still where it was. */
static bool is_still_there(struct import *import, const char *path)
{
    const struct al_directory *directory = import->sandbox->state;
    const char *name;
    al_auto(al_closep) int fd = al_nofollow_open_parent(directory->fd, path, false, &name);
    struct stat open, now;

    import->uses = 0;
    return fd >= 0 && fstat(fd, &now) == 0 && fstat(import->parent, &open) == 0 &&
           now.st_dev == open.st_dev && now.st_ino == open.st_ino;
}

/* Use the parent of the file before, if it is the same: it was no git directory then, and becomes
 * one only by an entry of a certain name. */
static int find_parent(struct import *import, const char *path, struct al_error *err)
{
    if (import->parent < 0 || !has_same_parent(import->last, path) ||
        (import->uses >= PARENT_USES_MAX && !is_still_there(import, path)))
        return open_parent(import, path, err);
    import->uses++;
    if (al_gitdir_has_part(name_of(path)) && al_gitdir_is(import->parent, name_of(path)))
        return al_gitdir_refuse(path, err);
    return 0;
}

/* --- Giving a file its name --- */

/* Create a link beside its name and rename it.  0 or -errno. */
static int replace_by_link(int parent, const char *name, const char *target)
{
    static atomic_uint serial;
    char temp_name[64];

    (void)snprintf(temp_name, sizeof(temp_name), ".airlock-link-%ld-%u", (long)getpid(),
                   atomic_fetch_add(&serial, 1));
    if (symlinkat(target, parent, temp_name) < 0)
        return -errno;
    if (renameat(parent, temp_name, parent, name) < 0) {
        int r = -errno;

        (void)unlinkat(parent, temp_name, 0);
        return r;
    }
    return 0;
}

/* 0 or -errno; -EEXIST: there is something of this name, which is not to be replaced. */
static int set_name(struct import *import, const struct al_sandbox_file *file, bool replace)
{
    const char *name = name_of(file->path), *target = import->target.buf;

    if (file->mode != AL_SANDBOX_MODE_LINK)
        return al_new_file_name(&import->file, import->parent, name, replace);
    if (!*target || strlen(target) != import->target.len)
        return -EINVAL;
    if (replace)
        return replace_by_link(import->parent, name, target);
    return symlinkat(target, import->parent, name) < 0 ? -errno : 0;
}

/* Replace what has the name, if it is a file or a link. */
static int replace(struct import *import, const struct al_sandbox_file *file, struct al_error *err)
{
    const struct al_sandbox_version *over = file->over;
    bool is_there;
    struct stat st;
    int r;

    if (file->is_new)
        return al_directory_is_made(file->path, err);
    is_there = fstatat(import->parent, name_of(file->path), &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there) {
        if (S_ISDIR(st.st_mode))
            return al_sandbox_is_directory(file->path, err);
        if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
            return al_directory_is_special(file->path, err);
    }
    if (over && !(is_there && al_directory_is_version(import->sandbox, file->path, &st, over)))
        return al_sandbox_changed(file->path, err);
    r = set_name(import, file, true);
    return r < 0 ? al_directory_write_fail(-r, file->path, err) : 0;
}

/* Another call may have removed the directory, because it was empty. */
static int name_file(struct import *import, const struct al_sandbox_file *file,
                     struct al_error *err)
{
    int r;

    r = file->over ? -EEXIST : set_name(import, file, false);
    if (r == -ENOENT) {
        r = open_parent(import, file->path, err);
        if (r < 0)
            return r;
        r = set_name(import, file, false);
    }
    if (r == -EEXIST)
        return replace(import, file, err);
    return r < 0 ? al_directory_write_fail(-r, file->path, err) : 0;
}

/* --- Content --- */

static int begin_file(struct import *import, size_t which, struct al_error *err)
{
    const struct al_sandbox_file *file = &import->files[which];
    int r = find_parent(import, file->path, err);

    import->begun = file;
    if (r < 0 || file->mode == AL_SANDBOX_MODE_LINK)
        return r;
    r = al_new_file_open(&import->file, import->parent,
                         file->mode == AL_SANDBOX_MODE_EXECUTABLE ? 0777 : 0666);
    return r < 0 ? al_directory_write_fail(-r, file->path, err) : 0;
}

static int add_content(struct import *import, const struct al_sandbox_file *file, const char *data,
                       size_t len, struct al_error *err)
{
    int r = 0;

    if (len > import->sandbox->max_bytes - import->size)
        return al_sandbox_fail(err, AL_ERR_EXECUTION, file->path, "",
                               " is larger than staging.max_bytes");
    import->size += len;
    if (file->mode == AL_SANDBOX_MODE_LINK)
        al_str_add(&import->target, data, len);
    else
        r = al_write_all(import->file.fd, data, len);
    return r < 0 ? al_directory_write_fail(-r, file->path, err) : 0;
}

static void end_file(struct import *import)
{
    al_new_file_clear(&import->file);
    al_str_reset(&import->target);
    import->size = 0;
    import->begun = NULL;
}

/* Drop the file that arrives, and the directories that were made for it. */
static void abandon(struct import *import)
{
    const struct al_directory *directory = import->sandbox->state;
    const struct al_sandbox_file *file = import->begun;

    end_file(import);
    forget_parent(import);
    if (file)
        al_nofollow_remove_parents(directory->fd, file->path);
}

static int take_locked(struct import *import, size_t which, const char *data, size_t len, bool last,
                       struct al_error *err)
{
    const struct al_sandbox_file *file = &import->files[which];
    int r = import->begun ? 0 : begin_file(import, which, err);

    if (r == 0)
        r = add_content(import, file, data, len, err);
    if (r == 0 && last)
        r = name_file(import, file, err);
    if (r == 0 && last)
        end_file(import);
    return r;
}

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct import *import = payload;
    int r;

    (void)pthread_mutex_lock(&import->sandbox->lock);
    r = take_locked(import, which, data, len, last, err);
    (void)pthread_mutex_unlock(&import->sandbox->lock);
    return r;
}

int al_directory_import(struct al_sandbox *sandbox, const struct al_sandbox_file *files,
                        size_t count, const struct al_blob_source *source, struct al_error *err)
{
    struct import import = { .sandbox = sandbox,
                             .files = files,
                             .file = AL_NEW_FILE_INIT,
                             .target = AL_STR_INIT,
                             .parent = -1 };
    char(*texts)[AL_OID_TEXT] = al_calloc(count, sizeof(*texts));
    const char **oids = al_calloc(count, sizeof(*oids));
    int r = 0;

    for (size_t i = 0; i < count; i++) {
        al_oid_text(&files[i].oid, sandbox->sha256, texts[i]);
        oids[i] = texts[i];
    }
    if (count)
        r = source->read(source->payload, oids, count, take, &import, err);
    (void)pthread_mutex_lock(&sandbox->lock);
    abandon(&import);
    (void)pthread_mutex_unlock(&sandbox->lock);
    al_str_clear(&import.target);
    free(oids);
    free(texts);
    return r;
}
