// SPDX-License-Identifier: Apache-2.0
#include "staging/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "git/plumbing/snapshot.h"

#define PIECE_BYTES ((size_t)1024 * 1024)

/* Nobody sees this name: a push makes a commit of its own, with the identity that the user chose.
 */
#define IDENTITY "airlock <airlock@localhost>"

int al_import_begin(struct al_staging *staging, struct al_import *ret_import, struct al_error *err)
{
    static const char name[] = "tmp_import"; /* the store is locked: nobody else uses it */
    const int dir_fd = staging->bare.dir_fd;
    al_auto(al_closep) int fd =
        openat(dir_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    *ret_import = (struct al_import){ .staging = staging };
    if (fd < 0 || unlinkat(dir_fd, name, 0) < 0)
        return al_staging_unusable(staging, errno, err);
    ret_import->file = fdopen(fd, "w+");
    if (!ret_import->file)
        return al_staging_unusable(staging, errno, err);
    fd = -1; /* the stream's */
    return 0;
}

void al_import_clear(struct al_import *import)
{
    if (import->file)
        (void)fclose(import->file);
    import->file = NULL;
}

void al_import_put(struct al_import *import, const void *data, size_t len)
{
    (void)fprintf(import->file, "blob\ndata %zu\n", len);
    (void)fwrite(data, 1, len, import->file);
    (void)fputc('\n', import->file);
}

/* --- Files of the sandbox --- */

static int changed_meanwhile(const struct al_sandbox_file *change, struct al_error *err)
{
    return al_error_set(err, AL_ERR_AGAIN, "'/workspace/%s' changed while it was staged",
                        change->path);
}

int al_import_put_file(struct al_import *import, const struct al_sandbox_file *change,
                       struct al_deadline *deadline, struct al_error *err)
{
    struct al_sandbox *sandbox = import->staging->options.sandbox;
    const bool is_link = change->mode == AL_SANDBOX_MODE_LINK;
    al_auto(al_str_clear) struct al_str piece = AL_STR_INIT;
    struct al_hash hash;
    struct al_oid oid;
    int r = 0;

    if (is_link && !al_sandbox_dir(sandbox)) /* it was pulled, so the store has it */
        return 0;
    al_hash_init_object(&hash, import->staging->options.sha256, AL_OBJECT_BLOB, change->size);
    (void)fprintf(import->file, "blob\ndata %" PRIu64 "\n", change->size);
    for (uint64_t done = 0; done < change->size && r == 0; done += piece.len) {
        const uint64_t left = change->size - done;
        const size_t wanted = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;

        r = al_deadline_check(deadline, err);
        if (r == 0)
            r = is_link ? al_sandbox_read_link(sandbox, change->path, &piece, err)
                        : al_sandbox_read(sandbox, change->path, done, wanted, &piece, NULL, err);
        if (r == 0 && piece.len != wanted)
            r = changed_meanwhile(change, err);
        al_hash_add(&hash, piece.buf, piece.len);
        (void)fwrite(piece.buf, 1, piece.len, import->file);
    }
    (void)fputc('\n', import->file);
    al_hash_end(&hash, &oid);
    return r < 0 || al_oid_equal(&oid, &change->oid) ? r : changed_meanwhile(change, err);
}

/* --- The commit --- */

void al_import_commit(struct al_import *import, const char *ref, const char *message,
                      int64_t time_s)
{
    import->ref = ref;
    (void)fprintf(import->file,
                  "commit %s\nmark :1\ncommitter " IDENTITY " %" PRId64 " +0000\ndata %zu\n%s\n",
                  ref, time_s, strlen(message), message);
}

void al_import_set(struct al_import *import, const char *path, unsigned mode,
                   const struct al_oid *oid)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    char text[AL_OID_TEXT];

    al_oid_text(oid, import->staging->options.sha256, text);
    if (mode)
        al_str_addf(&line, "M %o %s ", mode, text);
    else
        al_str_adds(&line, "D ");
    al_import_quote(&line, "", path);
    (void)fprintf(import->file, "%s\n", line.buf);
}

void al_import_set_all(struct al_import *import, const struct al_base *base)
{
    for (size_t i = 0; i < base->files.count; i++) {
        const struct al_sandbox_file *file = &base->files.items[i];

        al_import_set(import, file->path, file->mode, &file->oid);
    }
}

/* git synchronises what it writes, but no name. */
static int sync_names(const struct al_import *import, struct al_error *err)
{
    const char *ref = import->ref ? import->ref : "refs/";
    al_auto(al_freep) char *dir = al_strndup(ref, (size_t)(strrchr(ref, '/') - ref));
    const char *const dirs[] = { "objects/pack", "refs", dir };
    int r = 0;

    for (size_t i = 0; i < AL_COUNT(dirs) && r == 0; i++)
        r = al_staging_sync(import->staging, dirs[i], err);
    return r;
}

int al_import_end(struct al_import *import, struct al_run_limits *budget, struct al_oid *ret_commit,
                  struct al_error *err)
{
    const struct al_staging *staging = import->staging;
    const struct al_location bare = al_staging_bare(staging, budget);
    al_auto(al_str_clear) struct al_str output = AL_STR_INIT;
    al_auto(al_freep) char *lock = al_asprintf("%s.lock", import->ref ? import->ref : "");
    struct al_oid oid;
    int r;

    if (import->ref) /* of a git that was killed: no other one is at work */
        (void)unlinkat(staging->bare.dir_fd, lock, 0);
    (void)fprintf(import->file, "%sdone\n", import->ref ? "get-mark :1\n" : "");
    if (fflush(import->file) != 0 || ferror(import->file) ||
        lseek(fileno(import->file), 0, SEEK_SET) < 0)
        return al_staging_unusable(staging, errno, err);
    r = al_bare_import(&bare, fileno(import->file), &output, err);
    if (r == 0 && import->ref && !al_oid_parse(output.buf, staging->options.sha256, &oid))
        r = al_error_set(err, AL_ERR_EXECUTION, "git answered in an unknown form");
    if (r == 0)
        r = sync_names(import, err);
    if (r == 0 && ret_commit)
        *ret_commit = oid;
    return r;
}
