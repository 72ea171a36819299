// SPDX-License-Identifier: Apache-2.0
/* The calls that are running now. */
#include <errno.h>
#include <fcntl.h>

#include "history/journal.h"
#include "history/open_scan.h"

struct receiver {
    al_journal_running_fn *found;
    void *payload;
};

static int report_calls(void *payload, long pid, json_t *calls)
{
    const struct receiver *receiver = payload;
    const json_t *call;
    const char *key;

    json_object_foreach(calls, key, call)
    {
        receiver->found(receiver->payload, pid, call);
    }
    return 0;
}

int al_journal_running(const char *file, al_journal_running_fn *found, void *payload)
{
    al_auto(al_freep) char *dir = al_asprintf("%.*s/open", (int)(strrchr(file, '/') - file), file);
    al_auto(al_closep) int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct receiver receiver = { .found = found, .payload = payload };

    if (dir_fd < 0)
        return errno == ENOENT ? 0 : -errno;
    al_open_scan_running(dir_fd, report_calls, &receiver);
    return 0;
}
