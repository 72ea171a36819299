// SPDX-License-Identifier: Apache-2.0
/* What git says of files in conflict: their stages and attributes, and what it makes of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/nul_records.h"
#include "gitops/private_dir.h"
#include "gitops/run.h"
#include "gitops/sequencer/conflict_hunks.h"
#include "util/fs.h"

#define MARKER_SIZE     7
#define MARKER_SIZE_MAX 1000

/** All stages that are read at once. */
#define STAGES_BYTES (256u << 20)

#define ALL_LINES    "--unified=100000000"

/* --- What the repository has --- */

/* Output of check-attr -z: "path NUL attribute NUL value NUL", in the order of the input. */
struct attributes {
    struct al_conflict_file *files;
    size_t count, at;
};

static bool take_attribute(void *payload, char *const *fields)
{
    struct attributes *attributes = payload;
    struct al_conflict_file *file = &attributes->files[attributes->at / 2];
    size_t size = 0;

    if (attributes->at / 2 == attributes->count)
        return false;
    if (attributes->at++ % 2) {
        file->is_unmerged = !strcmp(fields[2], "unset") || !strcmp(fields[2], "binary");
        return true;
    }
    for (const char *c = fields[2]; *c >= '0' && *c <= '9' && size < MARKER_SIZE_MAX; c++)
        size = size * 10 + (size_t)(*c - '0');
    if (size)
        file->marker_size = size;
    return true;
}

static int read_attributes(const struct al_repo *repo, struct al_conflict_file *files, size_t count,
                           struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct attributes attributes = { .files = files, .count = count };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(3, take_attribute, &attributes);

    for (size_t i = 0; i < count; i++) {
        files[i].marker_size = MARKER_SIZE;
        al_str_add(&input, files[i].conflict->path, strlen(files[i].conflict->path) + 1);
    }
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "check-attr", "-z", "--stdin",
                 "conflict-marker-size", "merge", NULL);
    return al_git_read_records(&repo->at, &command, &records, budget, err);
}

int al_conflict_read_stages(const struct al_repo *repo, struct al_conflict_file *files,
                            size_t count, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) struct al_blob *blobs = al_calloc(AL_STAGES * count + 1, sizeof(*blobs));
    size_t n = 0;
    int r = count ? read_attributes(repo, files, count, budget, err) : 0;

    for (size_t i = 0; i < AL_STAGES * count; i++) {
        const struct al_side *side = &files[i / AL_STAGES].conflict->sides[i % AL_STAGES];

        if (side->oid && !al_side_is_submodule(side))
            blobs[n++] = (struct al_blob){ .oid = side->oid, .group = i / AL_STAGES };
    }
    if (r == 0)
        r = al_git_cat_file(repo, blobs, n, STAGES_BYTES, budget, err);
    for (size_t i = 0, k = 0; r == 0 && k < n; i++)
        if (files[i / AL_STAGES].conflict->sides[i % AL_STAGES].oid == blobs[k].oid)
            files[i / AL_STAGES].stages[i % AL_STAGES] = blobs[k++];
    return r;
}

/* --- What git makes of texts, which it reads from files --- */

struct text_files {
    char *paths[AL_STAGES];
};

static void text_files_clear(struct text_files *files)
{
    for (size_t i = 0; i < AL_STAGES; i++) {
        if (files->paths[i])
            (void)unlink(files->paths[i]);
        free(files->paths[i]);
    }
}

static int write_text(const struct al_repo *repo, const struct al_str *text, char **ret_path,
                      struct al_error *err)
{
    char *path = *ret_path = al_git_private_name(repo->at.git, "side");
    al_auto(al_closep) int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = fd < 0 ? -errno : al_write_all(fd, text->buf, text->len);

    return r < 0 ? al_error_errno(err, -r, "cannot write a temporary file") : 0;
}

/* Run a command and append its output, unless it fails: both commands exit with less than 128. */
static int read_text(const struct al_repo *repo, const struct al_git_command *command,
                     struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_buffer text = { .max_bytes = 4 * AL_CONFLICT_FILE_BYTES };
    int r = al_git_run(&repo->at, command, &(struct al_git_run){ .sink = al_buffer_sink(&text) },
                       budget, &output, err);

    if (r == 0 && (output.exit_code < 0 || output.exit_code >= 128))
        r = al_error_set(err, AL_ERR_EXECUTION, "git did not say what is in conflict");
    if (r == 0 && text.len)
        al_str_add(out, text.data, text.len);
    al_buffer_clear(&text);
    return r;
}

int al_conflict_merge(const struct al_repo *repo, const struct al_conflict_file *file,
                      const char *style, size_t marker_size, struct al_run_limits *budget,
                      struct al_str *ret_text, struct al_error *err)
{
    al_auto(text_files_clear) struct text_files files = { .paths = { NULL } };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_STAGES; i++) /* git 2.43 would take the ids */
        r = write_text(repo, &file->stages[i].data, &files.paths[i], err);
    if (r < 0)
        return r;
    al_strv_add(&command.argv, "git");
    al_strv_adds(&command.argv, "-c", "merge.conflictStyle=merge", "merge-file", "-p", "-q", NULL);
    if (style)
        al_strv_add(&command.argv, style);
    al_strv_addf(&command.argv, "--marker-size=%zu", marker_size);
    al_strv_adds(&command.argv, "--", files.paths[AL_STAGE_OURS], files.paths[AL_STAGE_BASE],
                 files.paths[AL_STAGE_THEIRS], NULL);
    return read_text(repo, &command, budget, ret_text, err);
}

/* Number the lines of a text by a diff with all of its lines; the same texts have none. */
static void number_lines(const struct al_str *diff, size_t *lines, size_t count)
{
    struct al_bytes left = { diff->buf, diff->len }, line;
    size_t at = 0, made = 0;

    while (al_conflict_next_line(&left, &line) && line.data[0] != '@')
        continue;
    while (at < count && al_conflict_next_line(&left, &line)) {
        if (line.data[0] == ' ' || line.data[0] == '+')
            lines[at++] = line.data[0] == ' ' ? made : SIZE_MAX;
        made += line.data[0] == ' ' || line.data[0] == '-';
    }
    while (at < count)
        lines[at++] = made++;
}

int al_conflict_align(const struct al_repo *repo, const struct al_str *made,
                      const struct al_str *text, struct al_run_limits *budget, size_t **ret_lines,
                      struct al_error *err)
{
    al_auto(text_files_clear) struct text_files files = { .paths = { NULL } };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_str_clear) struct al_str diff = AL_STR_INIT;
    const bool is_same = made->len == text->len && !memcmp(made->buf, text->buf, text->len);
    size_t count = al_conflict_count_lines((struct al_bytes){ text->buf, text->len });
    int r = 0;

    if (!is_same)
        r = write_text(repo, made, &files.paths[0], err);
    if (r == 0 && !is_same)
        r = write_text(repo, text, &files.paths[1], err);
    if (r == 0 && !is_same) {
        al_strv_adds(&command.argv, "git", "diff", "--no-index", "--no-color", "--no-ext-diff",
                     "--no-textconv", "--text", "--diff-algorithm=myers", ALL_LINES, "--",
                     files.paths[0], files.paths[1], NULL);
        r = read_text(repo, &command, budget, &diff, err);
    }
    if (r < 0)
        return r;
    *ret_lines = al_calloc(count + 1, sizeof(**ret_lines));
    number_lines(&diff, *ret_lines, count);
    return 0;
}
