// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/verify_objects.h"

#include <stdio.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/oid.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/revision.h"
#include "gitops/preview/stable_read.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"

#define HEADER_MAX_BYTES 256u
#define LIST_MAX_BYTES   (8u << 20)

void al_object_verifier_clear(struct al_object_verifier *verifier)
{
    al_str_clear(&verifier->line);
    al_str_clear(&verifier->id);
    free(verifier->hash);
    free(verifier->mismatch);
}

static void begin_object(struct al_object_verifier *verifier, const char *header)
{
    al_hash_init(verifier->hash, verifier->sha256);
    al_hash_add(verifier->hash, header, strlen(header) + 1); /* "<type> <size>" and its NUL */
}

static void end_object(struct al_object_verifier *verifier)
{
    char text[AL_OID_TEXT];
    struct al_oid oid;

    al_hash_end(verifier->hash, &oid);
    al_oid_text(&oid, verifier->sha256, text);
    if (verifier->oids)
        al_strv_add(verifier->oids, verifier->id.buf);
    if (strcmp(text, verifier->id.buf) != 0 && !verifier->mismatch)
        verifier->mismatch = al_strdup(verifier->id.buf);
}

/* Parse "<oid> <type> <size>" or "<word> missing". */
static bool take_header(struct al_object_verifier *verifier)
{
    const char *line = verifier->line.buf;
    const char *space = strchr(line, ' '), *size = strrchr(line, ' ');
    char *rest;

    if (al_ends_with(line, " missing"))
        return true;
    if (!space || size == space || !al_is_oid(line, (size_t)(space - line)) || size[1] < '0' ||
        size[1] > '9')
        return false;
    verifier->left = strtoull(size + 1, &rest, 10);
    if (*rest || verifier->left > UINT64_MAX / 2)
        return false;
    al_str_reset(&verifier->id);
    al_str_add(&verifier->id, line, (size_t)(space - line));
    begin_object(verifier, space + 1);
    if (!verifier->left)
        end_object(verifier);
    verifier->left++;
    return true;
}

static size_t take_line(struct al_object_verifier *verifier, const char *data, size_t len)
{
    const char *eol = memchr(data, '\n', len);
    size_t piece = eol ? (size_t)(eol - data) : len;

    al_str_add(&verifier->line, data, piece);
    verifier->broken = verifier->line.len > HEADER_MAX_BYTES;
    if (!eol || verifier->broken)
        return piece;
    verifier->broken = !take_header(verifier);
    al_str_reset(&verifier->line);
    return piece + 1;
}

static size_t take_content(struct al_object_verifier *verifier, const char *data, size_t len)
{
    size_t content = verifier->left - 1 < len ? (size_t)(verifier->left - 1) : len;

    if (!content) { /* the newline after the object */
        verifier->left = 0;
        return 1;
    }
    al_hash_add(verifier->hash, data, content);
    verifier->left -= content;
    if (verifier->left == 1)
        end_object(verifier);
    return content;
}

bool al_object_verifier_add(void *payload, const char *data, size_t len)
{
    struct al_object_verifier *verifier = payload;

    if (!verifier->hash)
        verifier->hash = al_malloc(sizeof(struct al_hash));
    verifier->bytes += len;
    while (len && !verifier->broken) {
        size_t taken =
            verifier->left ? take_content(verifier, data, len) : take_line(verifier, data, len);

        data += taken;
        len -= taken;
    }
    verifier->too_many = verifier->bytes > AL_VERIFY_MAX_BYTES;
    return !verifier->broken && !verifier->too_many && !verifier->mismatch;
}

static int mismatch(const char *id, struct al_error *err)
{
    return al_error_set(
        err, AL_ERR_EXECUTION,
        "Object %s of the repository has other content than its id says, and cannot be "
        "shown. The user can look with git fsck",
        id);
}

int al_git_verify_objects(const struct al_repo *repo, const struct al_str *words,
                          struct al_run_limits *budget, bool *ret_complete, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_object_verifier_clear) struct al_object_verifier verifier = {
        .line = AL_STR_INIT,
        .id = AL_STR_INIT,
        .sha256 = repo->vetting->is_sha256,
        .oids = budget->stable_read ? &budget->stable_read->oids : NULL,
    };
    int r;

    if (!words->len)
        return 0;
    command.input = words->buf;
    command.input_len = words->len;
    al_strv_adds(&command.argv, "git", "cat-file", "--batch", "--buffer", NULL);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = { al_object_verifier_add, &verifier } }, budget,
                   &output, err);
    if (r < 0)
        return r;
    if (verifier.mismatch)
        return mismatch(verifier.mismatch, err);
    if (verifier.too_many)
        *ret_complete = false;
    else if (verifier.broken || verifier.left)
        return al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    else if (output.exit_code != 0)
        return al_git_failed(&output, err);
    return 0;
}

/* Append the tree ids in the output of `ls-tree -z`, "<mode> tree <oid> TAB <path>", one a line. */
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

int al_git_verify_tree(const struct al_repo *repo, const char *commit, struct al_run_limits *budget,
                       bool *ret_complete, struct al_error *err)
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
        *ret_complete = false;
    else if (r == 0 && output.exit_code != 0)
        r = al_git_failed(&output, err);
    if (r == 0) {
        al_str_addf(&words, "%s\n%s^{tree}\n", commit, commit);
        add_trees(&list, &words);
        r = al_git_verify_objects(repo, &words, budget, ret_complete, err);
    }
    al_buffer_clear(&list);
    return r;
}

int al_git_verify_commits(const struct al_repo *repo, const char *const *words,
                          struct al_run_limits *budget, bool *ret_complete, struct al_error *err)
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
        *ret_complete = false;
    else if (r == 0 && output.exit_code != 0)
        r = al_git_failed(&output, err);
    if (r == 0) {
        al_str_add(&list, ids.data, ids.len);
        r = al_git_verify_objects(repo, &list, budget, ret_complete, err);
    }
    al_buffer_clear(&ids);
    return r;
}
