// SPDX-License-Identifier: Apache-2.0
/* A sandbox to test, in memory or in a directory. */
#ifndef TESTS_UNIT_SANDBOX_SANDBOX_LIB_H
#define TESTS_UNIT_SANDBOX_SANDBOX_LIB_H

#include <stdlib.h>

#include "staging/sandbox/sandbox.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

#define BOX_BYTES 10000u

struct box {
    struct tmpdir *dir; /* "ws" in it is the workspace of a sandbox in a directory */
    struct al_sandbox *sandbox;
    bool in_directory;
};

static inline struct box *box_new(bool in_directory)
{
    struct box *box = al_calloc(1, sizeof(*box));
    al_auto(al_freep) char *path = NULL;
    struct al_error err = AL_ERROR_INIT;

    box->in_directory = in_directory;
    box->dir = tmpdir_new();
    path = tmpdir_path(box->dir, "ws");
    assert_int_equal(al_sandbox_new(
                         &(struct al_sandbox_options){
                             .in_directory = in_directory,
                             .path = path,
                             .max_bytes = BOX_BYTES,
                         },
                         &box->sandbox, &err),
                     0);
    return box;
}

static inline int setup_memory(void **state)
{
    *state = box_new(false);
    return 0;
}

static inline int setup_directory(void **state)
{
    *state = box_new(true);
    return 0;
}

static inline int box_teardown(void **state)
{
    struct box *box = *state;

    al_sandbox_free(box->sandbox);
    tmpdir_free(box->dir);
    free(box);
    return 0;
}

/* One test for each backend. */
#define IN_BOTH(test)                                                                              \
    { #test " in memory", test, setup_memory, box_teardown, NULL },                                \
    {                                                                                              \
#test " in a directory", test, setup_directory, box_teardown, NULL                         \
    }

static inline void box_write(struct box *box, const char *path, const char *text)
{
    struct al_error err = AL_ERROR_INIT;
    int r = al_sandbox_write(box->sandbox, path, text, strlen(text), &err);

    if (r < 0)
        print_error("%s: %s\n", path, err.message);
    assert_int_equal(r, 0);
}

/* The content of a file; NULL: it cannot be read.  Caller frees. */
static inline char *box_read(struct box *box, const char *path)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r = al_sandbox_read(box->sandbox, path, 0, BOX_BYTES, &text, NULL, &err);

    return r < 0 ? NULL : al_str_detach(&text);
}

static inline void assert_content(struct box *box, const char *path, const char *expected)
{
    al_auto(al_freep) char *text = box_read(box, path);

    assert_non_null(text);
    assert_string_equal(text, expected);
}

/* All paths, or those that a pattern matches, separated by spaces.  Caller frees. */
static inline char *box_list(struct box *box, const char *dir, const char *pattern)
{
    al_auto(al_strv_clear) struct al_strv globs = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_str text = AL_STR_INIT;

    if (pattern)
        al_strv_add(&globs, pattern);
    if (al_sandbox_list(box->sandbox, dir, &globs, &paths, &err) < 0)
        al_str_addf(&text, "error: %s", err.message);
    for (size_t i = 0; i < paths.count; i++)
        al_str_addf(&text, "%s%s", i ? " " : "", paths.items[i]);
    return al_str_detach(&text);
}

static inline void assert_list(struct box *box, const char *dir, const char *pattern,
                               const char *expected)
{
    al_auto(al_freep) char *text = box_list(box, dir, pattern);

    assert_string_equal(text, expected);
}

static inline void assert_failed(int r, struct al_error *err, int status, const char *words)
{
    assert_int_equal(r, status);
    if (!err->message || !strstr(err->message, words))
        fail_msg("'%s' is not in '%s'", words, err->message ? err->message : "(no message)");
    al_error_clear(err);
}

/* A write that fails, with these words. */
static inline void assert_write_fails(struct box *box, const char *path, const char *text,
                                      int status, const char *words)
{
    struct al_error err = AL_ERROR_INIT;
    int r = al_sandbox_write(box->sandbox, path, text, strlen(text), &err);

    assert_failed(r, &err, status, words);
}

static inline void assert_read_fails(struct box *box, const char *path, int status,
                                     const char *words)
{
    struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_sandbox_read(box->sandbox, path, 0, 10, &text, NULL, &err);

    assert_failed(r, &err, status, words);
    assert_int_equal(text.len, 0);
}

static inline void assert_remove_fails(struct box *box, const char *path, int status,
                                       const char *words)
{
    struct al_error err = AL_ERROR_INIT;
    int r = al_sandbox_remove(box->sandbox, path, NULL, &err);

    assert_failed(r, &err, status, words);
}

static inline void box_remove(struct box *box, const char *path)
{
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(al_sandbox_remove(box->sandbox, path, NULL, &err), 0);
}

/* A store whose objects have texts: the id of object N begins with the byte N. */
static inline struct al_oid stored_oid(unsigned number)
{
    return (struct al_oid){ .bytes = { (uint8_t)number } };
}

struct store {
    struct box *box; /* whose lock must not be held; NULL: it is not looked at */
    unsigned reads;
    bool fails;
};

static const char *const stored_texts[] = { "", "first", "second", "../outside" };

/* Give each object in two pieces. */
static inline int store_read(void *payload, const char *const *oids, size_t count,
                             al_blob_take *take, void *take_payload, struct al_error *err)
{
    struct store *store = payload;

    store->reads++;
    if (store->fails)
        return al_error_set(err, AL_ERR_EXECUTION, "the store fails");
    if (store->box)
        free(box_list(store->box, "", NULL));
    for (size_t i = 0; i < count; i++) {
        const char *text = stored_texts[oids[i][1] - '0'];
        size_t half = strlen(text) / 2;
        int r = half ? take(take_payload, i, text, half, false, err) : 0;

        if (r == 0)
            r = take(take_payload, i, text + half, strlen(text) - half, true, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static inline int import_from(struct al_sandbox *sandbox, const struct al_sandbox_file *files,
                              size_t count, const struct al_blob_source *source,
                              struct al_error *err)
{
    al_sandbox_set_source(sandbox, source);
    return al_sandbox_import(sandbox, files, count, err);
}

/* Import one file of the store. */
static inline int box_import(struct box *box, struct store *store, const char *path, unsigned mode,
                             unsigned number, struct al_error *err)
{
    const struct al_blob_source source = { store_read, store };
    al_auto(al_freep) char *owned = al_strdup(path);
    const struct al_sandbox_file file = { .path = owned, .mode = mode, .oid = stored_oid(number) };

    return import_from(box->sandbox, &file, 1, &source, err);
}

/* A snapshot as text: mode, path and size of each file. */
static inline char *box_snapshot(struct box *box)
{
    struct al_sandbox_files files;
    struct al_error err = AL_ERROR_INIT;
    struct al_str text = AL_STR_INIT;

    assert_int_equal(al_sandbox_snapshot(box->sandbox, &files, &err), 0);
    for (size_t i = 0; i < files.count; i++)
        al_str_addf(&text, "%s%o %s", i ? ", " : "", files.items[i].mode, files.items[i].path);
    al_sandbox_files_clear(&files);
    return al_str_detach(&text);
}

static inline void assert_snapshot(struct box *box, const char *expected)
{
    al_auto(al_freep) char *text = box_snapshot(box);

    assert_string_equal(text, expected);
}

/* The id of a file in a snapshot, as hex. */
static inline void snapshot_oid(struct box *box, const char *path, char ret_text[AL_OID_TEXT])
{
    struct al_sandbox_files files;
    struct al_error err = AL_ERROR_INIT;
    bool found = false;

    assert_int_equal(al_sandbox_snapshot(box->sandbox, &files, &err), 0);
    for (size_t i = 0; i < files.count; i++) {
        if (strcmp(files.items[i].path, path) != 0)
            continue;
        al_oid_text(&files.items[i].oid, false, ret_text);
        found = true;
    }
    assert_true(found);
    al_sandbox_files_clear(&files);
}

#endif
