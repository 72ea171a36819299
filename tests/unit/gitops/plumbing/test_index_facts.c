// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/index_facts.h: what is remembered of an index counts for this index alone. */
#include "gitops/plumbing/index_facts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/repo/repo.h"
#include "tests/unit/gitops/lib.h"

/** The facts as the functions tell them: a letter each. */
static void assert_facts(struct world *w, const char *expected)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    char found[5] = "";

    found[0] = al_repo_may_have_marks(&repo->at) ? 'm' : '-';
    found[1] = al_repo_may_have_gitlinks(&repo->at) ? 'g' : '-';
    found[2] = al_repo_may_have_conflicts(&repo->at) ? 'c' : '-';
    found[3] = al_repo_may_have_names_only(&repo->at) ? 'n' : '-';
    assert_string_equal(found, expected);
}

/* The identity of the index, and its last bytes. */
static struct al_file_id identify(struct world *w, struct al_oid *ret_end)
{
    al_auto(al_closep) int fd = openat(w->repo->fd, ".git/index", O_RDONLY | O_CLOEXEC);
    struct stat st;

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    *ret_end = (struct al_oid){ .bytes = { 0 } };
    assert_int_equal(pread(fd, ret_end->bytes, 20, st.st_size - 20), 20);
    return al_file_id_from(&st);
}

/* Wrong facts show where they are used. */
static void remembers_an_index(void **state)
{
    static const struct {
        struct al_index_facts facts;
        const char *told;
    } rows[] = { { { true, false, false, false }, "m---" },
                 { { false, true, false, false }, "-g--" },
                 { { false, false, true, false }, "--c-" },
                 { { false, false, false, true }, "---n" },
                 { { false, false, false, false }, "----" } };
    struct world *w = *state;
    struct al_oid end;
    struct al_file_id id = identify(w, &end);

    assert_facts(w, "----");
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_index_facts_remember(&id, &end, false, &rows[i].facts);
        assert_facts(w, rows[i].told);
    }
    al_index_facts_remember(&id, &end, false, &rows[0].facts);
    git_ok(w->repo, "update-index", "--index-version", "4", NULL); /* another file */
    assert_facts(w, "----");
}

/* With the same stat data the checksum decides. */
static void uses_nothing_of_another_index(void **state)
{
    static const struct al_index_facts all = { true, true, true, true };
    struct world *w = *state;
    struct al_oid end, other;
    struct al_file_id id = identify(w, &end), changed;

    other = end;
    other.bytes[19] ^= 1;
    al_index_facts_remember(&id, &other, false, &all);
    assert_facts(w, "----");
    al_index_facts_remember(&id, &end, true, &all); /* the last 32 bytes are others */
    assert_facts(w, "----");
    al_index_facts_remember(&id, &(struct al_oid){ .bytes = { 0 } }, false, &all);
    assert_facts(w, "----");
    for (int field = 0; field < 5; field++) {
        changed = id;
        changed.dev ^= field == 0;
        changed.ino ^= field == 1;
        changed.size ^= field == 2;
        changed.mtime_ns ^= field == 3;
        changed.ctime_ns ^= field == 4;
        al_index_facts_remember(&changed, &end, false, &all);
        assert_facts(w, "----");
    }
    al_index_facts_remember(&id, &end, false, &all);
    assert_facts(w, "mgcn");
}

/* Many indexes push out the oldest; then the file is read. */
static void forgets_the_oldest(void **state)
{
    static const struct al_index_facts all = { true, true, true, true };
    struct world *w = *state;
    struct al_oid end;
    struct al_file_id id = identify(w, &end), other = id;

    al_index_facts_remember(&id, &end, false, &all);
    for (int i = 1; i <= 8; i++) {
        assert_facts(w, "mgcn");
        other.ino = id.ino + (uint64_t)i;
        al_index_facts_remember(&other, &end, false, &all);
    }
    assert_facts(w, "----");
}

/* What nobody told is read, and remembered until the index changes. */
static void reads_what_it_was_not_told(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "named", "text\n");
    git_ok(w->repo, "add", "-N", "named", NULL);
    assert_facts(w, "---n");
    assert_facts(w, "---n");
    git_ok(w->repo, "update-index", "--assume-unchanged", "named", NULL);
    assert_facts(w, "m--n");
    git_ok(w->repo, "rm", "-q", "--cached", "named", NULL);
    assert_facts(w, "----");
    git_ok(w->repo, "update-index", "--add", "--cacheinfo",
           "160000,1234567812345678123456781234567812345678,link", NULL);
    assert_facts(w, "-g--");
    git_ok(w->repo, "read-tree", "--empty", NULL);
    assert_facts(w, "----");
    git_ok(w->repo, "update-index", "--split-index", NULL);
    assert_facts(w, "mgcn");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(remembers_an_index),
        WORLD_TEST(uses_nothing_of_another_index),
        WORLD_TEST(forgets_the_oldest),
        WORLD_TEST(reads_what_it_was_not_told),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/plumbing/index_facts", tests, NULL, NULL);
}
