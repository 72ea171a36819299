// SPDX-License-Identifier: Apache-2.0
/* The sides of a file in conflict, merged once more to see what git made of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/diff/cat_file.h"
#include "gitops/private_dir.h"
#include "gitops/run.h"
#include "gitops/sequencer/conflict_hunks.h"
#include "util/fs.h"

/* The sides as files for git merge-file, which takes no object ids before 2.43.  A side that does
 * not exist is an empty file. */
struct side_files {
    char *paths[AL_STAGES];
};

static void side_files_clear(struct side_files *files)
{
    for (size_t i = 0; i < AL_STAGES; i++) {
        if (files->paths[i])
            (void)unlink(files->paths[i]);
        free(files->paths[i]);
    }
}

static int write_side(const char *path, const struct al_str *data, struct al_error *err)
{
    al_auto(al_closep) int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = fd < 0 ? -errno : al_write_all(fd, data->buf, data->len);

    return r < 0 ? al_error_errno(err, -r, "cannot write a temporary file") : 0;
}

static bool ends_with_newline(const struct al_str *data)
{
    return !data->len || data->buf[data->len - 1] == '\n';
}

/* Write the sides, unless one is no text. */
static int write_sides(const struct al_repo *repo, const struct al_blob *blobs,
                       struct al_conflict_file *file, struct side_files *files,
                       struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < AL_STAGES; i++) {
        if (blobs[i].oid && (!blobs[i].kept || memchr(blobs[i].data.buf, '\0', blobs[i].data.len)))
            file->is_text = false;
        file->ends_with_newline[i] = ends_with_newline(&blobs[i].data);
    }
    for (size_t i = 0; r == 0 && file->is_text && i < AL_STAGES; i++) {
        files->paths[i] = al_git_private_name(repo->at.git, "side");
        r = write_side(files->paths[i], &blobs[i].data, err);
    }
    return r;
}

/* Merge the sides as git did.  Its exit code is the number of conflicts. */
static int merge_sides(const struct al_repo *repo, const struct side_files *files, bool with_base,
                       size_t marker_size, struct al_run_limits *budget, struct al_str *ret_text,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_buffer text = { .max_bytes = 4 * AL_CONFLICT_FILE_BYTES };
    int r;

    al_strv_adds(&command.argv, "git", "-c", "merge.conflictStyle=merge", "merge-file", "-p", "-q",
                 NULL);
    if (with_base)
        al_strv_add(&command.argv, "--diff3");
    al_strv_addf(&command.argv, "--marker-size=%zu", marker_size);
    al_strv_adds(&command.argv, "--", files->paths[AL_STAGE_OURS], files->paths[AL_STAGE_BASE],
                 files->paths[AL_STAGE_THEIRS], NULL);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = al_buffer_sink(&text) },
                   budget, &output, err);
    if (r == 0 && text.len && output.exit_code >= 0 && output.exit_code < 128)
        al_str_add(ret_text, text.data, text.len);
    al_buffer_clear(&text);
    return r;
}

int al_conflict_read_sides(const struct al_repo *repo, const struct al_conflict *conflict,
                           size_t marker_size, struct al_run_limits *budget,
                           struct al_conflict_file *file, struct al_error *err)
{
    al_auto(side_files_clear) struct side_files files = { .paths = { NULL } };
    struct al_blob given[AL_STAGES], blobs[AL_STAGES] = { { .data = AL_STR_INIT },
                                                          { .data = AL_STR_INIT },
                                                          { .data = AL_STR_INIT } };
    size_t count = 0;
    int r;

    for (size_t i = 0; i < AL_STAGES; i++)
        if (conflict->sides[i].oid)
            given[count++] = (struct al_blob){ .oid = conflict->sides[i].oid, .group = 0 };
    r = al_git_cat_file(repo, given, count, 3 * AL_CONFLICT_FILE_BYTES, budget, err);
    if (r < 0)
        return r;
    count = 0;
    for (size_t i = 0; i < AL_STAGES; i++)
        if (conflict->sides[i].oid)
            blobs[i] = given[count++];
    r = write_sides(repo, blobs, file, &files, err);
    if (r == 0 && file->is_text)
        r = merge_sides(repo, &files, false, marker_size, budget, &file->merged, err);
    if (r == 0 && file->is_text)
        r = merge_sides(repo, &files, true, marker_size, budget, &file->merged_with_base, err);
    al_cat_file_clear(given, count);
    return r;
}
