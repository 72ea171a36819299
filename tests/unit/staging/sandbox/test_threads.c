// SPDX-License-Identifier: Apache-2.0
/* staging/sandbox/sandbox.h from several threads at once: every reader sees a whole write. */
#include <pthread.h>
#include <stdio.h>

#include "tests/unit/staging/sandbox/sandbox_lib.h"

#define THREADS 4
#define ROUNDS  60

struct worker {
    struct box *box;
    unsigned number, torn;
};

static void check_content(struct worker *worker)
{
    al_auto(al_freep) char *text = box_read(worker->box, "dir/shared");

    for (const char *at = text; text && at[0] && at[1]; at++)
        worker->torn += at[0] != at[1];
}

/* Write, read, list, take a snapshot and remove, in the same places as the others. */
static void *work(void *payload)
{
    struct worker *worker = payload;
    struct al_sandbox *sandbox = worker->box->sandbox;
    char text[500], own[32];

    (void)snprintf(own, sizeof(own), "dir/own-%u", worker->number);
    memset(text, 'a' + (int)worker->number, sizeof(text));
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct al_sandbox_files files;
        al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
        size_t len = sizeof(text) - i;

        worker->torn += al_sandbox_write(sandbox, "dir/shared", text, len, NULL) < 0;
        worker->torn += al_sandbox_write(sandbox, own, text, len, NULL) < 0;
        check_content(worker);
        worker->torn += al_sandbox_list(sandbox, "", NULL, &paths, NULL) < 0;
        worker->torn += paths.count > THREADS + 1;
        if (i % 8 == 0 && al_sandbox_snapshot(sandbox, &files, NULL) == 0)
            al_sandbox_files_clear(&files);
        worker->torn += al_sandbox_remove(sandbox, own, NULL, NULL) < 0;
        (void)al_sandbox_remove(sandbox, "dir/shared", NULL, NULL);
    }
    return NULL;
}

static void gives_whole_files(void **state)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .box = *state, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].torn, 0);
    }
    assert_list(*state, "", NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = { IN_BOTH(gives_whole_files) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
