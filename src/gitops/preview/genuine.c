// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/genuine.h"

#include <stdio.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/oid.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/revision.h"
#include "gitops/preview/steady.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/vet.h"

#define HEADER_MAX_BYTES 256u
#define LIST_MAX_BYTES   (8u << 20)

void al_genuine_reader_clear(struct al_genuine_reader *reader)
{
    al_str_clear(&reader->line);
    al_str_clear(&reader->id);
    free(reader->hash);
    free(reader->forged);
}

static void begin(struct al_genuine_reader *reader, const char *header)
{
    al_hash_init(reader->hash, reader->sha256);
    al_hash_add(reader->hash, header, strlen(header) + 1); /* "<type> <size>" and a NUL */
}

static void end(struct al_genuine_reader *reader)
{
    char text[AL_OID_TEXT];
    struct al_oid oid;

    al_hash_end(reader->hash, &oid);
    al_oid_text(&oid, reader->sha256, text);
    if (reader->oids)
        al_strv_add(reader->oids, reader->id.buf);
    if (strcmp(text, reader->id.buf) != 0 && !reader->forged)
        reader->forged = al_strdup(reader->id.buf);
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
    al_hash_add(reader->hash, data, content);
    reader->left -= content;
    if (reader->left == 1)
        end(reader);
    return content;
}

bool al_genuine_reader_add(void *payload, const char *data, size_t len)
{
    struct al_genuine_reader *reader = payload;

    if (!reader->hash)
        reader->hash = al_malloc(sizeof(struct al_hash));
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
                         struct al_run_limits *budget, bool *ret_all, struct al_error *err)
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
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = { al_genuine_reader_add, &reader } }, budget,
                   &output, err);
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
                              struct al_run_limits *budget, bool *ret_all, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = LIST_MAX_BYTES };
    int r;

    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-d", "-z", "--full-tree", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", commit);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = al_buffer_sink(&list) },
                   budget, &output, err);
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
                                 struct al_run_limits *budget, bool *ret_all, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    struct al_buffer ids = { .max_bytes = LIST_MAX_BYTES };
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", NULL);
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    al_strv_add(&command.argv, "--");
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = al_buffer_sink(&ids) },
                   budget, &output, err);
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
