// SPDX-License-Identifier: Apache-2.0
/* staging/push/worktree.c: files that get in the way between the look and the merge. */
#include "git/run.h"
#include "tests/unit/staging/push/lib.h"

/* What a user writes just before git merges: one name for each attempt, or all of them at once. */
static struct {
    struct tmpdir *repo;
    const char *names[32];
    size_t next;
    bool at_once;
} user;

int __real_al_git_write(const struct al_location *at, struct al_git_command *command,
                        unsigned locks, struct al_error *err);
int __wrap_al_git_write(const struct al_location *at, struct al_git_command *command,
                        unsigned locks, struct al_error *err);

int __wrap_al_git_write(const struct al_location *at, struct al_git_command *command,
                        unsigned locks, struct al_error *err)
{
    if (al_strv_contains(&command->argv, "read-tree") && al_strv_contains(&command->argv, "-u"))
        while (user.names[user.next]) {
            tmpdir_write(user.repo, user.names[user.next++], "mine\n");
            if (!user.at_once)
                break;
        }
    return __real_al_git_write(at, command, locks, err);
}

static void begin(struct stager *s)
{
    memset(&user, 0, sizeof(user));
    user.repo = s->w->repo;
}

static void assert_text(const struct stager *s, const char *name, const char *wanted)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    assert_int_equal(al_fs_read(s->w->repo->fd, name, 1000, &text), 0);
    assert_string_equal(text.buf, wanted);
}

/* The index is as the new commit. */
static void assert_entries_follow(const struct stager *s)
{
    al_auto(al_freep) char *changed =
        git_output(s->w->repo, "diff", "--cached", "--name-only", NULL);

    assert_string_equal(changed, "");
}

static void only_the_new_file_is_left(void **state)
{
    struct stager *s = *state;
    al_auto(al_freep) char *notes = NULL;

    begin(s);
    user.names[0] = "f1";
    stage_many(s, "f", 3);
    notes = push_last(s);
    assert_text(s, "f0", "f0");
    assert_text(s, "f1", "mine\n");
    assert_text(s, "f2", "f2");
    assert_entries_follow(s);
    assert_non_null(strstr(notes, "left as they are: f1\n"));
    assert_null(strstr(notes, "git would not"));
}

static void only_the_modified_file_is_left(void **state)
{
    struct stager *s = *state;
    al_auto(al_freep) char *notes = NULL;

    begin(s);
    user.names[0] = "a.txt";
    put(s, "a.txt", "pushed\n");
    put(s, "b.txt", "pushed\n");
    stage(s, "/workspace", "x");
    notes = push_last(s);
    assert_text(s, "a.txt", "mine\n");
    assert_text(s, "b.txt", "pushed\n");
    assert_entries_follow(s);
    assert_non_null(strstr(notes, "left as they are: a.txt\n"));
}

static void each_of_several_is_left(void **state)
{
    struct stager *s = *state;

    for (int at_once = 0; at_once < 2; at_once++) {
        al_auto(al_freep) char *prefix = al_asprintf("%d' ", at_once);
        al_auto(al_freep) char *one = al_asprintf("%s1", prefix);
        al_auto(al_freep) char *three = al_asprintf("%s3", prefix);
        al_auto(al_freep) char *notes = NULL, *named = al_asprintf("are: %s, %s\n", one, three);

        begin(s);
        user.names[0] = one;
        user.names[1] = three;
        user.at_once = at_once;
        for (int i = 0; i < 4; i++) {
            al_auto(al_freep) char *name = al_asprintf("%s%d", prefix, i);

            put(s, name, "pushed\n");
        }
        stage(s, "/workspace", "x");
        notes = push_last(s);
        assert_text(s, one, "mine\n");
        assert_text(s, three, "mine\n");
        assert_entries_follow(s);
        assert_non_null(strstr(notes, named));
        free(al_take(&named));
    }
}

/* A user who is always faster: nothing is overwritten, and the attempts end. */
static void attempts_end(void **state)
{
    struct stager *s = *state;
    al_auto(al_freep) char *notes = NULL;
    char names[31][8];

    begin(s);
    for (int i = 0; i < 31; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "f%d", i);
        user.names[i] = names[i];
    }
    stage_many(s, "f", 31);
    notes = push_last(s);
    assert_true(user.next < 31);
    for (size_t i = 0; i < user.next; i++)
        assert_text(s, names[i], "mine\n");
    assert_entries_follow(s);
    assert_non_null(strstr(notes, "git would not change the files"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        STAGER_TEST(only_the_new_file_is_left),
        STAGER_TEST(only_the_modified_file_is_left),
        STAGER_TEST(each_of_several_is_left),
        STAGER_TEST(attempts_end),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/push/worktree", tests, NULL, NULL);
}
