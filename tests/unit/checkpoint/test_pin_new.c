// SPDX-License-Identifier: Apache-2.0
/* checkpoint/pin_new.h: new commits are packed whole, and without git. */
#include "checkpoint/pin_new.h"

#include "tests/unit/checkpoint/lib.h"

static char *rev(struct saver *s, const char *name)
{
    char *oid = git_output(s->w->repo, "rev-parse", name, NULL);

    oid[strcspn(oid, "\n")] = '\0';
    return oid;
}

/* Pack a revision that main does not reach; NULL: it is left to git. */
static char *pack(struct saver *s, const char *name)
{
    al_auto(al_tip_list_clear) struct al_tip_list wanted = { .list = AL_STRV_INIT };
    al_auto(al_tip_list_clear) struct al_tip_list references = { .list = AL_STRV_INIT };
    al_auto(al_freep) char *tip = rev(s, name);
    al_auto(al_freep) char *base = rev(s, "main");
    al_auto(al_pack_image_clear) struct al_pack_image image = AL_PACK_IMAGE_INIT;
    char packed[AL_OID_TEXT + 8];

    al_tip_list_add(&wanted, tip, s->store->sha256);
    al_tip_list_add(&references, base, s->store->sha256);
    assert_int_equal(al_pin_pack_new(s->store, &wanted, &references, &image, &s->w->err), 0);
    if (!image.pack.len)
        return NULL;
    al_pack_image_name(&image, s->store->sha256, packed);
    assert_int_equal(al_pack_image_write(&image, s->store->pack_fd, s->store->sha256, false, NULL),
                     0);
    return al_strdup(packed + strlen("pack-"));
}

/* Pack a revision, and assert that the store has all its objects that main has not. */
static void assert_packed(struct saver *s, const char *name)
{
    al_auto(al_freep) char *hash = pack(s, name);
    al_auto(al_freep) char *objects =
        git_output(s->w->repo, "rev-list", "--objects", "--no-object-names", name, "^main", NULL);
    al_auto(al_freep) char *index = al_asprintf("objects/pack/pack-%s.idx", hash ? hash : "");
    al_auto(al_freep) char *found = NULL;
    char *save = NULL;

    assert_non_null(hash);
    found = store_git(s, "verify-pack", "-v", index);
    for (char *oid = strtok_r(objects, "\n", &save); oid; oid = strtok_r(NULL, "\n", &save))
        assert_non_null(strstr(found, oid));
}

static void packs_an_entry_of_the_stash(void **state)
{
    struct saver *s = *state;

    tmpdir_write(s->w->repo, "dir/sub/b.txt", "b\n");
    tmpdir_write(s->w->repo, "dir/c.txt", "c\n");
    tmpdir_write(s->w->repo, "other/d.txt", "d\n");
    git_ok(s->w->repo, "add", "-A", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "more", NULL);
    for (int i = 0; i < 3; i++) {
        al_auto(al_freep) char *text = al_asprintf("%d\n", i);

        tmpdir_write(s->w->repo, "dir/sub/b.txt", text);
        if (i == 1) {
            git_ok(s->w->repo, "add", "-A", NULL);
            git_ok(s->w->repo, "rm", "-q", "-r", "other", NULL);
            tmpdir_write(s->w->repo, "other", "a file where a directory was\n");
            assert_int_equal(symlinkat("a.txt", s->w->repo->fd, "link"), 0);
            git_ok(s->w->repo, "add", "-A", NULL);
            tmpdir_write(s->w->repo, "dir/c.txt", "not staged\n");
        }
        tmpdir_write(s->w->repo, "untracked/e.txt", text);
        git_ok(s->w->repo, "stash", "push", "-q", i ? "--include-untracked" : "--", NULL);
        if (i == 2)
            git_ok(s->w->repo, "gc", "-q", NULL);
        assert_packed(s, "stash@{0}");
    }
}

static void packs_so_many_commits(void **state)
{
    struct saver *s = *state;

    git_ok(s->w->repo, "switch", "-q", "-c", "side", NULL);
    for (unsigned i = 1; i <= AL_PIN_COMMITS_MAX + 1; i++) {
        al_auto(al_freep) char *hash = NULL;

        git_ok(s->w->repo, "commit", "-q", "--allow-empty", "-m", "more", NULL);
        if (i >= AL_PIN_COMMITS_MAX - 1 && i <= AL_PIN_COMMITS_MAX) {
            assert_packed(s, "side");
        } else if (i > AL_PIN_COMMITS_MAX) {
            hash = pack(s, "side");
            assert_null(hash);
        }
    }
}

/* What is not there, or unreadable, is left to git. */
static void leaves_what_is_missing_to_git(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *blob = NULL;
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *hash = NULL;

    tmpdir_write(s->w->repo, "a.txt", "stashed\n");
    git_ok(s->w->repo, "stash", "push", "-q", NULL);
    blob = rev(s, "stash@{0}:a.txt");
    path = al_asprintf(".git/objects/%.2s/%s", blob, blob + 2);
    assert_int_equal(unlinkat(s->w->repo->fd, path, 0), 0);
    hash = pack(s, "stash@{0}");
    assert_null(hash);
    tmpdir_write(s->w->repo, path, "not an object");
    hash = pack(s, "stash@{0}");
    assert_null(hash);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(packs_an_entry_of_the_stash),
        SAVER_TEST(packs_so_many_commits),
        SAVER_TEST(leaves_what_is_missing_to_git),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/pin_new", tests, NULL, NULL);
}
