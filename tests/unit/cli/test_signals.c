// SPDX-License-Identifier: Apache-2.0
/* cli/signals.h: a signal ends the program orderly and does not touch a released session. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/signals.h"
#include "git/layer.h"
#include "tests/unit/git/lib.h"

/* The wait status of a process that handles signals for `setup` and gets SIGTERM.  `forgets`: it
 * calls al_signals_forget() first. */
static int end_by_signal(struct al_setup *setup, bool forgets)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        al_signals_handle(setup, NULL);
        if (forgets) {
            al_signals_forget();
            memset(setup, 0xff, sizeof(*setup)); /* as if released */
        }
        (void)kill(getpid(), SIGTERM);
        for (;;)
            (void)pause();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool has_private_files(const struct world *w)
{
    return access(w->git->private_dir, F_OK) == 0;
}

static void removes_private_files_when_a_signal_ends_it(void **state)
{
    struct world *w = *state;
    struct al_setup setup = { .session = { .git = w->git } };
    int status;

    assert_true(has_private_files(w));
    status = end_by_signal(&setup, false);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
    assert_false(has_private_files(w));
}

static void leaves_a_released_session_alone(void **state)
{
    struct world *w = *state;
    struct al_setup setup = { .session = { .git = w->git } };
    int status = end_by_signal(&setup, true);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
    assert_true(has_private_files(w));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(removes_private_files_when_a_signal_ends_it),
        WORLD_TEST(leaves_a_released_session_alone),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("cli/signals", tests, NULL, NULL);
}
