// SPDX-License-Identifier: Apache-2.0
/* git/plumbing/index_scan.h: any index is read to its end or refused, the same by each reader.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "git/plumbing/index_scan.h"
#include "tests/fuzz/fuzz.h"

struct seen {
    struct al_str names;
    uint32_t count;
};

static int file_of(const void *data, size_t size)
{
    int fd = memfd_create("index", MFD_CLOEXEC);

    fuzz_require(fd >= 0 && al_write_all(fd, data, size) == 0);
    return fd;
}

static bool note(void *payload, const struct al_index_entry *entry)
{
    struct seen *seen = payload;

    fuzz_require(*entry->name != '\0' && entry->stage <= 3);
    al_str_add(&seen->names, entry->name, strlen(entry->name) + 1);
    seen->count++;
    return true;
}

static void check(const struct fuzz_input *input, size_t oid_bytes)
{
    al_auto(al_closep) int fd = file_of(input->data, input->len);
    struct seen file = { .names = AL_STR_INIT }, memory = { .names = AL_STR_INIT };
    struct al_index_scan in;
    struct al_index_entry entry;
    const enum al_index_end end = al_index_read(fd, oid_bytes, note, &file);

    al_index_begin_bytes(&in, input->data, input->len, oid_bytes);
    while (al_index_next(&in, &entry))
        (void)note(&memory, &entry);
    fuzz_require(al_index_end(&in) == end);
    fuzz_require(file.count == memory.count && file.names.len == memory.names.len);
    fuzz_require(!file.names.len || !memcmp(file.names.buf, memory.names.buf, file.names.len));
    al_str_clear(&file.names);
    al_str_clear(&memory.names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fuzz_input input = { (const char *)data, size };

    check(&input, 20);
    check(&input, 32);
    return 0;
}
