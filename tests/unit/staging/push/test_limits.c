// SPDX-License-Identifier: Apache-2.0
/* The limits of a push, compiled with small ones. */
#include "staging/base.h"
#include "tests/unit/staging/push/lib.h"

_Static_assert(AL_PUSH_LISTED_MAX == 3 && AL_DIFF_RAW_MAX == 8 && AL_TREE_ENTRIES_MAX == 12,
               "the numbers below are made for them");

static size_t count(const char *text, const char *what)
{
    size_t found = 0;

    for (; (text = strstr(text, what)); text++)
        found++;
    return found;
}

static void files_that_are_listed(void **state)
{
    struct stager *s = *state;

    for (int n = 2; n <= 4; n++) {
        al_auto(al_freep) char *prefix = al_asprintf("%d-", n);
        al_auto(al_freep) char *text = NULL;

        stage_many(s, prefix, n);
        text = show_last(s);
        assert_non_null(text);
        assert_int_equal(count(text, "\n  + "), n > 3 ? 3 : n);
        assert_int_equal(count(text, "\n  … and 1 more files\n"), n > 3);
        must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
        for (int i = 0; i < n; i++) {
            al_auto(al_freep) char *name = al_asprintf("%s%d", prefix, i);

            put(s, name, NULL);
        }
    }
}

static void files_of_a_push(void **state)
{
    struct stager *s = *state;

    for (int n = 7; n <= 9; n++) {
        al_auto(al_freep) char *text = NULL;

        stage_many(s, "f", n);
        text = show_last(s);
        assert_int_equal(text != NULL, n <= 8);
        if (!text)
            assert_non_null(strstr(s->w->err.message, "The push changes 9 files, more than the 8"));
        must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
    }
}

static void files_of_the_branch(void **state)
{
    struct stager *s = *state;

    tmpdir_mkdir(s->w->repo, "d"); /* a.txt and d are two entries */
    for (int n = 1; n <= 11; n++) {
        al_auto(al_freep) char *name = al_asprintf("d/%d", n);
        al_auto(al_freep) char *text = NULL;

        tmpdir_write(s->w->repo, name, "x");
        if (n < 9)
            continue;
        git_ok(s->w->repo, "add", "-A", NULL);
        git_ok(s->w->repo, "commit", "-q", "-m", "x", NULL);
        stage_many(s, "f", 1);
        text = show_last(s);
        assert_int_equal(text != NULL, n <= 10);
        if (!text)
            assert_non_null(
                strstr(s->w->err.message, "the branch has more than 12 files and directories"));
        must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
    }
}

/* A base of n empty files, of one letter each. */
static void fill(struct stager *s, struct al_base *base, int n)
{
    struct al_oid empty;

    al_oid_of(s->options.sha256, AL_OBJECT_BLOB, "", 0, &empty);
    for (int i = 0; i < n; i++)
        al_sandbox_files_add(&base->files,
                             &(struct al_sandbox_file){ .path = al_asprintf("%c", 'a' + i),
                                                        .mode = AL_SANDBOX_MODE_FILE,
                                                        .oid = empty });
}

/* The blob that all files have. */
static void store_empty(struct stager *s)
{
    al_auto(al_import_clear) struct al_import import = { .file = NULL };

    must(s, al_import_begin(s->staging, &import, &s->w->err));
    al_import_put(&import, "", 0);
    must(s, al_import_end(&import, BUDGET, NULL, &s->w->err));
}

static void files_of_a_base(void **state)
{
    struct stager *s = *state;
    const char *key = s->staging->key;

    for (int n = 11; n <= 13; n++) {
        al_auto(al_base_clear) struct al_base base = { .heads = NULL };
        al_auto(al_base_clear) struct al_base read = { .heads = NULL };

        fill(s, &base, n);
        must(s, al_staging_lock(s->staging, BUDGET, &s->w->err));
        store_empty(s);
        assert_int_equal(al_base_save(s->staging, key, &base, BUDGET, &s->w->err),
                         n <= 12 ? 0 : AL_ERR_EXECUTION);
        al_staging_unlock(s->staging);
        must(s, al_base_load(s->staging, key, BUDGET, &read, &s->w->err));
        assert_int_equal(read.files.count, n <= 12 ? n : 12);
    }
    assert_non_null(strstr(s->w->err.message, "use another sandbox for other repositories"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        STAGER_TEST(files_that_are_listed),
        STAGER_TEST(files_of_a_push),
        STAGER_TEST(files_of_the_branch),
        STAGER_TEST(files_of_a_base),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/push/limits", tests, NULL, NULL);
}
