// SPDX-License-Identifier: Apache-2.0
#include "gitops/diff/cat_file.h"

#include "gitops/command.h"
#include "gitops/run.h"

/* "<oid> commit <size>": an object id has 64 digits at most. */
#define HEADER_MAX_BYTES 256u

void al_cat_file_clear(struct al_blob *blobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        al_str_clear(&blobs[i].data);
}

void al_blob_reader_clear(struct al_blob_reader *reader)
{
    al_str_clear(&reader->line);
}

static void skip_unread(struct al_blob_reader *reader)
{
    while (reader->with_data && reader->at < reader->count && !reader->blobs[reader->at].kept)
        reader->at++;
}

/* Read a decimal size. Returns false when `text` is no number, or too large for a size. */
static bool read_size(const char *text, uint64_t *ret_size)
{
    uint64_t size = 0;

    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || size > UINT64_MAX / 16)
            return false;
        size = size * 10 + (uint64_t)(*text - '0');
    }
    *ret_size = size;
    return true;
}

/* Parse "<oid> blob <size>" or "<oid> missing". */
static bool take_header(struct al_blob_reader *reader)
{
    struct al_blob *blob = &reader->blobs[reader->at];
    size_t len = strlen(blob->oid);
    const char *rest = reader->line.buf + len;
    uint64_t size = 0;

    if (!al_starts_with(reader->line.buf, blob->oid) || *rest != ' ')
        return false;
    blob->exists = al_starts_with(rest, " blob ") && read_size(rest + strlen(" blob "), &size);
    if (!reader->with_data) {
        blob->size = size;
        reader->at++;
        return true;
    }
    if (!blob->exists || size != blob->size)
        return false; /* --batch-check reported another size a moment ago */
    al_str_reserve(&blob->data, size);
    reader->left = size + 1;
    return true;
}

static size_t take_line(struct al_blob_reader *reader, const char *data, size_t len)
{
    const char *end = memchr(data, '\n', len);
    size_t piece = end ? (size_t)(end - data) : len;

    al_str_add(&reader->line, data, piece);
    if (reader->line.len > HEADER_MAX_BYTES)
        reader->broken = true;
    if (!end || reader->broken)
        return piece;
    reader->broken = !take_header(reader);
    al_str_reset(&reader->line);
    return piece + 1;
}

static size_t take_data(struct al_blob_reader *reader, const char *data, size_t len)
{
    struct al_blob *blob = &reader->blobs[reader->at];
    size_t piece = reader->left < len ? (size_t)reader->left : len;
    size_t ends =
        piece ==
        reader->left; /* 1 when the piece ends with the newline that git adds after an object */

    al_str_add(&blob->data, data, piece - ends);
    reader->broken = ends && data[piece - 1] != '\n';
    reader->left -= piece;
    reader->at += ends;
    return piece;
}

bool al_blob_reader_add(void *payload, const char *data, size_t len)
{
    struct al_blob_reader *reader = payload;

    while (len && !reader->broken) {
        size_t taken;

        if (reader->left) {
            taken = take_data(reader, data, len);
        } else {
            skip_unread(reader);
            if (reader->at == reader->count)
                reader->broken = true;
            taken = reader->broken ? 0 : take_line(reader, data, len);
        }
        data += taken;
        len -= taken;
    }
    return !reader->broken;
}

static int run_cat_file(const struct al_repo *repo, struct al_blob_reader *reader,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < reader->count; i++)
        if (!reader->with_data || reader->blobs[i].kept)
            al_str_addf(&input, "%s\n", reader->blobs[i].oid);
    if (!input.len)
        return 0;
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "cat-file", reader->with_data ? "--batch" : "--batch-check",
                 NULL);
    r = al_git_read(&repo->at, &command, (struct al_sink){ al_blob_reader_add, reader }, budget,
                    err);
    if (r < 0)
        return r;
    skip_unread(reader);
    if (reader->broken || reader->left || reader->at < reader->count)
        return al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    return 0;
}

/* Mark the blobs to read: whole groups, in order, as long as they fit into `max_bytes`. */
static void choose_blobs(struct al_blob *blobs, size_t count, size_t max_bytes)
{
    uint64_t used = 0;

    for (size_t i = 0, end; i < count; i = end) {
        uint64_t size = 0;

        for (end = i; end < count && blobs[end].group == blobs[i].group; end++) {
            uint64_t more = blobs[end].exists ? blobs[end].size : 0;

            size = size > UINT64_MAX - more ? UINT64_MAX : size + more;
        }
        if (size > max_bytes - used)
            continue;
        used += size;
        for (size_t k = i; k < end; k++)
            blobs[k].kept = blobs[k].exists;
    }
}

int al_git_cat_file(const struct al_repo *repo, struct al_blob *blobs, size_t count,
                    size_t max_bytes, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_blob_reader_clear) struct al_blob_reader sizes =
        AL_BLOB_READER_INIT(blobs, count, false);
    al_auto(al_blob_reader_clear) struct al_blob_reader contents =
        AL_BLOB_READER_INIT(blobs, count, true);
    int r;

    for (size_t i = 0; i < count; i++)
        blobs[i].data = AL_STR_INIT;
    r = run_cat_file(repo, &sizes, budget, err);
    if (r < 0)
        return r;
    choose_blobs(blobs, count, max_bytes);
    r = run_cat_file(repo, &contents, budget, err);
    if (r < 0) {
        al_cat_file_clear(blobs, count);
        for (size_t i = 0; i < count; i++)
            blobs[i].kept = false;
    }
    return r;
}
