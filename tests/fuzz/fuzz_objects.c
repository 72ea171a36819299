// SPDX-License-Identifier: Apache-2.0
/* gitops/plumbing/: whatever packs, loose objects, deltas and trees contain,
 * what is told of them has the id that was asked for, and the names of a tree
 * are names. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/plumbing/delta.h"
#include "gitops/plumbing/object_reader.h"
#include "tests/fuzz/fuzz.h"
#include "util/fs.h"

#define IDS_AT    1032u
#define IDS_MAX   16u
#define MAX_BYTES (1u << 20)

/* A common directory, in memory where there is such a place. */
static char scratch[64];
static int common_fd = -1;

static void remove_scratch(void)
{
    al_close(common_fd);
    al_fs_remove_tree(scratch);
}

static void make_scratch(void)
{
    static const char *const directories[] = { "objects", "objects/pack", "objects/12" };

    (void)snprintf(scratch, sizeof(scratch), "%s/airlock-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    fuzz_require(mkdtemp(scratch) != NULL);
    (void)atexit(remove_scratch);
    common_fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < AL_COUNT(directories); i++)
        fuzz_require(mkdirat(common_fd, directories[i], 0700) == 0);
}

static void put(const char *name, const char *data, size_t len)
{
    al_auto(al_closep) int fd =
        openat(common_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    fuzz_require(fd >= 0 && al_write_all(fd, data, len) == 0);
}

static void check_object(const struct al_loose_object *object, const struct al_oid *oid,
                         bool sha256)
{
    struct al_oid found;

    al_oid_of(sha256, object->type, object->data, object->len, &found);
    fuzz_require(al_oid_equal(&found, oid) && object->len <= MAX_BYTES);
    fuzz_require(object->data[object->len] == '\0');
}

/* "<4 bytes: length of the index> <index> <pack>": ask for what the index
 * lists. */
static void check_pack(struct fuzz_input *input, bool sha256)
{
    al_auto(al_packed_files_clear) struct al_packed_files files = { .items = NULL };
    const size_t bytes = al_oid_bytes(sha256);
    size_t len = 0;

    for (int i = 0; i < 4; i++)
        len = len << 8 | fuzz_byte(input);
    len = len < input->len ? len : input->len;
    put("objects/pack/pack-1.idx", input->data, len);
    put("objects/pack/pack-1.pack", input->data + len, input->len - len);
    for (size_t i = 0; i < IDS_MAX && IDS_AT + (i + 1) * bytes <= len; i++) {
        al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
        struct al_oid oid = { .bytes = { 0 } };

        memcpy(oid.bytes, input->data + IDS_AT + i * bytes, bytes);
        if (al_packed_object_read(&files, common_fd, &oid, sha256, MAX_BYTES, &object))
            check_object(&object, &oid, sha256);
    }
}

static void check_loose(const struct fuzz_input *input, bool sha256)
{
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    struct al_oid oid = { .bytes = { 0x12 } };
    char text[AL_OID_TEXT], name[AL_OID_TEXT + 16];

    al_oid_text(&oid, sha256, text);
    (void)snprintf(name, sizeof(name), "objects/12/%s", text + 2);
    put(name, input->data, input->len);
    fuzz_require(!al_loose_object_read(common_fd, &oid, sha256, MAX_BYTES, &object));
    fuzz_require(unlinkat(common_fd, name, 0) == 0);
}

/* "<length of the base> <base> <delta>" */
static void check_delta(struct fuzz_input *input)
{
    const size_t want = fuzz_byte(input), len = want < input->len ? want : input->len;
    const struct fuzz_input first = { input->data, len };
    const struct fuzz_input rest = { input->data + len, input->len - len };
    al_auto(al_freep) char *base = fuzz_bytes(&first);
    al_auto(al_freep) char *bytes = fuzz_bytes(&rest);
    al_auto(al_freep) unsigned char *made = NULL;
    const struct al_delta delta = { (unsigned char *)bytes, rest.len };
    size_t made_len;

    if (al_delta_apply(&delta, (unsigned char *)base, len, MAX_BYTES, &made, &made_len))
        fuzz_require(made_len <= MAX_BYTES && made[made_len] == '\0');
}

static void check_tree(const struct fuzz_input *input, bool sha256)
{
    al_auto(al_freep) char *bytes = fuzz_bytes(input);
    const char *at = bytes, *end = bytes + input->len, *before = at;
    struct al_tree_item item;

    while (al_tree_item_next(&at, end, sha256, &item)) {
        fuzz_require(at > before && at <= end && item.name > before && item.name < at);
        fuzz_require(*item.name && !strchr(item.name, '/') && strcmp(item.name, "..") != 0);
        fuzz_require(item.mode >= 0040000 && item.mode <= 0177777);
        before = at;
    }
}

static void check_commit(const struct fuzz_input *input, bool sha256)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_freep) char *text = fuzz_string(input);
    const struct al_loose_object object = { AL_OBJECT_COMMIT, text, strlen(text), NULL };
    struct al_oid tree;

    if (al_loose_object_parse_commit(&object, sha256, &tree, &parents))
        fuzz_require(parents.count <= object.len / 48);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    const uint8_t kind = fuzz_byte(&input);
    const bool sha256 = kind & 0x80;

    if (common_fd < 0)
        make_scratch();
    switch ((kind & 0x7f) % 5) {
    case 0:
        check_pack(&input, sha256);
        break;
    case 1:
        check_loose(&input, sha256);
        break;
    case 2:
        check_delta(&input);
        break;
    case 3:
        check_tree(&input, sha256);
        break;
    default:
        check_commit(&input, sha256);
        break;
    }
    return 0;
}
