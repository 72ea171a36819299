// SPDX-License-Identifier: Apache-2.0
/* git/repo/repo.h: whose repository it is, and which files an agent's words name. */
#include "git/command.h"
#include "git/repo/repo.h"
#include "guard/root.h"
#include "tests/unit/git/lib.h"
#include "verbs/porcelain/commit.h"

#define OTHER_UID 12345

/* What git is told for a word, NULL when it is refused (then w->err).  Caller frees. */
static char *spec_of(struct world *w, const struct al_repo *repo, const char *word)
{
    char *spec = NULL;
    int r;

    al_error_clear(&w->err);
    r = al_repo_pathspec(repo, "paths", word, &spec, &w->err);
    assert_int_equal(r, w->err.status);
    assert_true((r == 0) == (spec != NULL));
    return spec;
}

static void assert_spec(struct world *w, const char *dir, const char *word, const char *expected)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, dir);
    al_auto(al_freep) char *spec = spec_of(w, repo, word);

    if (!spec)
        print_message("# %s: %s\n", word, w->err.message);
    assert_non_null(spec);
    assert_string_equal(spec, expected);
}

static void assert_no_spec(struct world *w, const char *dir, const char *word, int status,
                           const char *message)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, dir);
    al_auto(al_freep) char *spec = spec_of(w, repo, word);

    assert_null(spec);
    assert_int_equal(w->err.status, status);
    assert_string_equal(w->err.message, message);
}

static const char *const odd_names[] = { "*.txt", ":c.txt", "[x]", "a\\b", "what?", ":(top)x" };

static void takes_names_of_existing_files_literally(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < COUNT(odd_names); i++) {
        al_auto(al_freep) char *expected = al_asprintf(":(literal)%s", odd_names[i]);

        tmpdir_write(w->repo, odd_names[i], "x\n");
        assert_spec(w, "repo", odd_names[i], expected);
    }
    assert_spec(w, "repo", "a.txt", "a.txt");
    tmpdir_mkdir(w->repo, "dir*");
    assert_spec(w, "repo", "dir*", ":(literal)dir*");
}

static void takes_names_of_deleted_but_tracked_files_literally(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < COUNT(odd_names); i++) {
        al_auto(al_freep) char *expected = al_asprintf(":(literal)%s", odd_names[i]);
        al_auto(al_freep) char *literal = al_strdup(expected);

        tmpdir_write(w->repo, odd_names[i], "x\n");
        git_ok(w->repo, "add", "--", literal, NULL);
        assert_int_equal(unlinkat(w->repo->fd, odd_names[i], 0), 0);
        assert_spec(w, "repo", odd_names[i], expected);
    }
}

static void takes_a_dangling_link_literally(void **state)
{
    struct world *w = *state;

    tmpdir_symlink(w->repo, "absent", "l*nk");
    assert_spec(w, "repo", "l*nk", ":(literal)l*nk");
}

static void keeps_patterns_that_name_no_file(void **state)
{
    struct world *w = *state;

    assert_spec(w, "repo", "*.txt", "*.txt");
    assert_spec(w, "repo", "src/[ab]?.c", "src/[ab]?.c");
    assert_spec(w, "repo", "absent.txt", "absent.txt"); /* git says what is wrong with it */
}

static void looks_from_the_working_directory(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "deep/*.c", "x\n");
    assert_spec(w, "repo/deep", "*.c", ":(literal)*.c");
    assert_spec(w, "repo", "*.c", "*.c");
    git_ok(w->repo, "add", "deep", NULL);
    assert_int_equal(unlinkat(w->repo->fd, "deep/*.c", 0), 0);
    assert_spec(w, "repo/deep", "*.c", ":(literal)*.c");
    assert_spec(w, "repo", "*.c", "*.c");
}

static void refuses_pathspec_magic(void **state)
{
    struct world *w = *state;
    static const char *const words[] = { ":/", ":!a.txt", ":(glob)**", ":(exclude)a.txt",
                                         ":",  ":^a.txt", "::" };

    for (size_t i = 0; i < COUNT(words); i++)
        assert_no_spec(w, "repo", words[i], AL_ERR_BAD_ARGS,
                       "paths must not begin with ':' (pathspec magic)");
}

static void refuses_words_that_lead_out_of_the_roots(void **state)
{
    struct world *w = *state;
    static const char *const words[] = { "..",  "../x",        "deep/../a.txt", "/etc/passwd",
                                         "out", "out/file",    "absolute",      "dangling",
                                         "/",   "repo/../../x" };

    tmpdir_write(w->outside, "file", "secret\n");
    tmpdir_symlink(w->repo, "../../outside", "out");
    tmpdir_symlink(w->repo, "/etc/passwd", "absolute");
    tmpdir_symlink(w->repo, "../../outside/absent", "dangling");
    for (size_t i = 0; i < COUNT(words); i++) {
        al_auto(al_freep) char *message = al_asprintf("Path outside sandbox: %s", words[i]);

        assert_no_spec(w, "repo", words[i], AL_ERR_SANDBOX, message);
    }
    assert_no_spec(w, "repo", "", AL_ERR_BAD_ARGS, "path is empty");
}

static void refuses_words_that_lead_out_of_this_working_tree(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *sibling = tmpdir_path(w->root, "repo2/x");
    al_auto(al_freep) char *message = al_asprintf("paths: '%s' is outside the repository", sibling);
    al_auto(al_freep) char *root =
        al_asprintf("paths: '%s' is outside the repository", w->root->path);

    tmpdir_write(w->root, "repo2/x", "x\n");
    tmpdir_symlink(w->repo, "../repo2", "link");
    assert_no_spec(w, "repo", sibling, AL_ERR_BAD_ARGS, message);
    assert_no_spec(w, "repo", w->root->path, AL_ERR_BAD_ARGS, root);
    assert_no_spec(w, "repo", "link", AL_ERR_BAD_ARGS, "paths: 'link' is outside the repository");
    assert_no_spec(w, "repo", "link/x", AL_ERR_BAD_ARGS,
                   "paths: 'link/x' is outside the repository");
}

/* Given as absolute words: below <root> and with what git has to be told, below <root> too. */
static void assert_absolute(struct world *w, const char *name, const char *magic,
                            const char *expected)
{
    al_auto(al_freep) char *word = al_asprintf("%s/%s", w->root->path, name);
    al_auto(al_freep) char *spec = al_asprintf("%s%s/%s", magic, w->root->path, expected);

    assert_spec(w, "repo", word, spec);
    assert_spec(w, "repo/deep", word, spec);
}

static void takes_absolute_words(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "deep/*", "x\n");
    assert_absolute(w, "repo/a.txt", "", "repo/a.txt");
    assert_absolute(w, "repo", "", "repo");
    assert_absolute(w, "repo/deep", "", "repo/deep");
    assert_absolute(w, "repo/deep/*", ":(literal)", "repo/deep/*");
    assert_absolute(w, "repo/*.txt", "", "repo/*.txt");
    assert_absolute(w, "repo/absent/x", "", "repo/absent/x");
}

static void never_widens_an_absolute_word(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, "deep/x", "x\n");
    tmpdir_symlink(w->root, "repo/deep", "to-deep");
    tmpdir_symlink(w->root, "repo/a.txt", "to-a");
    assert_absolute(w, "repo/deep/", "", "repo/deep");
    assert_absolute(w, "repo/deep//", "", "repo/deep");
    assert_absolute(w, "to-deep", "", "repo/deep");
    assert_absolute(w, "to-deep/x", "", "repo/deep/x");
    assert_absolute(w, "to-a", "", "repo/a.txt");
    assert_absolute(w, "repo/", "", "repo");
}

static void keeps_a_link_itself(void **state)
{
    struct world *w = *state;

    tmpdir_mkdir(w->repo, "deep");
    tmpdir_symlink(w->repo, "a.txt", "link");
    assert_spec(w, "repo", "link", "link");
    assert_absolute(w, "repo/link", "", "repo/link");
}

static void stages_what_was_named_and_nothing_else(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    struct al_add_options options = { .mode = AL_ADD_PATHS, .paths = &paths };
    al_auto(al_freep) char *status = NULL;

    tmpdir_write(w->repo, "*.txt", "x\n");
    tmpdir_write(w->repo, "b.txt", "x\n");
    tmpdir_write(w->repo, "deep/c.txt", "x\n");
    tmpdir_write(w->repo, "d.txt", "x\n");
    al_strv_add(&paths, "*.txt");
    al_strv_addf(&paths, "%s/deep/", w->repo->path);
    repo = must_open(w, "repo");
    assert_int_equal(al_git_add(repo, &options, 1u << 20, &output, NULL), 0);
    status = status_text(repo);
    assert_string_equal(status, "A  *.txt\nA  deep/c.txt\n?? b.txt\n?? d.txt\n");
}

static void give_to(struct world *w, const char *name, uid_t uid)
{
    assert_int_equal(fchownat(w->repo->fd, name, uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW), 0);
}

static void skip_unless_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("# skipped: only root can give a file away\n");
    skip();
}

static void assert_foreign(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = try_open(w, "repo");

    assert_null(repo);
    assert_int_equal(w->err.status, AL_ERR_SANDBOX);
    assert_non_null(strstr(w->err.message, "'repo' belongs to another user (uid "));
    assert_non_null(strstr(w->err.message, "safe.directory /"));
}

static void assert_trusted(struct world *w)
{
    al_auto(repo_freep) al_unused struct al_repo *repo = must_open(w, "repo");
}

static void refuses_a_repository_of_another_user(void **state)
{
    struct world *w = *state;

    skip_unless_root();
    assert_trusted(w);
    give_to(w, ".", OTHER_UID);
    assert_foreign(w);
    give_to(w, ".", 0);
    assert_trusted(w);
    give_to(w, ".git", OTHER_UID);
    assert_foreign(w);
}

static void refuses_a_foreign_git_directory_behind_an_own_gitfile(void **state)
{
    struct world *w = *state;

    skip_unless_root();
    assert_int_equal(renameat(w->repo->fd, ".git", w->repo->fd, "real.git"), 0);
    tmpdir_write(w->repo, ".git", "gitdir: real.git\n");
    assert_trusted(w);
    give_to(w, "real.git", OTHER_UID);
    assert_foreign(w);
    give_to(w, "real.git", 0);
    give_to(w, ".git", OTHER_UID);
    assert_foreign(w);
}

/* The home's configuration with these safe.directory values, one a line. */
static void declare_safe(struct world *w, const char *const *values)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, "[safe]\n");
    for (; *values; values++)
        al_str_addf(&text, "\tdirectory = \"%s\"\n", *values);
    tmpdir_write(w->home, ".gitconfig", text.buf);
}

static void believes_the_persons_safe_directory(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *below = al_asprintf("%s/*", w->root->path);
    al_auto(al_freep) char *above = al_asprintf("%s/*", w->place->path);

    skip_unless_root();
    give_to(w, ".git", OTHER_UID);
    assert_foreign(w);
    declare_safe(w, (const char *[]){ w->repo->path, NULL });
    assert_trusted(w);
    declare_safe(w, (const char *[]){ "/elsewhere", "*", NULL });
    assert_trusted(w);
    declare_safe(w, (const char *[]){ below, NULL });
    assert_trusted(w);
    declare_safe(w, (const char *[]){ above, NULL });
    assert_trusted(w);
}

static void expands_the_home_in_a_safe_directory(void **state)
{
    static const struct {
        const char *value;
        bool trusted;
    } cases[] = {
        { "~/root/repo", true }, { "~/root/*", true },    { "~/*", true }, { "~/root", false },
        { "~/repo", false },     { "~root/repo", false }, { "~", false },
    };
    struct world *w = *state;
    struct tmpdir *home = w->home;

    skip_unless_root();
    give_to(w, ".git", OTHER_UID);
    w->home = w->place; /* so that the repository lies below it */
    world_start_git(w);
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("  %s\n", cases[i].value);
        declare_safe(w, (const char *[]){ cases[i].value, NULL });
        if (cases[i].trusted)
            assert_trusted(w);
        else
            assert_foreign(w);
    }
    w->home = home;
}

static void believes_no_other_safe_directory(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *itself = al_asprintf("%s/*", w->repo->path);
    al_auto(al_freep) char *longer = al_asprintf("%sx", w->repo->path);
    al_auto(al_freep) char *part = al_asprintf("%s/re*", w->root->path);
    const char *const lists[][4] = {
        { w->root->path, NULL },          /* a parent, without the star */
        { itself, NULL },                 /* only what lies below */
        { longer, NULL },                 /* a neighbour */
        { part, NULL },                   /* no pattern but the one at the end */
        { "", "/", "**", NULL },          /* nothing of the kind */
        { "*", w->repo->path, "", NULL }, /* an empty value takes back the earlier ones */
    };

    skip_unless_root();
    give_to(w, ".git", OTHER_UID);
    for (size_t i = 0; i < COUNT(lists); i++) {
        declare_safe(w, lists[i]);
        assert_foreign(w);
    }
}

static void never_believes_the_repositorys_own_safe_directory(void **state)
{
    struct world *w = *state;

    skip_unless_root();
    git_ok(w->repo, "config", "safe.directory", "*", NULL);
    give_to(w, ".git", OTHER_UID);
    assert_foreign(w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(takes_names_of_existing_files_literally),
        WORLD_TEST(takes_names_of_deleted_but_tracked_files_literally),
        WORLD_TEST(takes_a_dangling_link_literally),
        WORLD_TEST(keeps_patterns_that_name_no_file),
        WORLD_TEST(looks_from_the_working_directory),
        WORLD_TEST(refuses_pathspec_magic),
        WORLD_TEST(refuses_words_that_lead_out_of_the_roots),
        WORLD_TEST(refuses_words_that_lead_out_of_this_working_tree),
        WORLD_TEST(takes_absolute_words),
        WORLD_TEST(never_widens_an_absolute_word),
        WORLD_TEST(keeps_a_link_itself),
        WORLD_TEST(stages_what_was_named_and_nothing_else),
        WORLD_TEST(refuses_a_repository_of_another_user),
        WORLD_TEST(refuses_a_foreign_git_directory_behind_an_own_gitfile),
        WORLD_TEST(believes_the_persons_safe_directory),
        WORLD_TEST(expands_the_home_in_a_safe_directory),
        WORLD_TEST(believes_no_other_safe_directory),
        WORLD_TEST(never_believes_the_repositorys_own_safe_directory),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/repo", tests, NULL, NULL);
}
