// SPDX-License-Identifier: Apache-2.0
#include "history/head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/log.h"

#define KEY_BYTES 32

/* The format is "seq size mac next mac-of-these\n".  These are the offsets of its fields. */
#define NUMBER_DIGITS 20
#define SIZE_AT       (NUMBER_DIGITS + 1)
#define MAC_AT        (SIZE_AT + NUMBER_DIGITS + 1)
#define NEXT_AT       (MAC_AT + AL_MAC_HEX + 1)
#define SIGNED_BYTES  (NEXT_AT + AL_MAC_HEX + 1)
_Static_assert(AL_HEAD_BYTES == SIGNED_BYTES + AL_MAC_HEX + 1, "the head has five members");

const char al_mac_none[AL_MAC_HEX + 1] =
    "0000000000000000000000000000000000000000000000000000000000000000";

/* Without its key no line could be verified any more.  0 or -errno. */
static int sync_key(int dir_fd, const char *name)
{
    al_auto(al_closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    return fd < 0 || fsync(fd) < 0 || fsync(dir_fd) < 0 ? -errno : 0;
}

static int create_key(int dir_fd, const char *name, struct al_error *err)
{
    unsigned char bytes[KEY_BYTES];
    int r;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return al_error_errno(err, errno, "cannot make a key for the journal");
    r = al_fs_write_atomic(dir_fd, name, bytes, sizeof(bytes), 0600, false);
    explicit_bzero(bytes, sizeof(bytes));
    if (r == 0)
        r = sync_key(dir_fd, name);
    /* If another process created the key, that one is used. */
    if (r < 0 && r != -EEXIST)
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

static void format_number(uint64_t number, char *to)
{
    for (size_t i = NUMBER_DIGITS; i > 0; i--, number /= 10)
        to[i - 1] = (char)('0' + number % 10);
    to[NUMBER_DIGITS] = ' ';
}

static uint64_t parse_number(const char *from)
{
    uint64_t number = 0;

    for (size_t i = 0; i < NUMBER_DIGITS; i++)
        number = number * 10 + (uint64_t)(from[i] - '0');
    return number;
}

static void format_mac(const char mac[AL_MAC_HEX + 1], char *to)
{
    memcpy(to, mac, AL_MAC_HEX);
    to[AL_MAC_HEX] = ' ';
}

static void parse_mac(const char *from, char ret_mac[AL_MAC_HEX + 1])
{
    memcpy(ret_mac, from, AL_MAC_HEX);
    ret_mac[AL_MAC_HEX] = '\0';
}

static void format(const struct al_key *key, const struct al_head *head, char text[AL_HEAD_BYTES])
{
    char mac[AL_MAC_HEX + 1];

    format_number(head->seq, text);
    format_number(head->size, text + SIZE_AT);
    format_mac(head->mac, text + MAC_AT);
    format_mac(head->next, text + NEXT_AT);
    al_key_mac(key, text, SIGNED_BYTES, mac);
    format_mac(mac, text + SIGNED_BYTES);
    text[AL_HEAD_BYTES - 1] = '\n';
}

/* Parse a head.  False when al_head_write() did not write it with this key. */
static bool parse(const struct al_key *key, const char text[AL_HEAD_BYTES],
                  struct al_head *ret_head)
{
    char mac[AL_MAC_HEX + 1];

    al_key_mac(key, text, SIGNED_BYTES, mac);
    if (memcmp(text + SIGNED_BYTES, mac, AL_MAC_HEX))
        return false;
    ret_head->seq = parse_number(text);
    ret_head->size = parse_number(text + SIZE_AT);
    parse_mac(text + MAC_AT, ret_head->mac);
    parse_mac(text + NEXT_AT, ret_head->next);
    return true;
}

int al_head_read(int fd, const struct al_key *key, struct al_head *ret_head,
                 enum al_head_found *ret_found)
{
    char text[AL_HEAD_BYTES + 1];
    ssize_t n;

    *ret_head = al_head_empty();
    do
        n = pread(fd, text, sizeof(text), 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    *ret_found = n ? AL_HEAD_BAD : AL_HEAD_EMPTY;
    if (n != AL_HEAD_BYTES)
        return 0;
    if (parse(key, text, ret_head))
        *ret_found = AL_HEAD_GOOD;
    return 0;
}

int al_head_write(int fd, const struct al_key *key, const struct al_head *head)
{
    char text[AL_HEAD_BYTES];
    size_t done = 0;

    format(key, head, text);
    /* Half of a head would be invalid. */
    while (done < AL_HEAD_BYTES) {
        ssize_t n = pwrite(fd, text + done, AL_HEAD_BYTES - done, (off_t)done);

        if (n == 0)
            return -EIO;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            done += (size_t)n;
    }
    return 0;
}

char *al_journal_beside(const char *file, const char *suffix)
{
    size_t len = strlen(file);

    if (al_ends_with(file, ".jsonl"))
        len -= strlen(".jsonl");
    return al_asprintf("%.*s%s", (int)len, file, suffix);
}
