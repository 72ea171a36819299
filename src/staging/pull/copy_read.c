// SPDX-License-Identifier: Apache-2.0
/*
 * Blobs are packed, and written into the sandbox, while they arrive, so memory does not depend on
 * their size.
 *
 * Source: git-cat-file(1) "BATCH OUTPUT"; git-lfs-spec, "The Pointer".
 */
#include "staging/pull/copy_read.h"

#include <stdlib.h>

#include "gitops/failure.h"
#include "gitops/plumbing/revision.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "staging/pull/copy.h"

#define HEADER_MAX_BYTES 256u
#define BEGINNING_BYTES  128u /* kept of each object: more than both texts that are looked for */

static const char *const types[] = {
    [AL_OBJECT_COMMIT] = "commit", [AL_OBJECT_TREE] = "tree", [AL_OBJECT_BLOB] = "blob"
};

void al_pull_copying_clear(struct al_pull_copying *copying)
{
    al_pack_free(copying->pack);
    al_str_clear(&copying->line);
    al_str_clear(&copying->beginning);
    free(copying->created.items);
    free(copying->wanted);
}

static bool fail(struct al_pull_copying *copying, int status)
{
    copying->status = status;
    return false;
}

static bool fail_on_object(struct al_pull_copying *copying, const char *what, const char *remedy)
{
    const struct al_pull_wanted *wanted = &copying->wanted[copying->which];

    (void)al_error_set(copying->err, AL_ERR_EXECUTION, "The %s %s %s, so nothing was pulled",
                       types[wanted->type], *wanted->oid ? wanted->oid : copying->tree, what);
    if (copying->err)
        copying->err->remedy = remedy;
    return fail(copying, AL_ERR_EXECUTION);
}

static bool is_forged(struct al_pull_copying *copying)
{
    return fail_on_object(copying, "of the repository has other content than its id says",
                          "The user can look with git fsck.");
}

static bool is_missing(struct al_pull_copying *copying)
{
    return fail_on_object(
        copying, "is not in the repository",
        "A partial clone has not downloaded it, or the repository is damaged. The "
        "user can look with git fsck.");
}

/* "<oid> SP <type> SP <size>" */
static bool begin_object(struct al_pull_copying *copying)
{
    const struct al_pull_wanted *wanted = &copying->wanted[copying->which];
    const char *line = copying->line.buf, *type = strchr(line, ' ');
    const char *size = strrchr(line, ' ');
    size_t len = strlen(types[wanted->type]);
    char *end = NULL;

    if (al_ends_with(line, " missing") || !type || size == type)
        return is_missing(copying);
    if (strncmp(type + 1, types[wanted->type], len) != 0 || type[1 + len] != ' ' ||
        (*wanted->oid && !al_starts_with(line, wanted->oid)))
        return is_forged(copying);
    copying->size = strtoull(size + 1, &end, 10);
    if (end == size + 1 || *end || copying->size > UINT64_MAX / 2)
        return is_forged(copying);
    copying->left = copying->size + 1;
    al_str_reset(&copying->beginning);
    if (wanted->packs || wanted->file != AL_PULL_NO_FILE)
        copying->bytes += copying->size;
    if (copying->max_bytes && copying->bytes > copying->max_bytes)
        return fail(copying, al_pull_too_large(copying->bytes, copying->max_bytes, copying->err));
    if (!wanted->packs) {
        al_hash_init_object(&copying->hash, copying->sha256, wanted->type, copying->size);
        return true;
    }
    return al_pack_begin(copying->pack, wanted->type, copying->size, copying->err) == 0 ||
           fail(copying, AL_ERR_EXECUTION);
}

/* The commit says which tree it has; git may have read another one. */
static void read_commit(struct al_pull_copying *copying)
{
    static const char mark[] = "tree ";
    struct al_oid oid;

    if (al_starts_with(copying->beginning.buf, mark) &&
        al_oid_parse(copying->beginning.buf + strlen(mark), copying->sha256, &oid))
        al_oid_text(&oid, copying->sha256, copying->tree);
}

/* Write a part of the object into the sandbox, if it is a file that is created. */
static int write_file(struct al_pull_copying *copying, const char *data, size_t len, bool last)
{
    const struct al_pull_created *created = &copying->created;
    size_t file = copying->wanted[copying->which].file;

    return file == AL_PULL_NO_FILE
               ? 0
               : created->take(created->payload, file, data, len, last, copying->err);
}

static bool end_object(struct al_pull_copying *copying)
{
    const struct al_pull_wanted *wanted = &copying->wanted[copying->which];
    const char *expected = *wanted->oid ? wanted->oid : copying->tree;
    char text[AL_OID_TEXT];
    struct al_oid oid;
    int r;

    if (!wanted->packs)
        al_hash_end(&copying->hash, &oid);
    else if (al_pack_end(copying->pack, &oid, copying->err) < 0)
        return fail(copying, AL_ERR_EXECUTION);
    al_oid_text(&oid, copying->sha256, text);
    if (strcmp(text, expected) != 0)
        return is_forged(copying);
    r = write_file(copying, "", 0, true);
    if (r < 0)
        return fail(copying, r);
    if (wanted->type == AL_OBJECT_COMMIT)
        read_commit(copying);
    if (wanted->is_lfs)
        *wanted->is_lfs =
            copying->size < AL_LFS_MAX_BYTES && al_starts_with(copying->beginning.buf, AL_LFS_MARK);
    copying->which++;
    return true;
}

/* Use bytes of an object, or the newline behind it.  Returns how many; 0: failed. */
static size_t take_content(struct al_pull_copying *copying, const char *data, size_t len)
{
    uint64_t content = copying->left - 1;
    size_t piece = len < content ? len : (size_t)content;
    size_t room = BEGINNING_BYTES - copying->beginning.len;
    int r = 0;

    if (!content) {
        copying->left = 0;
        return end_object(copying) ? 1 : 0;
    }
    al_str_add(&copying->beginning, data, piece < room ? piece : room);
    if (copying->wanted[copying->which].packs)
        r = al_pack_add(copying->pack, data, piece, copying->err);
    else
        al_hash_add(&copying->hash, data, piece);
    if (r == 0)
        r = write_file(copying, data, piece, false);
    if (r < 0)
        copying->status = r;
    copying->left -= piece;
    return r < 0 ? 0 : piece;
}

static size_t take_line(struct al_pull_copying *copying, const char *data, size_t len)
{
    const char *eol = memchr(data, '\n', len);
    size_t piece = eol ? (size_t)(eol - data) : len;

    if (copying->which == copying->nwanted)
        return 0;
    al_str_add(&copying->line, data, piece);
    if (copying->line.len > HEADER_MAX_BYTES)
        return is_missing(copying);
    if (!eol)
        return piece;
    if (!begin_object(copying))
        return 0;
    al_str_reset(&copying->line);
    return piece + 1;
}

static bool add_output(void *payload, const char *data, size_t len)
{
    struct al_pull_copying *copying = payload;

    while (len) {
        size_t taken =
            copying->left ? take_content(copying, data, len) : take_line(copying, data, len);

        if (!taken)
            return false;
        data += taken;
        len -= taken;
    }
    return true;
}

int al_pull_read_objects(const struct al_repo *repo, const struct al_str *words,
                         struct al_pull_copying *copying, struct al_run_limits *budget,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command.input = words->buf;
    command.input_len = words->len;
    command.buffered = true;
    command.bulk = true;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "cat-file", "--batch", "--buffer",
                 NULL);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = { add_output, copying } },
                   budget, &output, err);
    if (copying->status < 0)
        return copying->status;
    if (r == 0 && !al_git_read_well(&output))
        return al_git_failed(&output, err);
    if (r == 0 && copying->which != copying->nwanted)
        return al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    return r;
}
