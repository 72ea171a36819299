// SPDX-License-Identifier: Apache-2.0
/* gitops/index/: a copy of any index has its entries and no extension that is not kept; what is
 * taken from an earlier index is stat data alone. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/index/index_copy.h"
#include "gitops/index/index_stats.h"
#include "gitops/plumbing/index_scan.h"
#include "tests/fuzz/fuzz.h"
#include "util/fs.h"
#include "util/mem.h"

static int file_of(const void *data, size_t size)
{
    int fd = memfd_create("index", MFD_CLOEXEC);

    fuzz_require(fd >= 0 && al_write_all(fd, data, size) == 0);
    return fd;
}

/* Everything but the stat data, entry by entry. */
static struct al_str entries_of(int fd, bool sha256, uint32_t expected)
{
    struct al_str out = AL_STR_INIT;
    uint32_t count = 0, seen = 0;
    al_auto(al_index_cursor_freep) struct al_index_cursor *cursor =
        al_index_cursor_new(fd, sha256 ? 32 : 20, &count);
    struct al_index_entry entry;

    fuzz_require(cursor && count == expected);
    for (; al_index_cursor_next(cursor, &entry, NULL); seen++) {
        al_str_add(&out, (const char *)entry.oid, sha256 ? 32 : 20);
        al_str_addf(&out, " %o %u %d %d %u ", (unsigned)entry.mode, entry.stage,
                    entry.skip_worktree, entry.intent_to_add, entry.mode);
        al_str_add(&out, entry.name, strlen(entry.name) + 1);
    }
    fuzz_require(seen == count);
    return out;
}

static void require_same(const struct al_str *a, const struct al_str *b)
{
    fuzz_require(a->len == b->len && (!a->len || !memcmp(a->buf, b->buf, a->len)));
}

/* A copy of the copy is the same one. */
static void require_fixed(int fd, bool sha256, uint32_t entries)
{
    al_auto(al_closep) int again = file_of("", 0);
    al_auto(al_str_clear) struct al_str one = AL_STR_INIT, two = AL_STR_INIT;
    uint32_t count;

    fuzz_require(al_index_copy(fd, again, sha256, &count) == 0 && count == entries);
    fuzz_require(al_fs_read_fd(fd, 1u << 24, &one) == 0);
    fuzz_require(al_fs_read_fd(again, 1u << 24, &two) == 0);
    require_same(&one, &two);
}

static void check(int from, int earlier, bool sha256)
{
    al_auto(al_closep) int copy = file_of("", 0);
    al_auto(al_str_clear) struct al_str before = AL_STR_INIT, after = AL_STR_INIT;
    uint32_t entries;
    int r = al_index_copy(from, copy, sha256, &entries);

    fuzz_require(r == 0 || r == -ENOTSUP);
    if (r < 0)
        return;
    require_fixed(copy, sha256, entries);
    before = entries_of(copy, sha256, entries);
    fuzz_require(al_index_set_stats(copy, earlier, sha256) == 0);
    after = entries_of(copy, sha256, entries);
    require_same(&before, &after);
    require_fixed(copy, sha256, entries);
}

/* The first byte says where the earlier index ends and the later one begins. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    const size_t parts = fuzz_byte(&input);
    const size_t first = input.len * parts / 255;
    al_auto(al_closep) int earlier = file_of(input.data, first);
    al_auto(al_closep) int later = file_of(input.data + first, input.len - first);

    check(later, earlier, false);
    check(later, earlier, true);
    check(later, -1, false);
    return 0;
}
