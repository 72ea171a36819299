// SPDX-License-Identifier: Apache-2.0
/* A scratch repository with a store, shared by the tests of src/checkpoint. */
#ifndef TESTS_UNIT_HISTORY_CHECKPOINT_LIB_H
#define TESTS_UNIT_HISTORY_CHECKPOINT_LIB_H

#include <poll.h>
#include <time.h>

#include "git/command.h"
#include "git/repo/repo.h"
#include "history/checkpoint.h"
#include "history/store.h"
#include "tests/unit/git/lib.h"

struct saver {
    struct world *w;
    struct al_strv include_ignored;
    struct al_checkpoint_settings settings;
    struct al_repo *repo;
    struct al_store *store;
    char id[AL_OID_TEXT]; /* of the last checkpoint */
};

/* Open the repository and its store again, as the next call does. */
static inline void saver_reopen(struct saver *s, const char *given)
{
    int r;

    al_store_close(s->store);
    al_repo_free(s->repo);
    s->store = NULL;
    s->repo = must_open(s->w, given);
    r = al_store_open(&s->settings, s->repo, true, &s->store, &s->w->err);
    if (r < 0)
        print_message("# %s\n", s->w->err.message);
    assert_int_equal(r, 0);
}

static inline int saver_setup(void **state)
{
    struct saver *s = al_calloc(1, sizeof(*s));
    void *world = NULL;

    (void)world_setup(&world);
    s->w = world;
    s->settings = (struct al_checkpoint_settings){
        .state_dir = s->w->state->path,
        .max_store_bytes = 1u << 30,
        .max_age_days = 30,
        .max_file_bytes = 1u << 20,
        .include_ignored = &s->include_ignored,
    };
    saver_reopen(s, "repo");
    *state = s;
    return 0;
}

static inline int saver_teardown(void **state)
{
    struct saver *s = *state;
    void *world = s->w;

    al_store_close(s->store);
    al_repo_free(s->repo);
    al_strv_clear(&s->include_ignored);
    free(s);
    return world_teardown(&world);
}

#define SAVER_TEST(name) cmocka_unit_test_setup_teardown(name, saver_setup, saver_teardown)

/* Take a checkpoint.  On success s->id is its id. */
static inline int try_take(struct saver *s, const char *before, const struct al_strv *dropping)
{
    struct al_checkpoint_reason reason = {
        .tool = "git_test", .operation = "test", .before = before, .dropping = dropping
    };

    int r;

    al_error_clear(&s->w->err);
    r = al_checkpoint_create(s->store, &reason, s->id, &s->w->err);
    al_beside_clear(&s->store->import); /* while it runs, its packs are kept */
    return r;
}

static inline void take(struct saver *s, const char *before)
{
    int r = try_take(s, before, NULL);

    if (r < 0)
        print_message("# %s\n", s->w->err.message);
    assert_int_equal(r, 0);
}

/* Take a checkpoint without some parts (enum al_checkpoint_parts). */
static inline void take_without(struct saver *s, const char *before, unsigned without)
{
    struct al_checkpoint_reason reason = {
        .tool = "git_test", .operation = "test", .before = before, .without = without
    };
    int r;

    al_error_clear(&s->w->err);
    r = al_checkpoint_create(s->store, &reason, s->id, &s->w->err);
    if (r < 0)
        print_message("# %s\n", s->w->err.message);
    assert_int_equal(r, 0);
}

/* git compares the times at which files were changed in seconds: a change that nothing but this
 * time tells must be in another second. */
static inline void wait_for_a_second(void)
{
    const time_t now = time(NULL);

    while (time(NULL) <= now)
        (void)poll(NULL, 0, 20);
}

/* Open the store as a directory for plain git.  Release with subdir_close(). */
static inline struct tmpdir *store_open_bare(struct saver *s)
{
    struct tmpdir *bare = al_calloc(1, sizeof(*bare));

    bare->path = al_fs_join(s->store->dir, "checkpoints.git");
    bare->fd = open(bare->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(bare->fd >= 0);
    return bare;
}

/* The output of plain git in the store: store_git(s, "fsck", …).  Files that are as the
 * repository's HEAD had them when the store began are in the repository alone, whose objects it can
 * read.  Caller frees. */
#define store_git(s, ...)                                                                          \
    store_answer(s, true, (const char *const[]){ __VA_ARGS__, NULL, NULL, NULL, NULL, NULL, NULL })

/* The same with the objects of the store alone. */
#define store_git_alone(s, ...)                                                                    \
    store_answer(s, false, (const char *const[]){ __VA_ARGS__, NULL, NULL, NULL, NULL, NULL, NULL })

static inline char *store_answer(struct saver *s, bool borrows, const char *const *words)
{
    al_auto(subdir_closep) struct tmpdir *bare = store_open_bare(s);
    al_auto(al_freep) char *objects = al_fs_join(s->repo->at.common_dir, "objects");
    char *said;

    if (borrows)
        assert_int_equal(setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects, 1), 0);
    said = git_output(bare, words[0], words[1], words[2], words[3], words[4], words[5], NULL);
    assert_int_equal(unsetenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"), 0);
    return said;
}

/* Read a checkpoint. */
static inline const struct al_saved *load(struct saver *s, const char *id)
{
    const struct al_saved *saved;

    assert_int_equal(al_checkpoint_load_files(s->store, id, false, &saved, &s->w->err), 0);
    assert_int_equal(al_checkpoint_load_index(s->store, id, false, &saved, &s->w->err), 0);
    return saved;
}

/* How many things of a part a checkpoint has. */
static inline size_t count_of(const struct al_saved *saved, enum al_part part)
{
    size_t count = 0;

    for (size_t i = 0; i < saved->values.count; i++)
        count += saved->values.items[i].part == part;
    return count;
}

static inline const char *value_of(const struct al_saved *saved, enum al_part part,
                                   const char *name)
{
    const struct al_difference *found = al_change_find(&saved->values, part, name);

    return found ? found->to : NULL;
}

/* "<octal mode> <path>\n" for every file of the last checkpoint's working tree. */
static inline char *files_of(struct saver *s)
{
    const struct al_saved *saved = load(s, s->id);
    struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < count_of(saved, AL_PART_WORKTREE); i++)
        al_str_addf(&text, "%o %s\n", saved->values.items[i].to_mode, saved->values.items[i].name);
    return al_str_detach(&text);
}

/* Assert the content of a blob in the last checkpoint's tree. */
static inline void assert_content(struct saver *s, const char *path, const char *expected)
{
    al_auto(al_freep) char *name = al_asprintf("%s:%s", s->id, path);
    al_auto(al_freep) char *content = store_git(s, "cat-file", "blob", name);

    assert_string_equal(content, expected);
}

#endif
