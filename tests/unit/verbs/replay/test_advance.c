// SPDX-License-Identifier: Apache-2.0
/* verbs/replay/work.c: files that only look changed do not stop a move, and others do. */
#include "verbs/replay/work.h"

#include <sys/stat.h>

#include "tests/unit/git/tree.h"

static char *id_of(const struct world *w, const char *word)
{
    char *id = git_output(w->repo, "rev-parse", word, NULL);

    id[strcspn(id, "\n")] = '\0';
    return id;
}

/* main, which is checked out, and `ahead`, in which files are changed, added and removed.  Beside
 * them are local changes that neither touches. */
static void begin(struct world *w)
{
    git_fixture_commit(w->repo, "gone.txt", "gone\n", "gone");
    git_fixture_commit(w->repo, "dir/b.txt", "b\n", "b");
    git_fixture_commit(w->repo, "mine.txt", "mine\n", "mine");
    git_ok(w->repo, "checkout", "-q", "-b", "ahead", NULL);
    git_ok(w->repo, "rm", "-q", "gone.txt", NULL);
    git_fixture_commit(w->repo, "dir/b.txt", "b\nb\n", "more");
    git_fixture_commit(w->repo, "new/c.txt", "c\n", "new");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    tmpdir_write(w->repo, "mine.txt", "changed\n");
    tmpdir_write(w->repo, "own.txt", "untracked\n");
}

/* Everything that a move can change. */
static char *everything(const struct world *w)
{
    al_auto(al_freep) char *status =
        git_output(w->repo, "status", "--porcelain", "-uall", "--branch", NULL);
    al_auto(al_freep) char *index = git_output(w->repo, "ls-files", "-s", NULL);
    al_auto(al_freep) char *files =
        git_output(w->repo, "-c", "alias.k=!cat $(git ls-files) own.txt", "k", NULL);
    al_auto(al_freep) char *log = git_output(w->repo, "log", "-g", "--format=%H %gs", NULL);
    al_auto(al_freep) char *refs = git_output(w->repo, "for-each-ref", NULL);
    al_auto(al_freep) char *head = git_output(w->repo, "symbolic-ref", "HEAD", NULL);

    return al_asprintf("%s%s%s%s%s%s", status, index, files, log, refs, head);
}

static int advance(struct world *w)
{
    struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *from = id_of(w, "main"), *to = id_of(w, "ahead");
    int r;

    al_error_clear(&w->err);
    r = al_git_advance(
        repo, &(struct al_advance){ .from = from, .to = to, .reflog = "rebase (finish): x" },
        &w->err);
    al_repo_free(repo);
    return r;
}

/* The files are older than the index, so that their stat data tells. */
static void make_old(struct world *w)
{
    git_ok(w->repo, "-c",
           "alias.k=!find . -path ./.git -prune -o -type f -exec touch -d @1000000000 {} +", "k",
           NULL);
    (void)git_status_of(w->repo, "update-index", "-q", "--refresh", NULL);
}

static void moves_what_only_looks_changed(void **state)
{
    struct world *w = *state;
    static const struct timespec times[] = { { .tv_sec = 1000000001 }, { .tv_sec = 1000000001 } };
    al_auto(al_freep) char *text = NULL;

    begin(w);
    make_old(w);
    assert_int_equal(utimensat(w->repo->fd, "dir/b.txt", times, 0), 0);
    assert_int_equal(advance(w), 0);
    text = tmpdir_read(w->repo, "dir/b.txt");
    assert_string_equal(text, "b\nb\n");
}

static void refuses_to_write_over_changes(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *before = NULL, *after = NULL;

    begin(w);
    make_old(w);
    tmpdir_write(w->repo, "dir/b.txt", "x\n"); /* the same length */
    before = everything(w);
    assert_int_equal(advance(w), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_DIRTY_WORKDIR);
    after = everything(w);
    assert_string_equal(after, before);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(moves_what_only_looks_changed),
        WORLD_TEST(refuses_to_write_over_changes),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/replay/advance", tests, NULL, NULL);
}
