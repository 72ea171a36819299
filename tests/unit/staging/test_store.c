// SPDX-License-Identifier: Apache-2.0
/* staging/store.h, base.h, gc: several users of one store, what stays and what goes. */
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "git/plumbing/bare.h"
#include "staging/store.h"
#include "tests/unit/staging/lib.h"

/* --- The base --- */

static void assert_base(struct stager *s, const char *wanted)
{
    al_auto(al_base_clear) struct al_base base = { .heads = NULL };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    must(s, al_base_load(s->staging, s->staging->key, BUDGET, &base, &s->w->err));
    for (size_t i = 0; i < base.files.count; i++)
        al_str_addf(&text, "%o %s\n", base.files.items[i].mode, base.files.items[i].path);
    assert_string_equal(text.buf, wanted);
}

/* Another session that uses the same sandbox, as a server does on the same directory. */
static struct al_staging *open_same(struct stager *s)
{
    struct al_staging *other = NULL;

    must(s, al_staging_new(&s->options, BUDGET, &other, &s->w->err));
    memcpy(other->key, s->staging->key, sizeof(other->key));
    return other;
}

static void base_is_read_as_it_was_saved(void **state)
{
    static const char files[] = "100644 a-b\n100644 a.c\n100755 a/b\n120000 a0\n100644 caf\xe9\n";
    struct stager *s = *state;

    pull(s, "caf\xe9", 0100644, "1\n");
    pull(s, "a0", 0120000, "x");
    pull(s, "a/b", 0100755, "1\n");
    pull(s, "a-b", 0100644, "2\n");
    pull(s, "a.c", 0100644, "2\n");
    assert_base(s, files);
}

/* Change a base by files "a" and "b", whose ids are numbers. */
static void change(struct al_base *base, const char *paths, const unsigned *modes, uint8_t number)
{
    struct al_sandbox_file items[4];
    size_t count = strlen(paths);

    for (size_t i = 0; i < count; i++) {
        items[i] = (struct al_sandbox_file){ .path = (char *)(paths[i] == 'a' ? "a" : "b"),
                                             .mode = modes[i] };
        items[i].oid.bytes[0] = (uint8_t)(number + i);
    }
    al_base_change(base, &(struct al_sandbox_files){ items, count });
}

static void last_change_of_a_path_wins(void **state)
{
    struct al_base base = { .heads = NULL };

    (void)state;
    change(&base, "abb", (const unsigned[]){ 0100644, 0100644, 0100755 }, 1);
    assert_int_equal(base.files.count, 2);
    assert_int_equal(al_sandbox_files_find(&base.files, "b").mode, 0100755);
    assert_int_equal(al_sandbox_files_find(&base.files, "b").oid.bytes[0], 3);
    change(&base, "a", (const unsigned[]){ 0 }, 1);
    change(&base, "a", (const unsigned[]){ 0 }, 1);
    assert_int_equal(al_sandbox_files_find(&base.files, "a").mode, 0);
    assert_int_equal(base.files.count, 1);
    change(&base, "abb", (const unsigned[]){ 0100644, 0, 0100644 }, 4);
    assert_int_equal(al_sandbox_files_find(&base.files, "b").oid.bytes[0], 6);
    assert_int_equal(base.files.count, 2);
    al_base_clear(&base);
}

static void base_of_a_memory_sandbox_goes_with_it(void **state)
{
    struct stager *s = *state;
    al_auto(al_freep) char *refs = NULL;
    char key[33];

    pull(s, "a", 0100644, "1\n");
    memcpy(key, s->staging->key, sizeof(key));
    open_session(s);
    assert_string_not_equal(s->staging->key, key);
    assert_base(s, "");
    refs = store_git(s, "for-each-ref", "refs/base/");
    assert_string_equal(refs, "");
}

/* --- Clearing up --- */

static void sweep(struct stager *s)
{
    (void)unlinkat(s->staging->dir_fd, "swept", 0);
    must(s, al_staging_gc(s->staging, BUDGET, &s->w->err));
}

/* Have objects deleted as soon as they may be. */
static void be_eager(struct stager *s)
{
    s->options.max_bytes = 100;
    open_session(s);
}

/* Make everything in the store two days old. */
static void age(struct stager *s)
{
    const struct timespec past[2] = { { .tv_sec = time(NULL) - 172800 },
                                      { .tv_sec = time(NULL) - 172800 } };
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(s->staging->pack_fd);

    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            assert_int_equal(utimensat(s->staging->pack_fd, entry->d_name, past, 0), 0);
}

static bool has_object(struct stager *s, const struct al_oid *oid)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    const struct al_location bare = al_staging_bare(s->staging, BUDGET);
    char text[AL_OID_TEXT];

    al_oid_text(oid, s->options.sha256, text);
    al_strv_add(&oids, text);
    must(s, al_git_find_objects(&bare, &oids, false, &found, NULL, &s->w->err));
    return found.count > 0;
}

static void gc_keeps_what_is_staged_and_the_base(void **state)
{
    struct stager *s = *state;
    struct al_str text = AL_STR_INIT;

    be_eager(s);
    pull(s, "pulled", 0100644, "1\n");
    for (int i = 0; i < 5; i++) {
        al_str_reset(&text);
        al_str_addf(&text, "%d\n", i);
        put(s, "a", text.buf);
        stage(s, "/workspace", "x");
        age(s);
        sweep(s);
    }
    al_str_clear(&text);
    assert_staged(s, "x,x,x,x,x");
    assert_changes(s, "");
    {
        al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };

        must(s, al_staged_list(s->staging, BUDGET, &list, &s->w->err));
        for (size_t i = 0; i < list.count; i++) {
            assert_true(has_object(s, &list.items[i].commit));
            assert_true(has_object(s, &list.items[i].files[0].oid));
        }
    }
    must(s, al_sandbox_read(s->sandbox, "pulled", 0, 10, &text, NULL, &s->w->err));
    assert_string_equal(text.buf, "1\n");
    al_str_clear(&text);
    assert_whole(s);
}

static void gc_drops_objects_that_nothing_names_after_a_day(void **state)
{
    struct stager *s = *state;

    be_eager(s);
    put(s, "a", "1\n");
    stage(s, "/workspace", "x");
    must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
    sweep(s);
    assert_true(has_object(s, &s->last.commit)); /* it is younger than a day */
    put(s, "a", "2\n");
    stage(s, "/workspace", "y");
    must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
    age(s);
    sweep(s);
    assert_false(has_object(s, &s->last.commit));
    assert_whole(s);
}

static void gc_removes_references_that_nothing_stands_for(void **state)
{
    static const char *const names[] = { AL_REF_STAGED "left-over", AL_REF_BASE "mleft-over",
                                         AL_REF_BASE "0kept" };
    struct stager *s = *state;
    al_auto(al_freep) char *ref = NULL;
    al_auto(al_freep) char *refs = NULL;
    char oid[AL_OID_TEXT];

    pull(s, "p", 0100644, "1\n");
    put(s, "a", "1\n");
    stage(s, "/workspace", "x");
    ref = al_asprintf(AL_REF_STAGED "%s", s->last.id);
    al_oid_text(&s->last.commit, false, oid);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(
            al_fs_write_atomic(s->staging->bare.dir_fd, names[i], oid, strlen(oid), 0600, true), 0);
    sweep(s);
    refs = store_git(s, "for-each-ref", "--format=%(refname)");
    assert_null(strstr(refs, "left-over"));
    assert_non_null(strstr(refs, "0kept"));
    assert_non_null(strstr(refs, ref));
    assert_non_null(strstr(refs, s->staging->key));
}

static void gc_keeps_what_a_damaged_record_may_name(void **state)
{
    struct stager *s = *state;
    al_auto(al_freep) char *name = NULL;

    be_eager(s);
    put(s, "a", "1\n");
    stage(s, "/workspace", "x");
    name = al_asprintf("%s.json", s->last.id);
    must(s, al_fs_write_atomic(s->staging->staged_fd, name, "{", 1, 0600, true));
    age(s);
    sweep(s);
    assert_true(has_object(s, &s->last.commit));
}

static void gc_removes_bases_of_dead_sandboxes_only(void **state)
{
    static const char dead[] = "mddddddddddddddddddddddddddddddd";
    static const char alive_name[] = "mddddddddddddddddddddddddddddddd.alive";
    static const char ref[] = AL_REF_BASE "mddddddddddddddddddddddddddddddd";
    struct stager *s = *state;
    struct al_staging *alive = s->staging;
    int fd;

    pull(s, "a", 0100644, "1\n");
    fd = openat(alive->sandboxes_fd, alive_name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    {
        al_auto(al_base_clear) struct al_base base = { .heads = NULL };

        must(s, al_base_save(alive, dead, &base, BUDGET, &s->w->err));
    }
    sweep(s);
    assert_true(al_file_id_at(alive->bare.dir_fd, ref).exists);
    close(fd); /* the process ends */
    sweep(s);
    assert_false(al_file_id_at(alive->bare.dir_fd, ref).exists);
    assert_base(s, "100644 a\n");
}

static void gc_runs_once_an_hour_and_joins_packs(void **state)
{
    struct stager *s = *state;
    uint64_t bytes;
    struct stat before, after;

    put(s, "a", "0\n");
    stage(s, "/workspace", "x");
    assert_int_equal(fstatat(s->staging->dir_fd, "swept", &before, 0), 0);
    for (int i = 0; i < 45; i++) {
        al_auto(al_freep) char *text = al_asprintf("%d\n", i + 1);

        put(s, "a", text);
        stage(s, "/workspace", "x");
    }
    assert_true(count_packs_of(s, &bytes) <= 41);
    assert_int_equal(fstatat(s->staging->dir_fd, "swept", &after, 0), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_whole(s);
    must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
    assert_changes(s, "M a");
}

/* --- Several users --- */

static void waits_for_the_lock_until_the_deadline(void **state)
{
    struct stager *s = *state;
    struct al_staging *other = open_same(s);
    struct al_run_limits short_time = { .left_ms = 30 };

    must(s, al_staging_lock(other, BUDGET, &s->w->err));
    put(s, "a", "1\n");
    assert_int_equal(al_staging_lock(s->staging, &short_time, &s->w->err), AL_ERR_TIMEOUT);
    assert_changes(s, "+ a");                            /* reading needs no lock */
    must(s, al_staging_lock(other, BUDGET, &s->w->err)); /* again, by the same thread */
    al_staging_unlock(other);
    short_time.left_ms = 30;
    assert_int_equal(al_staging_lock(s->staging, &short_time, &s->w->err), AL_ERR_TIMEOUT);
    al_staging_unlock(other);
    must(s, al_staging_lock(s->staging, BUDGET, &s->w->err));
    al_staging_unlock(s->staging);
    al_staging_free(other);
}

#define THREADS 4
#define ROUNDS  5

struct user {
    struct stager *s;
    struct al_staging *staging;
    int number;
};

static void *stage_some(void *payload)
{
    struct user *user = payload;

    for (int i = 0; i < ROUNDS; i++) {
        al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
        al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *path = al_asprintf("f%d-%d", user->number, i);

        al_strv_addf(&words, "/workspace/%s", path);
        if (al_sandbox_write(user->s->sandbox, path, "x", 1, &err) < 0 ||
            al_stage(user->staging, &words, path, BUDGET, &staged, &err) < 0)
            return al_strdup(err.message);
    }
    return NULL;
}

static void many_threads_and_sessions_stage_at_once(void **state)
{
    struct stager *s = *state;
    struct al_staging *other = open_same(s);
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    struct user users[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        users[i] = (struct user){ s, i % 2 ? other : s->staging, i };
        assert_int_equal(pthread_create(&threads[i], NULL, stage_some, &users[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *said = NULL;

        assert_int_equal(pthread_join(threads[i], &said), 0);
        assert_null(said);
    }
    must(s, al_staged_list(s->staging, BUDGET, &list, &s->w->err));
    assert_int_equal(list.count, THREADS * ROUNDS);
    for (size_t i = 1; i < list.count; i++)
        assert_true(list.items[i - 1].order < list.items[i].order);
    assert_changes(s, "");
    assert_whole(s);
    al_staging_free(other);
}

static void must_exist_creates_nothing(void **state)
{
    struct stager *s = *state;
    struct al_staging_options options = s->options;
    struct al_staging *staging = NULL;
    al_auto(al_freep) char *dir = tmpdir_path(s->w->state, "none");

    options.state_dir = dir;
    options.sandbox = NULL;
    options.must_exist = true;
    assert_int_equal(al_staging_new(&options, BUDGET, &staging, &s->w->err), AL_ERR_NOT_FOUND);
    assert_true(access(dir, F_OK) < 0);
    options.state_dir = s->options.state_dir;
    must(s, al_staging_new(&options, BUDGET, &staging, &s->w->err));
    assert_string_equal(staging->key, "");
    al_staging_free(staging);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGER_TEST(base_is_read_as_it_was_saved),
        STAGER_TEST(last_change_of_a_path_wins),
        STAGER_TEST(base_of_a_memory_sandbox_goes_with_it),
        STAGER_TEST(gc_keeps_what_is_staged_and_the_base),
        STAGER_TEST(gc_drops_objects_that_nothing_names_after_a_day),
        STAGER_TEST(gc_removes_references_that_nothing_stands_for),
        STAGER_TEST(gc_keeps_what_a_damaged_record_may_name),
        STAGER_TEST(gc_removes_bases_of_dead_sandboxes_only),
        STAGER_TEST(gc_runs_once_an_hour_and_joins_packs),
        STAGER_TEST(waits_for_the_lock_until_the_deadline),
        STAGER_TEST(many_threads_and_sessions_stage_at_once),
        STAGER_TEST(must_exist_creates_nothing),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/store", tests, NULL, NULL);
}
