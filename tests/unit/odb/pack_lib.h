// SPDX-License-Identifier: Apache-2.0
/* A bare repository whose objects/pack gets a pack, and what git says of it. */
#ifndef AL_TESTS_UNIT_ODB_PACK_LIB_H
#define AL_TESTS_UNIT_ODB_PACK_LIB_H

#include <dirent.h>
#include <sys/stat.h>

#include "odb/pack_write.h"
#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"
#include "tests/unit/gitops/lib.h"

struct pack_world {
    struct tmpdir *home, *repo, *packs;
    struct al_pack *pack;
    bool sha256;
    struct al_error err;
};

static inline int setup_format(void **state, bool sha256)
{
    struct pack_world *w = al_calloc(1, sizeof(*w));

    w->home = tmpdir_new();
    w->repo = tmpdir_new();
    w->sha256 = sha256;
    git_fixture_environment(w->home);
    git_ok(w->repo, "init", "-q", "--bare", sha256 ? "--object-format=sha256" : NULL, NULL);
    w->packs = subdir_open(w->repo, "objects/pack");
    w->pack = al_pack_new(w->packs->fd, sha256, true);
    *state = w;
    return 0;
}

static inline int setup(void **state)
{
    return setup_format(state, false);
}

static inline int setup_sha256(void **state)
{
    return setup_format(state, true);
}

static inline int teardown(void **state)
{
    struct pack_world *w = *state;

    al_pack_free(w->pack);
    al_error_clear(&w->err);
    subdir_close(w->packs);
    tmpdir_free(w->repo);
    tmpdir_free(w->home);
    free(w);
    return 0;
}

#define PACK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Bytes that do not compress, the same ones for the same seed.  Caller frees. */
static inline char *noise(size_t len, uint32_t seed)
{
    char *bytes = al_malloc(len + 1);

    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (char)(seed >> 24);
    }
    bytes[len] = '\0';
    return bytes;
}

/* A blob in pieces of at most 100000 bytes. */
static inline void put(struct pack_world *w, const char *bytes, size_t len, struct al_oid *ret_oid)
{
    assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_BLOB, len, &w->err), 0);
    for (size_t at = 0, piece; at < len; at += piece) {
        piece = len - at < 100000 ? len - at : 100000;
        assert_int_equal(al_pack_add(w->pack, bytes + at, piece, &w->err), 0);
    }
    assert_int_equal(al_pack_end(w->pack, ret_oid, &w->err), 0);
}

static inline void put_text(struct pack_world *w, const char *text, struct al_oid *ret_oid)
{
    put(w, text, strlen(text), ret_oid);
}

static inline bool git_has(const struct pack_world *w, const struct al_oid *oid)
{
    char id[AL_OID_TEXT];

    al_oid_text(oid, w->sha256, id);
    return git_status_of(w->repo, "cat-file", "-e", id, NULL) == 0;
}

static inline void assert_text(const struct pack_world *w, const struct al_oid *oid,
                               const char *expected)
{
    al_auto(al_freep) char *text = NULL;
    char id[AL_OID_TEXT];

    al_oid_text(oid, w->sha256, id);
    text = git_output(w->repo, "cat-file", "blob", id, NULL);
    assert_string_equal(text, expected);
}

/* How many files the directory of packs has, whose names begin with `prefix`, and their bytes. */
static inline size_t count_files(const struct pack_world *w, const char *prefix, const char *suffix,
                                 uint64_t *ret_bytes)
{
    DIR *dir = opendir(w->packs->path);
    struct dirent *entry;
    size_t count = 0;
    struct stat st;

    assert_non_null(dir);
    *ret_bytes = 0;
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || !al_starts_with(entry->d_name, prefix) ||
            !al_ends_with(entry->d_name, suffix))
            continue;
        assert_int_equal(fstatat(w->packs->fd, entry->d_name, &st, 0), 0);
        *ret_bytes += (uint64_t)st.st_size;
        count++;
    }
    closedir(dir);
    return count;
}

static inline void assert_sound(const struct pack_world *w, size_t packs)
{
    al_auto(al_freep) char *said =
        git_output(w->repo, "fsck", "--full", "--strict", "--no-dangling", "--no-progress", NULL);
    uint64_t bytes;

    assert_string_equal(said, "");
    assert_int_equal(count_files(w, "pack-", ".pack", &bytes), packs);
    assert_int_equal(count_files(w, "pack-", ".idx", &bytes), packs);
    assert_int_equal(count_files(w, "tmp_", "", &bytes), 0);
}

static inline void finish(struct pack_world *w)
{
    assert_int_equal(al_pack_finish(w->pack, &w->err), 0);
}

#endif
