// SPDX-License-Identifier: Apache-2.0
/* git/vet/config_list.h: the listing of a configuration is read as git means it, in any pieces.
 */
#include "git/vet/config_list.h"

#include "base/fs.h"
#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"

#define TOKEN_LIMIT (64u * 1024u)

/* Every entry as "R|origin|key=[value];", R or P for whose it is. */
static void take(void *payload, const struct al_config_entry *entry)
{
    al_str_addf(payload, "%c|%s|%s=[%s];", entry->of_repository ? 'R' : 'P',
                entry->origin ? entry->origin : "-", entry->key, entry->value);
}

static char *feed_split(const char *data, size_t len, size_t split)
{
    struct al_str seen = AL_STR_INIT;
    al_auto(al_config_list_clear) struct al_config_list list = AL_CONFIG_LIST_INIT(take, &seen);

    assert_true(al_config_list_add(&list, data, split));
    assert_true(al_config_list_add(&list, data + split, len - split));
    return al_str_detach(&seen);
}

static void reads_the_same_entries_at_every_split_point(void **state)
{
    static const char data[] = "system\0file:/etc/gitconfig\0a.b\n1\0"
                               "global\0file:/h/.gitconfig\0alias.x\nline one\nline two\n\0"
                               "local\0file:.git/config\0core.bare\0"
                               "worktree\0file:w\0filter.A=b.clean\n\0"
                               "command\0command line:\0k.v\nx";

    (void)state;
    for (size_t split = 0; split < sizeof(data); split++) {
        al_auto(al_freep) char *seen = feed_split(data, sizeof(data), split);

        assert_string_equal(seen, "P|/etc/gitconfig|a.b=[1];"
                                  "P|/h/.gitconfig|alias.x=[line one\nline two\n];"
                                  "R|.git/config|core.bare=[true];"
                                  "R|w|filter.A=b.clean=[];"
                                  "P|-|k.v=[x];");
    }
}

static void takes_nothing_from_an_unfinished_entry(void **state)
{
    static const char data[] = "local\0file:x\0core.bare\ntrue";
    al_auto(al_freep) char *seen = feed_split(data, sizeof(data) - 1, 0);

    (void)state;
    assert_string_equal(seen, "");
}

/* Length of the value that is kept of one of `given` bytes; the key is "k.v". */
static size_t value_kept(size_t given)
{
    static const char head[] = "local\0file:x\0k.v\n";
    static const char tail[] = "\0local\0file:x\0n.w\nshort";
    al_auto(al_str_clear) struct al_str data = AL_STR_INIT;
    al_auto(al_freep) char *seen = NULL;

    al_str_add(&data, head, sizeof(head) - 1);
    for (size_t i = 0; i < given; i++)
        al_str_addc(&data, 'x');
    al_str_add(&data, tail, sizeof(tail)); /* its NUL ends the entry */
    seen = feed_split(data.buf, data.len, data.len / 2);
    assert_true(al_ends_with(seen, "R|x|n.w=[short];")); /* the next entry is whole */
    return strlen(seen) - strlen("R|x|k.v=[];R|x|n.w=[short];");
}

static void cuts_a_value_at_the_limit(void **state)
{
    const size_t room = TOKEN_LIMIT - strlen("k.v\n");

    (void)state;
    assert_int_equal(value_kept(room - 1), room - 1);
    assert_int_equal(value_kept(room), room);
    assert_int_equal(value_kept(room + 1), room);
    assert_int_equal(value_kept(3 * room), room);
}

static void reads_what_git_writes(void **state)
{
    struct tmpdir *home = tmpdir_new(), *repo = tmpdir_new();
    al_auto(al_freep) char *file = tmpdir_path(repo, "listing");
    al_auto(al_freep) char *alias =
        al_asprintf("alias.list=!git config --list -z --show-scope --show-origin >'%s'", file);
    al_auto(al_str_clear) struct al_str listing = AL_STR_INIT;
    al_auto(al_freep) char *seen = NULL;

    (void)state;
    git_fixture_environment(home);
    tmpdir_write(home, ".gitconfig", "[user]\n\tname = Some One\n");
    git_fixture_init(repo);
    tmpdir_write(repo, ".git/config", "[Core]\n\tBare\n[Filter \"A.b=C\"]\n\tCLEAN = x\\ny\n");
    git_ok(repo, "-c", alias, "list", NULL);
    assert_int_equal(al_fs_read(repo->fd, "listing", 1u << 20, &listing), 0);
    seen = feed_split(listing.buf, listing.len, 0);
    assert_non_null(strstr(seen, "/.gitconfig|user.name=[Some One];"));
    assert_non_null(strstr(seen, "|core.bare=[true];R|.git/config|filter.A.b=C.clean=[x\ny];"));
    assert_non_null(strstr(seen, "P|-|alias.list=[")); /* given on the command line */
    tmpdir_free(repo);
    tmpdir_free(home);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_same_entries_at_every_split_point),
        cmocka_unit_test(takes_nothing_from_an_unfinished_entry),
        cmocka_unit_test(cuts_a_value_at_the_limit),
        cmocka_unit_test(reads_what_git_writes),
    };

    return cmocka_run_group_tests_name("gitops/configlist", tests, NULL, NULL);
}
