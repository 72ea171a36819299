// SPDX-License-Identifier: Apache-2.0
/* gitops/index/unused_indexes.h: the limits hold, and what is in use stays. */
#include "gitops/index/unused_indexes.h"

#include <time.h>

#include "gitops/index/index_store.h"
#include "tests/unit/gitops/lib.h"

/* A store of `top` that was used `age_s` ago. */
static void make(struct world *w, const char *name, const char *top, int64_t age_s, off_t bytes)
{
    struct al_index_record record = { .entries = 1 };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *dir = al_asprintf("indexes/%s", name);
    al_auto(al_freep) char *of_record = al_fs_join(dir, "record");
    al_auto(al_freep) char *lock = al_fs_join(dir, "lock");
    al_auto(al_freep) char *ready = al_fs_join(dir, "ready/index");
    al_auto(al_freep) char *path = tmpdir_path(w->state, ready);
    const struct timespec used = { .tv_sec = time(NULL) - age_s };

    al_str_add(&text, (const char *)&record, sizeof(record));
    al_str_adds(&text, top);
    tmpdir_write_bytes(w->state, of_record, text.buf, text.len);
    tmpdir_write(w->state, ready, "");
    assert_int_equal(truncate(path, bytes), 0);
    tmpdir_write(w->state, lock, "");
    assert_int_equal(utimensat(w->state->fd, lock, (const struct timespec[]){ used, used }, 0), 0);
}

static bool is_there(struct world *w, const char *name)
{
    al_auto(al_freep) char *dir = al_asprintf("indexes/%s", name);

    return faccessat(w->state->fd, dir, F_OK, 0) == 0;
}

static void tidy(struct world *w)
{
    al_auto(al_freep) char *dir = tmpdir_path(w->state, "indexes");

    al_indexes_remove_unused(dir);
}

static void removes_what_has_no_tree(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *gone = tmpdir_path(w->root, "gone");

    tidy(w); /* without a directory there is nothing to do */
    make(w, "kept", w->repo->path, 10, 100);
    make(w, "gone", gone, 10, 100);
    make(w, "nameless", "", 10, 100);
    tmpdir_mkdir(w->state, "indexes/empty");
    tmpdir_write(w->state, "indexes/file", "no store\n");
    tidy(w);
    assert_true(is_there(w, "kept"));
    assert_false(is_there(w, "gone") || is_there(w, "nameless") || is_there(w, "empty"));
}

static void removes_what_is_too_old(void **state)
{
    struct world *w = *state;

    make(w, "young", w->repo->path, AL_INDEXES_MAX_AGE_S - 60, 100);
    make(w, "old", w->repo->path, AL_INDEXES_MAX_AGE_S + 60, 100);
    tidy(w);
    assert_true(is_there(w, "young"));
    assert_false(is_there(w, "old"));
}

static void keeps_so_many(void **state)
{
    struct world *w = *state;

    for (unsigned i = 0; i < AL_INDEXES_MAX + 1; i++) {
        al_auto(al_freep) char *name = al_asprintf("s%u", i);

        make(w, name, w->repo->path, 100 + (int64_t)i, 100);
    }
    tidy(w);
    for (unsigned i = 0; i < AL_INDEXES_MAX + 1; i++) {
        al_auto(al_freep) char *name = al_asprintf("s%u", i);

        assert_int_equal(is_there(w, name), i < AL_INDEXES_MAX);
    }
}

static void keeps_so_many_bytes(void **state)
{
    struct world *w = *state;
    const off_t half = AL_INDEXES_MAX_BYTES / 2;

    make(w, "first", w->repo->path, 10, half);
    make(w, "second", w->repo->path, 20, half);
    make(w, "third", w->repo->path, 30, 1);
    tidy(w);
    assert_true(is_there(w, "first") && is_there(w, "second"));
    assert_false(is_there(w, "third"));
    make(w, "second", w->repo->path, 20, half + 1);
    make(w, "third", w->repo->path, 30, half);
    tidy(w);
    assert_true(is_there(w, "first") && is_there(w, "third"));
    assert_false(is_there(w, "second"));
}

static void leaves_alone_what_is_open(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *dir = tmpdir_path(w->state, "indexes/used");
    struct al_index_store store;

    make(w, "used", "/no/such/tree", 10, 100);
    assert_int_equal(al_index_store_open(dir, true, &store), 0);
    tidy(w);
    assert_true(is_there(w, "used"));
    al_index_store_close(&store);
    tidy(w);
    assert_false(is_there(w, "used"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(removes_what_has_no_tree),
        WORLD_TEST(removes_what_is_too_old),
        WORLD_TEST(keeps_so_many),
        WORLD_TEST(keeps_so_many_bytes),
        WORLD_TEST(leaves_alone_what_is_open),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
