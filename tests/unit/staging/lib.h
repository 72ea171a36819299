// SPDX-License-Identifier: Apache-2.0
/* A memory sandbox with a store, shared by the tests of src/staging. */
#ifndef TESTS_UNIT_STAGING_LIB_H
#define TESTS_UNIT_STAGING_LIB_H

#include <dirent.h>

#include "git/command.h"
#include "staging/base.h"
#include "staging/sandbox/sandbox.h"
#include "staging/stage.h"
#include "staging/staged.h"
#include "staging/staging.h"
#include "staging/store.h"
#include "tests/unit/git/lib.h"

struct stager {
    struct world *w;
    struct al_staging_options options;
    struct al_sandbox *sandbox;
    struct al_staging *staging;
    struct al_staged last; /* what was staged last */
};

#define BUDGET (&(struct al_run_limits){ .left_ms = LONG_MS, .exit_code = -1 })

static inline void must(struct stager *s, int r)
{
    if (r < 0)
        print_message("# %s\n", s->w->err.message);
    assert_int_equal(r, 0);
}

/* A new session: another sandbox in memory, the same store. */
static inline void open_session(struct stager *s)
{
    al_staging_free(s->staging);
    al_sandbox_free(s->sandbox);
    s->staging = NULL;
    s->sandbox = NULL;
    must(s, al_sandbox_new(
                &(struct al_sandbox_options){ .max_bytes = 1u << 24, .sha256 = s->options.sha256 },
                &s->sandbox, &s->w->err));
    s->options.sandbox = s->sandbox;
    must(s, al_staging_new(&s->options, BUDGET, &s->staging, &s->w->err));
}

static inline int stager_setup(void **state)
{
    struct stager *s = al_calloc(1, sizeof(*s));
    void *world = NULL;

    (void)world_setup(&world);
    s->w = world;
    s->options = (struct al_staging_options){
        .state_dir = s->w->state->path,
        .git = s->w->git,
        .roots = &s->w->roots,
        .max_bytes = 1u << 20,
    };
    open_session(s);
    *state = s;
    return 0;
}

static inline int stager_teardown(void **state)
{
    struct stager *s = *state;
    void *world = s->w;

    al_staged_clear(&s->last);
    al_staging_free(s->staging);
    al_sandbox_free(s->sandbox);
    free(s);
    return world_teardown(&world);
}

#define STAGER_TEST(name) cmocka_unit_test_setup_teardown(name, stager_setup, stager_teardown)

/* Write a file of the sandbox; NULL removes it. */
static inline void put(struct stager *s, const char *path, const char *text)
{
    must(s, text ? al_sandbox_write(s->sandbox, path, text, strlen(text), &s->w->err)
                 : al_sandbox_remove(s->sandbox, path, NULL, &s->w->err));
}

/* Stage words, separated by spaces.  On success s->last is the commit. */
static inline int try_stage(struct stager *s, const char *words, const char *message)
{
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    al_auto(al_freep) char *copy = al_strdup(words);
    char *save = NULL;

    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
        al_strv_add(&list, word);
    al_staged_clear(&s->last);
    al_error_clear(&s->w->err);
    return al_stage(s->staging, &list, message, BUDGET, &s->last, &s->w->err);
}

static inline void stage(struct stager *s, const char *words, const char *message)
{
    must(s, try_stage(s, words, message));
}

static inline void assert_not_staged(struct stager *s, const char *words, const char *message)
{
    assert_true(try_stage(s, words, "x") < 0);
    assert_string_equal(s->w->err.message, message);
}

/* "M a, + b, - c": what changed. */
static inline void assert_changes(struct stager *s, const char *wanted)
{
    al_auto(al_comparison_clear) struct al_comparison made = { .files = AL_SANDBOX_FILES_INIT };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    must(s, al_comparison_make(s->staging, BUDGET, &made, &s->w->err));
    for (size_t i = 0; i < made.changes.count; i++)
        al_str_addf(&text, "%s%c %s", i ? ", " : "",
                    al_staged_mark(made.changes.items[i].operation), made.changes.items[i].path);
    assert_string_equal(text.buf, wanted);
}

/* The same of the files of the commit that was staged last. */
static inline void assert_files(struct stager *s, const char *wanted)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < s->last.count; i++)
        al_str_addf(&text, "%s%c %s", i ? ", " : "", al_staged_mark(s->last.files[i].operation),
                    s->last.files[i].path);
    assert_string_equal(text.buf, wanted);
}

/* The messages of all staged commits, oldest first, separated by commas. */
static inline void assert_staged(struct stager *s, const char *wanted)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    must(s, al_staged_list(s->staging, BUDGET, &list, &s->w->err));
    for (size_t i = 0; i < list.count; i++)
        al_str_addf(&text, "%s%s", i ? "," : "", list.items[i].message);
    assert_string_equal(text.buf, wanted);
}

/* Put a file into the sandbox and the base, as a pull does. */
static inline void pull(struct stager *s, const char *path, unsigned mode, const char *text)
{
    al_auto(al_base_clear) struct al_base base = { .heads = NULL };
    al_auto(al_import_clear) struct al_import import = { .file = NULL };
    struct al_sandbox_file file = { .path = (char *)path, .mode = mode };

    must(s, al_staging_lock(s->staging, BUDGET, &s->w->err));
    must(s, al_import_begin(s->staging, &import, &s->w->err));
    al_import_put(&import, text, strlen(text));
    must(s, al_import_end(&import, BUDGET, NULL, &s->w->err));
    al_oid_of(s->options.sha256, AL_OBJECT_BLOB, text, strlen(text), &file.oid);
    must(s, al_base_load(s->staging, s->staging->key, BUDGET, &base, &s->w->err));
    al_base_change(&base, &(struct al_sandbox_files){ &file, 1 });
    must(s, al_base_save(s->staging, s->staging->key, &base, BUDGET, &s->w->err));
    must(s, al_sandbox_import(s->sandbox, &file, 1, &s->w->err));
    al_staging_unlock(s->staging);
}

/* The packs of the store, and the bytes of all files beside them. */
static inline size_t count_packs_of(struct stager *s, uint64_t *ret_bytes)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(s->staging->pack_fd);
    size_t packs = 0;

    *ret_bytes = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        packs += al_ends_with(entry->d_name, ".pack");
        *ret_bytes += al_file_id_at(s->staging->pack_fd, entry->d_name).size;
    }
    return packs;
}

/* The output of plain git in the store, with two words.  Caller frees. */
static inline char *store_git(struct stager *s, const char *first, const char *second)
{
    struct tmpdir bare = { .path = al_fs_join(s->staging->dir, "store.git") };
    char *output;

    bare.fd = open(bare.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(bare.fd >= 0);
    output = second ? git_output(&bare, first, second, NULL) : git_output(&bare, first, NULL);
    close(bare.fd);
    free(bare.path);
    return output;
}

static inline void assert_whole(struct stager *s)
{
    al_auto(al_freep) char *said = store_git(s, "fsck", "--no-dangling");

    assert_string_equal(said, "");
}

#endif
