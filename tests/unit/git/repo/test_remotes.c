// SPDX-License-Identifier: Apache-2.0
/* git/repo/remotes.h: what of a repository's remotes is followed, and what is refused. */
#include "git/repo/remotes.h"

#include "tests/unit/git/lib.h"

static int find(struct world *w, const char *name, struct al_remote *remote)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    al_error_clear(&w->err);
    return al_remote_find(repo, name, remote, &w->err);
}

static void assert_found(struct world *w, const char *name, const char *url, const char *push_url)
{
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;

    if (find(w, name, &remote) < 0)
        print_message("# %s\n", w->err.message);
    assert_int_equal(w->err.status, AL_OK);
    assert_string_equal(remote.name, name);
    assert_string_equal(remote.urls.items[0], url);
    assert_string_equal(remote.push_urls.items[0], push_url);
}

static void assert_refused(struct world *w, const char *name, const char *words)
{
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;

    assert_int_equal(find(w, name, &remote), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_REMOTE_ERROR);
    assert_non_null(w->err.remedy);
    assert_non_null(strstr(w->err.message, words));
}

static void finds_remotes_by_any_name(void **state)
{
    static const char *const names[] = { "origin", "a.b", "d/x", "x.url" };
    struct world *w = *state;

    assert_refused(w, "origin", "no remote 'origin'");
    for (size_t i = 0; i < COUNT(names); i++) {
        al_auto(al_freep) char *key = al_asprintf("remote.%s.url", names[i]);

        git_ok(w->repo, "config", key, names[i], NULL);
    }
    for (size_t i = 0; i < COUNT(names); i++)
        assert_found(w, names[i], names[i], names[i]);
    assert_refused(w, "a", "no remote 'a'");
    assert_refused(w, "x", "no remote 'x'");
}

static void follows_the_persons_own_rewrites(void **state)
{
    struct world *w = *state;

    git_ok(w->repo, "config", "remote.o.url", "gh:org/r", NULL);
    git_ok(w->repo, "config", "--global", "url.https://short/.insteadOf", "g", NULL);
    assert_found(w, "o", "https://short/h:org/r", "https://short/h:org/r");
    git_ok(w->repo, "config", "--global", "url.https://long/.insteadOf", "gh:", NULL);
    assert_found(w, "o", "https://long/org/r", "https://long/org/r");
    git_ok(w->repo, "config", "--global", "url.git@push:.pushInsteadOf", "gh:", NULL);
    assert_found(w, "o", "https://long/org/r", "git@push:org/r");
    git_ok(w->repo, "config", "remote.o.pushurl", "gh:mine", NULL);
    assert_found(w, "o", "https://long/org/r", "https://long/mine");
}

static void refuses_what_leads_elsewhere(void **state)
{
    static const char *const keys[] = { "url.x.insteadOf",   "url.x.pushInsteadOf",
                                        "http.sslCAInfo",    "http.https://h/.sslCert",
                                        "http.pinnedPubkey", "fetch.bundleURI" };
    static const char *const harmless[] = { "http.postBuffer", "http.proxy", "http.x.sslVerify",
                                            "url.x.other" };
    struct world *w = *state;

    git_ok(w->repo, "config", "remote.o.url", "u", NULL);
    for (size_t i = 0; i < COUNT(harmless); i++)
        git_ok(w->repo, "config", harmless[i], "value", NULL);
    assert_found(w, "o", "u", "u");
    for (size_t i = 0; i < COUNT(keys); i++) {
        git_ok(w->repo, "config", keys[i], "value", NULL);
        assert_refused(w, "o", "could lead elsewhere");
        git_ok(w->repo, "config", "--unset", keys[i], NULL);
    }
    git_ok(w->repo, "config", "remote.other.vcs", "x", NULL);
    assert_found(w, "o", "u", "u");
    git_ok(w->repo, "config", "remote.o.vcs", "x", NULL);
    assert_refused(w, "o", "helper");
}

static void takes_refspecs_that_write_where_fetching_may(void **state)
{
    static const char *const good[] = { "+refs/heads/*:refs/remotes/o/*", "refs/heads/a", "^refs/x",
                                        "refs/tags/*:refs/tags/*", "main:" };
    static const char *const bad[] = { "+refs/heads/*:refs/heads/*", "a:refs/stash", "a:HEAD",
                                       "a:refs/remotesx/a", "+a:main" };
    struct world *w = *state;

    git_ok(w->repo, "config", "remote.o.url", "u", NULL);
    for (size_t i = 0; i < COUNT(good); i++) {
        git_ok(w->repo, "config", "remote.o.fetch", good[i], NULL);
        assert_found(w, "o", "u", "u");
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        git_ok(w->repo, "config", "remote.o.fetch", bad[i], NULL);
        assert_refused(w, "o", "writes to");
    }
}

static void knows_which_reference_follows_a_branch(void **state)
{
    static const struct {
        const char *refspec, *branch, *tracking;
    } rows[] = {
        { "+refs/heads/*:refs/remotes/o/*", "main", "refs/remotes/o/main" },
        { "+refs/heads/*:refs/remotes/o/*", "a/b", "refs/remotes/o/a/b" },
        { "refs/heads/main:refs/remotes/o/m", "main", "refs/remotes/o/m" },
        { "refs/heads/main:refs/remotes/o/m", "mains", NULL },
        { "refs/heads/r-*-x:refs/remotes/o/*", "r-1-x", "refs/remotes/o/1" },
        { "refs/heads/r-*-x:refs/remotes/o/*", "r-x", NULL },
        { "refs/heads/r*r:refs/remotes/o/*", "r", NULL },
        { "refs/tags/*:refs/tags/*", "main", NULL },
        { "refs/heads/main", "main", NULL },
        { "^refs/heads/main", "main", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct al_remote remote = AL_REMOTE_INIT;
        al_auto(al_freep) char *tracking = NULL;

        al_strv_add(&remote.refspecs, rows[i].refspec);
        tracking = al_remote_tracking(&remote, rows[i].branch);
        print_message("  %s %s\n", rows[i].refspec, rows[i].branch);
        if (rows[i].tracking)
            assert_string_equal(tracking, rows[i].tracking);
        else
            assert_null(tracking);
        al_remote_clear(&remote);
    }
}

static void has_a_largest_number_of_addresses(void **state)
{
    struct world *w = *state;

    for (int i = 0; i < AL_REMOTE_URLS_MAX; i++)
        git_ok(w->repo, "config", "--add", "remote.o.url", "u", NULL);
    assert_found(w, "o", "u", "u");
    git_ok(w->repo, "config", "--add", "remote.o.url", "u", NULL);
    assert_refused(w, "o", "more than");
}

static void has_a_largest_number_of_values(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (int i = 0; i < AL_REMOTE_VALUES_MAX; i++)
        al_str_adds(&text, i == 0 ? "[remote \"o\"]\n\turl = u\n" : "\ttagopt = x\n");
    tmpdir_write(w->repo, ".git/config", text.buf);
    assert_found(w, "o", "u", "u");
    al_str_adds(&text, "\ttagopt = x\n");
    tmpdir_write(w->repo, ".git/config", text.buf);
    assert_refused(w, "o", "more than");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(finds_remotes_by_any_name),
        WORLD_TEST(follows_the_persons_own_rewrites),
        WORLD_TEST(refuses_what_leads_elsewhere),
        WORLD_TEST(takes_refspecs_that_write_where_fetching_may),
        cmocka_unit_test(knows_which_reference_follows_a_branch),
        WORLD_TEST(has_a_largest_number_of_addresses),
        WORLD_TEST(has_a_largest_number_of_values),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/remotes", tests, NULL, NULL);
}
