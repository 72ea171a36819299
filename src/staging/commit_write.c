// SPDX-License-Identifier: Apache-2.0
#include "staging/commit_write.h"

#include <inttypes.h>
#include <time.h>

#define PIECE_BYTES ((size_t)1024 * 1024)

/* Nobody sees this name: a push makes a commit of its own, with the identity that the user chose.
 */
#define IDENTITY "airlock <airlock@localhost>"

static int changed_meanwhile(const struct al_sandbox_change *change, struct al_error *err)
{
    return al_error_set(err, AL_ERR_AGAIN, "'/workspace/%s' changed while it was staged",
                        change->path);
}

/* Test whether a piece, which is not empty, has CRLF or completes one.  `*cr` is whether the piece
 * before ended with CR, and then whether this one does. */
static bool has_crlf(const struct al_str *piece, bool *cr)
{
    const char *end = piece->buf + piece->len, *at = memchr(piece->buf, '\r', piece->len);
    bool found = *cr && *piece->buf == '\n';

    for (; at && at + 1 < end && !found; at = memchr(at + 1, '\r', (size_t)(end - at - 1)))
        found = at[1] == '\n';
    *cr = end[-1] == '\r';
    return found;
}

static int add_content(struct al_objects *objects, struct al_sandbox *sandbox,
                       const struct al_sandbox_change *change, struct al_deadline *deadline,
                       bool *ret_has_no_crlf, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str piece = AL_STR_INIT;
    uint64_t done = 0;
    bool cr = false, crlf = false;
    int r = 0;

    while (done < change->size && r == 0) {
        size_t wanted =
            change->size - done < PIECE_BYTES ? (size_t)(change->size - done) : PIECE_BYTES;

        r = al_deadline_check(deadline, err);
        if (r == 0)
            r = al_sandbox_read(sandbox, change->path, done, wanted, &piece, NULL, err);
        if (r == 0 && piece.len != wanted)
            r = changed_meanwhile(change, err);
        if (r == 0)
            r = al_pack_add(objects->pack, piece.buf, piece.len, err);
        crlf |= piece.len && has_crlf(&piece, &cr);
        done += piece.len;
    }
    *ret_has_no_crlf = r == 0 && !crlf;
    return r;
}

static int put_link(struct al_objects *objects, struct al_sandbox *sandbox,
                    const struct al_sandbox_change *change, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str target = AL_STR_INIT;
    struct al_oid oid;
    int r = al_sandbox_read_link(sandbox, change->path, &target, err);

    if (r == 0)
        r = al_objects_put(objects, AL_OBJECT_BLOB, target.buf, target.len, &oid, err);
    return r == 0 && !al_oid_equal(&oid, &change->oid) ? changed_meanwhile(change, err) : r;
}

int al_staging_put_blob(struct al_objects *objects, struct al_sandbox *sandbox,
                        const struct al_sandbox_change *change, struct al_deadline *deadline,
                        bool *ret_has_no_crlf, struct al_error *err)
{
    struct al_oid oid;
    int r;

    if (al_objects_has(objects, &change->oid))
        return 0;
    if (change->mode == AL_SANDBOX_MODE_LINK)
        return put_link(objects, sandbox, change, err);
    r = al_pack_begin(objects->pack, AL_OBJECT_BLOB, change->size, err);
    if (r < 0)
        return r;
    r = add_content(objects, sandbox, change, deadline, ret_has_no_crlf, err);
    if (r == 0)
        r = al_pack_end(objects->pack, &oid, err);
    if (r == 0 && !al_oid_equal(&oid, &change->oid))
        r = changed_meanwhile(change, err);
    if (r < 0)
        (void)al_pack_undo(objects->pack, NULL);
    else
        al_objects_know(objects, &oid);
    return r;
}

int al_staging_put_commit(struct al_objects *objects, struct al_base *base,
                          const struct al_oid *parent, const char *message,
                          struct al_oid *ret_commit, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int64_t now_s = message ? (int64_t)time(NULL) : 0;
    char hex[AL_OID_TEXT];
    struct al_oid tree;
    int r = al_base_put_tree(base, objects, &tree, err);

    if (r < 0)
        return r;
    al_oid_text(&tree, objects->sha256, hex);
    al_str_addf(&text, "tree %s\n", hex);
    if (parent) {
        al_oid_text(parent, objects->sha256, hex);
        al_str_addf(&text, "parent %s\n", hex);
    }
    al_str_addf(&text, "author " IDENTITY " %" PRId64 " +0000\n", now_s);
    al_str_addf(&text, "committer " IDENTITY " %" PRId64 " +0000\n\n", now_s);
    al_str_addf(&text, "%s\n", message ? message : "base");
    return al_objects_put(objects, AL_OBJECT_COMMIT, text.buf, text.len, ret_commit, err);
}
