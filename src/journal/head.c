// SPDX-License-Identifier: Apache-2.0
#include "journal/head.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/log.h"

#define KEY_BYTES 32

/* "seq size mac next mac-of-these\n" */
#define NUMBER_DIGITS 20
#define SIGNED_BYTES  (2 * (NUMBER_DIGITS + 1) + 2 * (AL_MAC_HEX + 1))
#define HEAD_BYTES    (SIGNED_BYTES + AL_MAC_HEX + 1)

const char al_mac_none[AL_MAC_HEX + 1] =
    "0000000000000000000000000000000000000000000000000000000000000000";

static int create_key(int dir_fd, const char *name, struct al_error *err)
{
    unsigned char bytes[KEY_BYTES];
    int r;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return al_error_errno(err, errno, "cannot make a key for the journal");
    r = al_fs_write_beside(dir_fd, name, bytes, sizeof(bytes), 0600, false);
    explicit_bzero(bytes, sizeof(bytes));
    if (r < 0 && r != -EEXIST) /* somebody else's is as good */
        return al_error_errno(err, -r, "cannot create the journal's key '%s'", name);
    return 0;
}

int al_key_load(int dir_fd, const char *name, bool create, struct al_key *ret_key,
                struct al_error *err)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    int r;

    r = al_fs_read(dir_fd, name, KEY_BYTES, &bytes);
    if (r == -ENOENT && create) {
        r = create_key(dir_fd, name, err);
        if (r < 0)
            return r;
        r = al_fs_read(dir_fd, name, KEY_BYTES, &bytes);
    }
    if (r == -ENOENT)
        return al_error_set(err, AL_ERR_NOT_FOUND, "the journal's key '%s' is missing", name);
    if (r == -EFBIG || (r == 0 && bytes.len != KEY_BYTES))
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is not a key of a journal", name);
    if (r < 0)
        return al_error_errno(err, -r, "cannot read the journal's key '%s'", name);
    hmac_sha256_set_key(&ret_key->ctx, bytes.len, (const uint8_t *)bytes.buf);
    explicit_bzero(bytes.buf, bytes.len);
    return 0;
}

void al_key_mac(const struct al_key *key, const void *data, size_t len,
                char ret_hex[AL_MAC_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    struct hmac_sha256_ctx ctx = key->ctx;
    uint8_t mac[SHA256_DIGEST_SIZE];

    hmac_sha256_update(&ctx, len, data);
    hmac_sha256_digest(&ctx, sizeof(mac), mac);
    for (size_t i = 0; i < sizeof(mac); i++) {
        ret_hex[2 * i] = digits[mac[i] >> 4];
        ret_hex[2 * i + 1] = digits[mac[i] & 15];
    }
    ret_hex[AL_MAC_HEX] = '\0';
}

struct al_head al_head_empty(void)
{
    struct al_head head = { .seq = 0 };

    memcpy(head.mac, al_mac_none, sizeof(head.mac));
    memcpy(head.next, al_mac_none, sizeof(head.next));
    return head;
}

static void format(const struct al_key *key, const struct al_head *head, char text[HEAD_BYTES + 1])
{
    char mac[AL_MAC_HEX + 1];

    (void)snprintf(text, SIGNED_BYTES + 1, "%020" PRIu64 " %020" PRIu64 " %s %s ", head->seq,
                   head->size, head->mac, head->next);
    al_key_mac(key, text, SIGNED_BYTES, mac);
    (void)snprintf(text + SIGNED_BYTES, AL_MAC_HEX + 2, "%s\n", mac);
}

int al_head_read(int fd, const struct al_key *key, struct al_head *ret_head,
                 enum al_head_found *ret_found)
{
    char text[HEAD_BYTES + 1], mac[AL_MAC_HEX + 1];
    ssize_t n;

    *ret_head = al_head_empty();
    do
        n = pread(fd, text, sizeof(text), 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    *ret_found = n ? AL_HEAD_BAD : AL_HEAD_EMPTY;
    if (n != HEAD_BYTES)
        return 0;
    text[HEAD_BYTES] = '\0';
    al_key_mac(key, text, SIGNED_BYTES, mac);
    if (memcmp(text + SIGNED_BYTES, mac, AL_MAC_HEX))
        return 0;
    /* From here on it is known to be of al_head_write()'s making. */
    if (sscanf(text, "%20" SCNu64 " %20" SCNu64 " %64s %64s", &ret_head->seq, &ret_head->size,
               ret_head->mac, ret_head->next) != 4)
        return -EINVAL;
    *ret_found = AL_HEAD_GOOD;
    return 0;
}

int al_head_write(int fd, const struct al_key *key, const struct al_head *head)
{
    char text[HEAD_BYTES + 1];
    ssize_t n;

    format(key, head, text);
    do
        n = pwrite(fd, text, HEAD_BYTES, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return n == HEAD_BYTES ? 0 : -ENOSPC;
}

char *al_journal_beside(const char *file, const char *suffix)
{
    size_t len = strlen(file);

    if (al_ends_with(file, ".jsonl"))
        len -= strlen(".jsonl");
    return al_asprintf("%.*s%s", (int)len, file, suffix);
}
