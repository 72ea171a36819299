// SPDX-License-Identifier: Apache-2.0
#include "gitops/genuine.h"

#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>

#include "gitops/batch.h"
#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/filters.h"
#include "gitops/refs.h"
#include "gitops/steady.h"
#include "gitops/vet.h"

#define HEADER_MAX_BYTES 256u
#define LIST_MAX_BYTES   (8u << 20)

struct hash {
    struct sha1_ctx one;
    struct sha256_ctx two;
};

void al_genuine_reader_clear(struct al_genuine_reader *reader)
{
    al_str_clear(&reader->line);
    al_str_clear(&reader->id);
    free(reader->hash);
    free(reader->forged);
}

static void add(struct al_genuine_reader *reader, const void *data, size_t len)
{
    struct hash *hash = reader->hash;

    if (reader->sha256)
        sha256_update(&hash->two, len, data);
    else
        sha1_update(&hash->one, len, data);
}

static void begin(struct al_genuine_reader *reader, const char *header)
{
    struct hash *hash = reader->hash;

    sha1_init(&hash->one);
    sha256_init(&hash->two);
    add(reader, header, strlen(header) + 1); /* "<type> <size>" and a NUL */
}

/* The id as text. */
static void give(struct hash *hash, bool sha256, char ret_text[2 * SHA256_DIGEST_SIZE + 1])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    const size_t len = sha256 ? SHA256_DIGEST_SIZE : SHA1_DIGEST_SIZE;

    if (sha256)
        sha256_digest(&hash->two, len, digest);
    else
        sha1_digest(&hash->one, len, digest);
    for (size_t i = 0; i < len; i++)
        (void)snprintf(ret_text + 2 * i, 3, "%02x", digest[i]);
}

static void end(struct al_genuine_reader *reader)
{
    char text[2 * SHA256_DIGEST_SIZE + 1];

    give(reader->hash, reader->sha256, text);
    if (reader->oids)
        al_strv_add(reader->oids, reader->id.buf);
    if (strcmp(text, reader->id.buf) != 0 && !reader->forged)
        reader->forged = al_strdup(reader->id.buf);
}

char *al_git_blob_id(bool sha256, const void *data, size_t len)
{
    struct hash hash;
    struct al_genuine_reader reader = { .hash = &hash, .sha256 = sha256 };
    al_auto(al_freep) char *header = al_asprintf("blob %zu", len);
    char text[2 * SHA256_DIGEST_SIZE + 1];

    begin(&reader, header);
    add(&reader, data, len);
    give(&hash, sha256, text);
    return al_strdup(text);
}

/* "<oid> <type> <size>", or "<word> missing". */
static bool take_header(struct al_genuine_reader *reader)
{
    const char *line = reader->line.buf;
    const char *space = strchr(line, ' '), *size = strrchr(line, ' ');
    char *rest;

    if (al_ends_with(line, " missing"))
        return true;
    if (!space || size == space || !al_is_oid(line, (size_t)(space - line)) || size[1] < '0' ||
        size[1] > '9')
        return false;
    reader->left = strtoull(size + 1, &rest, 10);
    if (*rest || reader->left > UINT64_MAX / 2)
        return false;
    al_str_reset(&reader->id);
    al_str_add(&reader->id, line, (size_t)(space - line));
    begin(reader, space + 1);
    if (!reader->left)
        end(reader);
    reader->left++;
    return true;
}

static size_t take_line(struct al_genuine_reader *reader, const char *data, size_t len)
{
    const char *eol = memchr(data, '\n', len);
    size_t piece = eol ? (size_t)(eol - data) : len;

    al_str_add(&reader->line, data, piece);
    reader->broken = reader->line.len > HEADER_MAX_BYTES;
    if (!eol || reader->broken)
        return piece;
    reader->broken = !take_header(reader);
    al_str_reset(&reader->line);
    return piece + 1;
}

static size_t take_content(struct al_genuine_reader *reader, const char *data, size_t len)
{
    size_t content = reader->left - 1 < len ? (size_t)(reader->left - 1) : len;

    if (!content) { /* the newline behind it */
        reader->left = 0;
        return 1;
    }
    add(reader, data, content);
    reader->left -= content;
    if (reader->left == 1)
        end(reader);
    return content;
}

bool al_genuine_reader_add(void *payload, const char *data, size_t len)
{
    struct al_genuine_reader *reader = payload;

    if (!reader->hash)
        reader->hash = al_malloc(sizeof(struct hash));
    reader->bytes += len;
    while (len && !reader->broken) {
        size_t taken =
            reader->left ? take_content(reader, data, len) : take_line(reader, data, len);

        data += taken;
        len -= taken;
    }
    reader->too_many = reader->bytes > AL_GENUINE_MAX_BYTES;
    return !reader->broken && !reader->too_many && !reader->forged;
}

static int forged(const char *id, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "Object %s of the repository is not what its id says: what it is cannot be "
                        "shown. A person can look with git fsck",
                        id);
}

int al_git_check_genuine(const struct al_repo *repo, const struct al_str *words,
                         struct al_budget *budget, bool *ret_all, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_genuine_reader_clear) struct al_genuine_reader reader = {
        .line = AL_STR_INIT,
        .id = AL_STR_INIT,
        .sha256 = repo->vetting->is_sha256,
        .oids = budget->steady ? &budget->steady->oids : NULL,
    };
    int r;

    if (!words->len)
        return 0;
    command.input = words->buf;
    command.input_len = words->len;
    al_strv_adds(&command.argv, "git", "cat-file", "--batch", "--buffer", NULL);
    r = al_git_run_sink(&repo->at, &command, (struct al_sink){ al_genuine_reader_add, &reader },
                        budget, &output, err);
    if (r < 0)
        return r;
    if (reader.forged)
        return forged(reader.forged, err);
    if (reader.too_many)
        *ret_all = false;
    else if (reader.broken || reader.left)
        return al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    else if (output.exit_code != 0)
        return al_git_failed(&output, err);
    return 0;
}

/* "<mode> tree <oid> TAB <path>" of `ls-tree -z`: a line for each id. */
static void add_trees(const struct al_buffer *list, struct al_str *words)
{
    static const char mark[] = " tree ";

    for (size_t at = 0; at < list->len; at += strlen(list->data + at) + 1) {
        const char *oid = strstr(list->data + at, mark);

        if (oid)
            al_str_addf(words, "%.*s\n", (int)strcspn(oid + strlen(mark), "\t"),
                        oid + strlen(mark));
    }
}

int al_git_check_genuine_tree(const struct al_repo *repo, const char *commit,
                              struct al_budget *budget, bool *ret_all, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = LIST_MAX_BYTES };
    int r;

    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-d", "-z", "--full-tree", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", commit);
    r = al_git_run_sink(&repo->at, &command, al_buffer_sink(&list), budget, &output, err);
    if (r == 0 && output.stopped)
        *ret_all = false;
    else if (r == 0 && output.exit_code != 0)
        r = al_git_failed(&output, err);
    if (r == 0) {
        al_str_addf(&words, "%s\n%s^{tree}\n", commit, commit);
        add_trees(&list, &words);
        r = al_git_check_genuine(repo, &words, budget, ret_all, err);
    }
    al_buffer_clear(&list);
    return r;
}

int al_git_check_genuine_commits(const struct al_repo *repo, const char *const *words,
                                 struct al_budget *budget, bool *ret_all, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    struct al_buffer ids = { .max_bytes = LIST_MAX_BYTES };
    int r;

    al_strv_adds(&command.argv, "git", "rev-list", NULL);
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    al_strv_add(&command.argv, "--");
    r = al_git_run_sink(&repo->at, &command, al_buffer_sink(&ids), budget, &output, err);
    if (r == 0 && output.stopped)
        *ret_all = false;
    else if (r == 0 && output.exit_code != 0)
        r = al_git_failed(&output, err);
    if (r == 0) {
        al_str_add(&list, ids.data, ids.len);
        r = al_git_check_genuine(repo, &list, budget, ret_all, err);
    }
    al_buffer_clear(&ids);
    return r;
}
