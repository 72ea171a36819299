// SPDX-License-Identifier: Apache-2.0
/* Restoring objects that the repository has lost, from the store. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/oid.h"
#include "gitops/plumbing/bare.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "history/rollback_restore.h"
#include "history/store.h"

/** At most this many ids in the files of unfinished operations are looked for. */
#define STATE_OIDS_MAX 100000u

static bool is_oid(const struct al_restore *restore, const char *text)
{
    struct al_oid oid;

    return al_oid_parse(text, restore->store->sha256, &oid) && !al_oid_is_none(&oid);
}

/* Add the commits that HEAD and the references of a state are at. */
static void add_tips(const struct al_restore *restore, const struct al_saved_state *state,
                     struct al_strv *tips)
{
    if (is_oid(restore, state->head))
        al_strv_add(tips, state->head);
    for (size_t i = 0; i < state->nrefs; i++)
        if (is_oid(restore, state->refs[i].value))
            al_strv_add(tips, state->refs[i].value);
}

/* Finds the words that look like ids in an operation's files and in the stash's reflog. */
struct words {
    const struct al_restore *restore;
    struct al_str word;
    struct al_strv *tips;
};

static int add_words(void *payload, size_t which, const char *data, size_t len, bool last,
                     struct al_error *err)
{
    const size_t width = 2 * al_oid_bytes(((struct words *)payload)->restore->store->sha256);
    struct words *words = payload;

    (void)which;
    (void)err;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && isxdigit((unsigned char)data[i])) {
            if (words->word.len <= width)
                al_str_addc(&words->word, data[i]);
            continue;
        }
        if (i == len && !last)
            break;
        if (words->word.len == width && words->tips->count < STATE_OIDS_MAX &&
            is_oid(words->restore, words->word.buf))
            al_strv_add(words->tips, words->word.buf);
        al_str_reset(&words->word);
    }
    return 0;
}

static int add_state(const struct al_restore *restore, struct al_strv *tips, struct al_error *err)
{
    const struct al_saved_files *files = &restore->to->files;
    al_auto(al_freep) const char **oids = al_calloc(files->count + 1, sizeof(*oids));
    struct words words = { .restore = restore, .word = AL_STR_INIT, .tips = tips };
    size_t count = 0;
    int r;

    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i].path, "config") != 0 && S_ISREG(files->items[i].mode))
            oids[count++] = files->items[i].oid;
    r = al_checkpoint_read(restore->store, oids, count, add_words, &words, restore->budget, err);
    al_str_clear(&words.word);
    return r;
}

/* Add a line for each object that the store has or borrows, with `before` in front. */
static int add_existing(const struct al_restore *restore, const struct al_strv *oids,
                        const char *before, struct al_str *lines, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str found = AL_STR_INIT;
    const char *at, *end;
    int r = al_bare_existing(&restore->store->bare, oids, false, &found, restore->budget, err);

    for (at = found.buf; r == 0 && (end = strchr(at, '\n')); at = end + 1)
        al_str_addf(lines, "%s%.*s\n", before, (int)(end - at), at);
    return r;
}

/* Copy a pack of the store to the repository. */
static int send_pack(const struct al_restore *restore, const char *hash, struct al_error *err)
{
    al_auto(al_freep) char *name = al_asprintf("pack-%s.pack", hash);
    al_auto(al_closep) int fd = openat(restore->store->pack_fd, name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *bytes;
    int r;

    if (fd < 0 || fstat(fd, &st) < 0)
        return al_error_errno(err, errno, "cannot read '%s'", name);
    bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return al_error_errno(err, errno, "cannot read '%s'", name);
    r = al_git_store_pack(restore->repo, bytes, (size_t)st.st_size, restore->budget, err);
    (void)munmap(bytes, (size_t)st.st_size);
    return r;
}

/* Pack what the tips reach and the present references do not, and send it. */
static int bring_back(const struct al_restore *restore, const struct al_strv *tips,
                      struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv present = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    al_auto(al_freep) char *hash = NULL;
    int r;

    add_tips(restore, restore->from, &present);
    r = add_existing(restore, tips, "", &lines, err);
    if (r == 0 && !lines.len)
        return 0; /* neither store nor repository has them */
    if (r == 0)
        r = add_existing(restore, &present, "^", &lines, err);
    if (r == 0)
        r = al_bare_pack(&restore->store->bare, &lines, true, restore->budget, &hash, err);
    return r < 0 || !*hash ? r : send_pack(restore, hash, err);
}

/* Restore the objects that are missing, and with `reach` what they reach. */
static int complete(const struct al_restore *restore, const struct al_strv *oids, bool reach,
                    struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    bool connected = true;
    int r;

    if (!oids->count)
        return 0;
    r = al_git_missing_objects(restore->repo, oids, restore->budget, &missing, err);

    if (r == 0 && reach && !missing.count)
        r = al_git_is_connected(restore->repo, oids, restore->budget, &connected, err);
    if (r < 0 || (!missing.count && connected))
        return r;
    return bring_back(restore, reach ? oids : &missing, err);
}

int al_restore_objects(const struct al_restore *restore, const char *index_path,
                       struct al_error *err)
{
    al_auto(al_error_clear) struct al_error ignored = AL_ERROR_INIT;
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv others = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT;
    int r;

    add_tips(restore, restore->to, &tips);
    r = complete(restore, &tips, true, err);
    if (r == 0)
        r = add_state(restore, &others, err);
    /* Not every word that looks like an id is one, and not every object still existed then. */
    if (r == 0)
        (void)complete(restore, &others, true, &ignored);
    if (r == 0 && index_path)
        r = al_git_index_objects(restore->repo, index_path, restore->budget, &entries, err);
    if (r == 0)
        r = complete(restore, &entries, false, err);
    return r;
}
