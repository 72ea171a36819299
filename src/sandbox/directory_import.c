// SPDX-License-Identifier: Apache-2.0
/* Writing files of a store into a directory, while their content arrives. */
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

/** An import that runs. */
struct import {
    struct al_sandbox *sandbox;
    const struct al_sandbox_file *files;
    struct al_str content; /* of the file that arrives */
    int parent;            /* the directory of the last file, open; -1: none */
    const char *last;      /* that file */
    unsigned uses;         /* how many files this directory was opened for */
};

/* Files of one directory come one after the other.  It is looked up anew after so many, in case it
 * was moved. */
#define PARENT_USES_MAX 64u

/* Create a link beside its name and rename it.  0 or -errno. */
static int make_link(int parent, const char *name, const char *target)
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

static int replace(int parent, const char *name, const struct al_sandbox_file *file,
                   const struct al_str *content)
{
    if (file->mode == AL_SANDBOX_MODE_LINK)
        return strlen(content->buf) == content->len ? make_link(parent, name, content->buf)
                                                    : -EINVAL;
    return al_fs_write_atomic(parent, name, content->buf, content->len,
                              file->mode == AL_SANDBOX_MODE_EXECUTABLE ? 0777 : 0666, true);
}

static void forget_parent(struct import *import)
{
    al_close(import->parent);
    import->parent = -1;
}

static bool has_same_parent(const char *a, const char *b)
{
    const char *slash = strrchr(a, '/');
    size_t len = slash ? (size_t)(slash - a) + 1 : 0;

    return !strncmp(a, b, len) && !strchr(b + len, '/');
}

/* Look at the name in the directory that is open already. */
static int use_parent(struct import *import, const char *path, const char *name,
                      struct stat *ret_st, struct al_error *err)
{
    import->uses++;
    if (al_gitdir_is(import->parent, name))
        return al_gitdir_refuse(path, err);
    if (fstatat(import->parent, name, ret_st, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    ret_st->st_mode = 0;
    return errno == ENOENT ? 0 : al_directory_fail(errno, path, err);
}

static int find_parent(struct import *import, const char *path, const char **ret_name,
                       struct stat *ret_st, struct al_error *err)
{
    const struct al_directory *directory = import->sandbox->state;
    const char *slash = strrchr(path, '/');
    struct stat st;

    if (import->parent >= 0 && import->uses < PARENT_USES_MAX &&
        has_same_parent(import->last, path) && fstat(import->parent, &st) == 0 && st.st_nlink) {
        *ret_name = slash ? slash + 1 : path;
        return use_parent(import, path, *ret_name, ret_st, err);
    }
    forget_parent(import);
    import->uses = 0;
    import->last = path;
    return al_directory_open_parent(directory->fd, path, &import->parent, ret_name, ret_st, err);
}

static int write_file(struct import *import, const struct al_sandbox_file *file,
                      struct al_error *err)
{
    const struct al_directory *directory = import->sandbox->state;
    const char *name;
    struct stat st;
    int r = find_parent(import, file->path, &name, &st, err);

    if (r == 0 && S_ISDIR(st.st_mode))
        r = al_sandbox_is_directory(file->path, err);
    else if (r == 0 && st.st_mode && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        r = al_directory_is_special(file->path, err);
    if (r == 0) {
        r = replace(import->parent, name, file, &import->content);
        r = r < 0 ? al_directory_write_fail(-r, file->path, err) : 0;
    }
    if (r < 0) {
        forget_parent(import);
        al_nofollow_remove_parents(directory->fd, file->path);
    }
    return r;
}

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct import *import = payload;
    const struct al_sandbox_file *file = &import->files[which];
    int r;

    if (import->content.len + len > import->sandbox->max_bytes)
        return al_sandbox_fail(err, AL_ERR_EXECUTION, file->path, "",
                               " is larger than staging.max_bytes");
    al_str_add(&import->content, data, len);
    if (!last)
        return 0;
    (void)pthread_mutex_lock(&import->sandbox->lock);
    r = write_file(import, file, err);
    (void)pthread_mutex_unlock(&import->sandbox->lock);
    al_str_reset(&import->content);
    return r;
}

int al_directory_import(struct al_sandbox *sandbox, const struct al_sandbox_file *files,
                        size_t count, const struct al_blob_source *source, struct al_error *err)
{
    struct import import = {
        .sandbox = sandbox, .files = files, .content = AL_STR_INIT, .parent = -1
    };
    char(*texts)[AL_OID_TEXT] = al_calloc(count, sizeof(*texts));
    const char **oids = al_calloc(count, sizeof(*oids));
    int r = 0;

    for (size_t i = 0; i < count; i++) {
        al_oid_text(&files[i].oid, sandbox->sha256, texts[i]);
        oids[i] = texts[i];
    }
    if (count)
        r = source->read(source->payload, oids, count, take, &import, err);
    forget_parent(&import);
    al_str_clear(&import.content);
    free(oids);
    free(texts);
    return r;
}
