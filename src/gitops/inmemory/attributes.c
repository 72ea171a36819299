// SPDX-License-Identifier: Apache-2.0
/*
 * The attributes of a merge.
 *
 * git reads them from the files of its working tree, which in a merge is that of our side.  Here
 * that is a directory with nothing but the .gitattributes files of our side's tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/diff/cat_file.h"
#include "gitops/inmemory/private.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define NAME           ".gitattributes"
#define FILES_MAX      4096u
#define FILE_MAX_BYTES (64u << 20)

/* The .gitattributes files of a tree. */
struct files {
    struct al_strv paths, oids;
};

static void files_clear(struct files *files)
{
    al_strv_clear(&files->paths);
    al_strv_clear(&files->oids);
}

/* "<mode> blob <oid> TAB <path>".  git does not follow a .gitattributes that is a link. */
static void take_file(struct files *files, const char *record)
{
    const char *path = strchr(record, '\t'), *name;

    if (!path || !al_starts_with(record, "100"))
        return;
    path++;
    name = strrchr(path, '/');
    /* A tree may have been made by hand, with names that lead elsewhere. */
    if (strcmp(name ? name + 1 : path, NAME) != 0 || !al_path_is_plain(path))
        return;
    record += strlen("100644 blob ");
    al_strv_take(&files->oids, al_strndup(record, strcspn(record, "\t")));
    al_strv_add(&files->paths, path);
}

struct listing {
    struct files *files;
    struct al_str record;
};

/* Only one record is kept at a time: the tree may be large. */
static bool take_bytes(void *payload, const char *data, size_t len)
{
    struct listing *listing = payload;

    for (size_t at = 0; at < len;) {
        const char *nul = memchr(data + at, '\0', len - at);
        const size_t piece = nul ? (size_t)(nul - data) - at : len - at;

        al_str_add(&listing->record, data + at, piece);
        at += piece;
        if (!nul)
            continue;
        take_file(listing->files, listing->record.buf);
        al_str_reset(&listing->record);
        at++;
    }
    return listing->files->paths.count <= FILES_MAX;
}

static int list_files(const struct al_inmemory *memory, const char *tree,
                      struct al_run_limits *budget, struct files *files, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct listing listing = { .files = files, .record = AL_STR_INIT };
    int r;

    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-z", "--full-tree", tree, NULL);
    r = al_git_run(&memory->view.at, &command,
                   &(struct al_git_run){ .sink = { take_bytes, &listing }, .checked = true },
                   budget, &output, err);
    al_str_clear(&listing.record);
    if (r == 0 && files->paths.count > FILES_MAX)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "The tree has more than %u " NAME " files; merge with git itself",
                         FILES_MAX);
    return r;
}

static int write_file(const struct al_inmemory *memory, const char *path, const struct al_str *data)
{
    const char *name;
    al_auto(al_closep) int dir = al_nofollow_open_parent(memory->top_fd, path, true, &name);
    al_auto(al_closep) int fd = -1;

    if (dir < 0)
        return dir;
    fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? -errno : al_write_all(fd, data->buf, data->len);
}

static int write_files(const struct al_inmemory *memory, const struct files *files,
                       struct al_run_limits *budget, struct al_error *err)
{
    const size_t count = files->paths.count;
    struct al_blob *blobs = al_calloc(count, sizeof(*blobs));
    int r;

    for (size_t i = 0; i < count; i++)
        blobs[i] = (struct al_blob){ .oid = files->oids.items[i], .group = i };
    r = al_git_cat_file(&memory->view, blobs, count, FILE_MAX_BYTES, budget, err);
    if (r < 0) {
        free(blobs);
        return r;
    }
    for (size_t i = 0; r == 0 && i < count; i++) {
        int written =
            blobs[i].kept ? write_file(memory, files->paths.items[i], &blobs[i].data) : -EFBIG;

        if (written < 0)
            r = al_error_errno(err, -written, "cannot copy the attributes of the tree");
    }
    al_cat_file_clear(blobs, count);
    free(blobs);
    return r;
}

/* Start again with an empty working tree. */
static int empty_top(struct al_inmemory *memory, struct al_error *err)
{
    al_close(al_take_fd(&memory->top_fd));
    al_fs_remove_tree(memory->top);
    if (mkdir(memory->top, 0700) == 0)
        memory->top_fd = open(memory->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return memory->top_fd < 0
               ? al_error_errno(err, errno, "cannot use the private directory '%s'", memory->top)
               : 0;
}

/* Whether two trees have the same .gitattributes files.  git skips what is equal. */
static int compare(const struct al_inmemory *memory, const char *tree, struct al_run_limits *budget,
                   bool *ret_same, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_buffer names = { .max_bytes = 0 };
    int r;

    al_strv_adds(&command.argv, "git", "diff-tree", "-r", "-z", "--name-only", "--no-renames",
                 memory->attributes_of, tree, "--", ":(glob)**/" NAME, NULL);
    r = al_inmemory_git(memory, &command, budget, &names, NULL, err);
    *ret_same = r == 0 && !names.len;
    al_buffer_clear(&names);
    return r;
}

int al_inmemory_change_attributes(const struct al_inmemory *memory, const struct al_strv *commits,
                                  struct al_run_limits *budget, bool *ret_change,
                                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct al_buffer names = { .max_bytes = 0 };
    int r;

    for (size_t i = 0; i < commits->count; i++)
        al_str_addf(&input, "%s\n", commits->items[i]);
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "diff-tree", "--stdin", "--root", "-m", "-r", "-z",
                 "--no-commit-id", "--name-only", "--no-renames", "--", ":(top,glob)**/" NAME,
                 NULL);
    r = al_inmemory_git(memory, &command, budget, &names, NULL, err);
    *ret_change = r < 0 || names.len;
    al_buffer_clear(&names);
    return r;
}

void al_inmemory_without_attributes(struct al_inmemory *memory)
{
    memory->keeps_attributes = true;
    memory->attributes_of = al_strdup("");
}

int al_inmemory_set_attributes(struct al_inmemory *memory, const char *tree,
                               struct al_run_limits *budget, struct al_error *err)
{
    al_auto(files_clear) struct files files = { .paths = AL_STRV_INIT };
    bool same = false;
    int r = 0;

    if (memory->attributes_of)
        same = memory->keeps_attributes || !strcmp(memory->attributes_of, tree);
    if (memory->attributes_of && !same)
        r = compare(memory, tree, budget, &same, err);
    if (r < 0)
        return r;
    if (same) { /* the next tree differs less from this one */
        free(memory->attributes_of);
        memory->attributes_of = al_strdup(tree);
        return 0;
    }
    free(al_take(&memory->attributes_of));
    r = empty_top(memory, err);
    if (r == 0)
        r = list_files(memory, tree, budget, &files, err);
    if (r == 0 && files.paths.count)
        r = write_files(memory, &files, budget, err);
    if (r == 0)
        memory->attributes_of = al_strdup(tree);
    return r;
}
