// SPDX-License-Identifier: Apache-2.0
/* Imports from a store that can do something, or fail, between two pieces of a file. */
#ifndef AL_TESTS_UNIT_SANDBOX_IMPORT_LIB_H
#define AL_TESTS_UNIT_SANDBOX_IMPORT_LIB_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/unit/staging/sandbox/sandbox_lib.h"

#define FILES_MAX 200

/* A store whose objects all have the text "content".  Something happens before its last piece. */
struct scene {
    struct box *box;
    const char *paths[FILES_MAX];
    size_t count;
    unsigned mode;
    bool is_new;
    size_t at; /* the file at which it happens */
    void (*happens)(struct scene *);
    bool fails;    /* the store, at that point */
    size_t length; /* of the objects; 0: as the text */
};

static inline int give(void *payload, const char *const *oids, size_t count, al_blob_take *take,
                       void *take_payload, struct al_error *err)
{
    struct scene *scene = payload;
    al_auto(al_freep) char *text = scene->length ? al_malloc(scene->length + 1) : NULL;
    size_t length = scene->length ? scene->length : 7;
    int r = 0;

    (void)oids;
    if (text)
        memset(text, 'x', length);
    for (size_t i = 0; i < count && r == 0; i++) {
        r = take(take_payload, i, text ? text : "content", length - 3, false, err);
        if (r == 0 && i == scene->at && scene->happens)
            scene->happens(scene);
        if (r == 0 && i == scene->at && scene->fails)
            return al_error_set(err, AL_ERR_EXECUTION, "the store fails");
        if (r == 0)
            r = take(take_payload, i, text ? text : "ent", 3, false, err);
        if (r == 0)
            r = take(take_payload, i, "", 0, true, err);
    }
    return r;
}

static inline int import(struct scene *scene, struct al_error *err)
{
    const struct al_blob_source source = { give, scene };
    static const struct al_sandbox_version none = { .mode = 0 };
    struct al_sandbox_file files[FILES_MAX];

    for (size_t i = 0; i < scene->count; i++)
        files[i] =
            (struct al_sandbox_file){ .path = (char *)(uintptr_t)scene->paths[i],
                                      .mode = scene->mode ? scene->mode : AL_SANDBOX_MODE_FILE,
                                      .over = scene->is_new ? &none : NULL };
    return import_from(scene->box->sandbox, files, scene->count, &source, err);
}

static inline void assert_imports(struct scene *scene)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r = import(scene, &err);

    if (r < 0)
        fail_msg("%s", err.message);
}

static inline void assert_refuses(struct scene *scene, int status, const char *words)
{
    struct al_error err = AL_ERROR_INIT;

    assert_failed(import(scene, &err), &err, status, words);
}

static inline bool is_there(const struct box *box, const char *name)
{
    struct stat st;

    return fstatat(box->dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup_directory, box_teardown)

#endif
