// SPDX-License-Identifier: Apache-2.0
/* journal/checkpoint.h: what is taken is all there is, byte for byte, and nothing else changes. */
#include "journal/checkpoint.h"

#include "test_checkpoint_lib.h"

static void takes_every_kind_of_file(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *listing = NULL;

    tmpdir_write(s->w->repo, "new.txt", "new\n");
    tmpdir_write(s->w->repo, "dir/sub/deep.txt", "deep\n");
    tmpdir_symlink(s->w->repo, "/etc/passwd", "link");
    tmpdir_write(s->w->repo, "run.sh", "#!/bin/sh\n");
    assert_int_equal(fchmodat(s->w->repo->fd, "run.sh", 0755, 0), 0);
    take(s, NULL);
    listing = store_git(s, "ls-tree", "-r", "--name-only", s->id, "worktree");
    assert_string_equal(listing, "worktree/a.txt\nworktree/dir/sub/deep.txt\nworktree/link\n"
                                 "worktree/new.txt\nworktree/run.sh\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(takes_every_kind_of_file),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("journal/checkpoint", tests, NULL, NULL);
}
