// SPDX-License-Identifier: Apache-2.0
/* verbs/landing/landing.c: what another process does between the steps of a landing leaves all or
 * nothing of it. */
#include "tests/unit/git/tree.h"
#include "verbs/landing/landing.h"

/* What the other process does just before git runs with this word. */
static struct {
    struct tmpdir *repo;
    const char *before;
    void (*act)(void);
} other;

int __real_al_git_write(const struct al_location *at, struct al_git_command *command,
                        unsigned locks, struct al_error *err);
int __wrap_al_git_write(const struct al_location *at, struct al_git_command *command,
                        unsigned locks, struct al_error *err);

int __real_al_git_run(const struct al_location *at, const struct al_git_command *command,
                      const struct al_git_run *options, struct al_git_output *ret_output,
                      struct al_error *err);
int __wrap_al_git_run(const struct al_location *at, const struct al_git_command *command,
                      const struct al_git_run *options, struct al_git_output *ret_output,
                      struct al_error *err);

int __real_al_git_read(const struct al_location *at, const struct al_git_command *command,
                       struct al_sink sink, struct al_error *err);
int __wrap_al_git_read(const struct al_location *at, const struct al_git_command *command,
                       struct al_sink sink, struct al_error *err);

static void act_before(const struct al_git_command *command)
{
    if (other.before && al_strv_contains(&command->argv, other.before)) {
        other.before = NULL;
        other.act();
    }
}

int __wrap_al_git_write(const struct al_location *at, struct al_git_command *command,
                        unsigned locks, struct al_error *err)
{
    act_before(command);
    return __real_al_git_write(at, command, locks, err);
}

int __wrap_al_git_run(const struct al_location *at, const struct al_git_command *command,
                      const struct al_git_run *options, struct al_git_output *ret_output,
                      struct al_error *err)
{
    act_before(command);
    return __real_al_git_run(at, command, options, ret_output, err);
}

int __wrap_al_git_read(const struct al_location *at, const struct al_git_command *command,
                       struct al_sink sink, struct al_error *err)
{
    act_before(command);
    return __real_al_git_read(at, command, sink, err);
}

static void write_file(void)
{
    tmpdir_write(other.repo, "b.txt", "mine\n");
}

static void move_branch(void)
{
    git_ok(other.repo, "update-ref", "refs/heads/feature", "feature~", NULL);
}

static void move_into(void)
{
    git_ok(other.repo, "update-ref", "refs/heads/main", "main~", NULL);
}

static char *id_of(const struct world *w, const char *word)
{
    char *id = git_output(w->repo, "rev-parse", word, NULL);

    id[strcspn(id, "\n")] = '\0';
    return id;
}

/* A branch of two commits; main, which is checked out, has one more than their base. */
static void part(struct world *w)
{
    git_fixture_commit(w->repo, "z.txt", "z\n", "second");
    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    git_fixture_commit(w->repo, "b.txt", "b\n", "feature");
    git_fixture_commit(w->repo, "c.txt", "c\n", "feature");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "m.txt", "m\n", "main moves");
}

static int land(struct world *w, const char *before, void (*act)(void))
{
    struct al_repo *repo = must_open(w, "repo");
    struct al_landing *landing = NULL;
    int r;

    al_error_clear(&w->err);
    r = al_landing_plan(repo,
                        &(struct al_landing_request){
                            .branch = "feature", .into = "main", .strategy = AL_LAND_MERGE },
                        &landing, &w->err);
    assert_int_equal(r, 0);
    other.repo = w->repo;
    other.act = act;
    other.before = before;
    r = al_landing_run(landing, &w->err);
    al_landing_free(landing);
    al_repo_free(repo);
    return r;
}

static void lands_when_nobody_interferes(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *status = NULL, *parent = NULL, *feature = NULL;

    part(w);
    assert_int_equal(land(w, NULL, NULL), 0);
    status = git_output(w->repo, "status", "--porcelain", NULL);
    parent = id_of(w, "main^2");
    feature = id_of(w, "feature");
    assert_string_equal(status, "");
    assert_string_equal(parent, feature);
}

/* The branch had moved already when the file got in the way. */
static void a_file_in_the_way_takes_the_branch_back(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *before = NULL, *after = NULL, *status = NULL, *text = NULL;

    part(w);
    before = id_of(w, "main");
    assert_int_equal(land(w, "-u", write_file), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "b.txt"));
    after = id_of(w, "main");
    status = git_output(w->repo, "status", "--porcelain", NULL);
    text = tmpdir_read(w->repo, "b.txt");
    assert_string_equal(after, before);
    assert_string_equal(status, "?? b.txt\n");
    assert_string_equal(text, "mine\n");
}

static void a_file_that_comes_before_the_look_is_named(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *before = NULL, *after = NULL;

    part(w);
    before = id_of(w, "main");
    assert_int_equal(land(w, "diff-index", write_file), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "has changes of its own in b.txt"));
    after = id_of(w, "main");
    assert_string_equal(after, before);
}

static void a_branch_that_moves_is_named(void **state)
{
    static const struct {
        void (*act)(void);
        const char *message;
    } cases[] = { { move_branch, "Branch feature moved meanwhile" },
                  { move_into, "Branch main moved meanwhile" } };
    struct world *w = *state;

    part(w);
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *text = NULL;

        assert_int_equal(land(w, "update-ref", cases[i].act), AL_ERR_EXECUTION);
        assert_non_null(strstr(w->err.message, cases[i].message));
        text = tmpdir_read(w->repo, "b.txt");
        assert_null(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(lands_when_nobody_interferes),
        WORLD_TEST(a_file_in_the_way_takes_the_branch_back),
        WORLD_TEST(a_file_that_comes_before_the_look_is_named),
        WORLD_TEST(a_branch_that_moves_is_named),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/landing/run", tests, NULL, NULL);
}
