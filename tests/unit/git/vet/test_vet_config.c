// SPDX-License-Identifier: Apache-2.0
/*
 * git/vet/vet.c: a vetting stays small, however long the configuration is.
 *
 * The source is included, not linked: its entries are fed by hand below.
 */
#include "git/command.h"
#include "git/reading/read_blame.h"
#include "git/run.h"
#include "git/vet/vet.c"
#include "git/vet/vet.h"
#include "tests/unit/git/lib.h"

#define MANY 5000

static char *numbered(const char *pattern, int number)
{
    const char *star = strchrnul(pattern, '*');

    return *star ? al_asprintf("%.*s%d%s", (int)(star - pattern), pattern, number, star + 1)
                 : al_strdup(pattern);
}

/* What is kept when the repository sets so many of these keys; '*' stands for their number. */
static struct al_vetting *scan_many(struct world *w, const char *key, const char *value, int count)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    struct al_vetting *vetting = al_calloc(1, sizeof(*vetting));
    struct config_scan scan = { .at = &repo->at, .vetting = vetting, .user_config = AL_STR_INIT };

    for (int i = 0; i < count; i++) {
        al_auto(al_freep) char *key_i = numbered(key, i);
        al_auto(al_freep) char *value_i = numbered(value, i);

        scan_entry(&scan, &(struct entry){ .of_repository = true,
                                           .origin = ".git/config",
                                           .key = key_i,
                                           .value = value_i });
    }
    al_str_clear(&scan.user_config);
    return vetting;
}

static void freep(struct al_vetting **vetting)
{
    al_strv_clear(&(*vetting)->config.overrides);
    al_strv_clear(&(*vetting)->sources);
    al_strv_clear(&(*vetting)->filters);
    al_strv_clear(&(*vetting)->own_filters);
    al_strv_clear(&(*vetting)->merge_drivers);
    al_strv_clear(&(*vetting)->ignore_revs);
    free(*vetting);
}

static void keeps_one_of_equal_ignore_revs_files(void **state)
{
    al_auto(freep) struct al_vetting *vetting =
        scan_many(*state, "blame.ignorerevsfile", "revs", MANY);

    assert_int_equal(vetting->ignore_revs.count, 1);
}

static void keeps_ignore_revs_files_up_to_one_too_many(void **state)
{
    static const int counts[] = { AL_IGNORE_REVS_MAX - 1, AL_IGNORE_REVS_MAX,
                                  AL_IGNORE_REVS_MAX + 1, MANY };

    for (size_t i = 0; i < AL_COUNT(counts); i++) {
        al_auto(freep) struct al_vetting *vetting =
            scan_many(*state, "blame.ignorerevsfile", "revs*", counts[i]);

        assert_int_equal(vetting->ignore_revs.count,
                         counts[i] < MANY ? counts[i] : AL_IGNORE_REVS_MAX + 1);
    }
}

static void keeps_no_more_drivers_of_a_configuration_with_too_many(void **state)
{
    al_auto(freep) struct al_vetting *filters = scan_many(*state, "filter.f*.clean", "x", MANY);
    al_auto(freep) struct al_vetting *drivers = scan_many(*state, "merge.m*.driver", "x", MANY);

    assert_in_range(filters->filters.count, 1, AL_DRIVER_KEYS_MAX + 1);
    assert_in_range(filters->own_filters.count, 1, AL_DRIVER_KEYS_MAX + 1);
    assert_in_range(drivers->merge_drivers.count, 1, AL_DRIVER_KEYS_MAX + 1);
}

/* Blame in a repository that names so many files of revisions. */
static int blame_with(struct world *w, int count)
{
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_blame_query options = { .path = "a.txt" };

    al_str_adds(&text, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[blame]\n");
    for (int i = 0; i < count; i++) {
        al_auto(al_freep) char *name = al_asprintf("revs%d", i);

        tmpdir_write(w->repo, name, "");
        al_str_addf(&text, "\tignoreRevsFile = %s\n", name);
    }
    tmpdir_write(w->repo, ".git/config", text.buf);
    repo = must_open(w, "repo");
    al_error_clear(&w->err);
    return al_git_blame(repo, &options, 1u << 20, &output, &w->err);
}

static void refuses_blame_with_too_many_ignore_revs_files(void **state)
{
    struct world *w = *state;

    assert_int_equal(blame_with(w, AL_IGNORE_REVS_MAX - 1), 0);
    assert_int_equal(blame_with(w, AL_IGNORE_REVS_MAX), 0);
    assert_int_equal(blame_with(w, AL_IGNORE_REVS_MAX + 1), AL_ERR_SANDBOX);
    assert_non_null(strstr(w->err.message, "more than 64"));
}

/* What the vetting rests on beside the configuration, with this as HEAD. */
static size_t count_sources(struct world *w, const char *head)
{
    struct al_vetting *vetting = NULL;
    size_t count;

    tmpdir_write(w->repo, ".git/HEAD", "ref: refs/heads/main\n");
    {
        al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

        vetting = al_calloc(1, sizeof(*vetting));
        tmpdir_write(w->repo, ".git/HEAD", head);
        depend_on_branch(&repo->at, vetting);
    }
    count = vetting->sources.count;
    freep(&vetting);
    return count;
}

static void follows_a_branch_to_references_only(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, ".git/refs/heads/alias", "ref: refs/heads/main\n");
    /* HEAD is one, and the list of reftables another. */
    assert_int_equal(count_sources(w, "ref: refs/heads/main\n"), 3);
    assert_int_equal(count_sources(w, "ref: refs/heads/alias\n"), 4);
    assert_int_equal(count_sources(w, "ref: /etc/hostname\n"), 2);
    assert_int_equal(count_sources(w, "ref: refs/../../outside\n"), 2);
    assert_int_equal(count_sources(w, "ref: config\n"), 2);
}

static void reads_no_branch_behind_a_link_out(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->outside, "stray", "ref: refs/heads/main\n");
    tmpdir_symlink(w->repo, w->outside->path, ".git/refs/heads/out");
    assert_int_equal(count_sources(w, "ref: refs/heads/out/stray\n"), 3);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(keeps_one_of_equal_ignore_revs_files),
        WORLD_TEST(keeps_ignore_revs_files_up_to_one_too_many),
        WORLD_TEST(keeps_no_more_drivers_of_a_configuration_with_too_many),
        WORLD_TEST(refuses_blame_with_too_many_ignore_revs_files),
        WORLD_TEST(follows_a_branch_to_references_only),
        WORLD_TEST(reads_no_branch_behind_a_link_out),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/vet_config", tests, NULL, NULL);
}
