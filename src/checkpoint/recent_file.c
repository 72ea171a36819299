// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/recent_file.h"

#include <zlib.h>

#define RECORD_MAGIC 0x52434552u
#define KEPT         "kept/" /* no reference begins so */

struct file_head {
    char magic[8];
    uint64_t nonce;
    char boot[40];
    uint32_t sha256, crc;
};

/* The last byte of the magic is the format's digit; that of the format 1 is a T. */
#define MAGIC       "AIRRECN"
#define MAGIC_BYTES (sizeof(MAGIC) - 1)

static char format_mark(unsigned format)
{
    return (char)(format == 1 ? 'T' : '0' + (int)format);
}

/** The beginning of a record.  The checksum is that of everything after it. */
struct record_head {
    uint32_t magic, crc;
    uint64_t nonce, bytes; /* of the whole record */
    uint32_t reference_len, pack_len, index_len, reserved;
    struct al_oid commit;
};

#define SUMMED_AT offsetof(struct record_head, nonce)

static uint32_t sum_of(const void *data, size_t len)
{
    return (uint32_t)crc32(crc32(0, NULL, 0), data, (uInt)len);
}

bool al_recent_head_parse(const void *bytes, bool sha256, struct al_recent_head *ret_head)
{
    struct file_head head;

    memcpy(&head, bytes, sizeof(head));
    if (memcmp(head.magic, MAGIC, MAGIC_BYTES) != 0 ||
        (head.magic[MAGIC_BYTES] != format_mark(1) &&
         head.magic[MAGIC_BYTES] != format_mark(AL_RECENT_FORMAT)) ||
        head.sha256 != sha256 || head.crc != sum_of(&head, offsetof(struct file_head, crc)))
        return false;
    ret_head->format = head.magic[MAGIC_BYTES] == format_mark(1) ? 1 : AL_RECENT_FORMAT;
    ret_head->nonce = head.nonce;
    memcpy(ret_head->boot, head.boot, AL_BOOT_ID_BYTES);
    ret_head->boot[AL_BOOT_ID_BYTES] = '\0';
    return true;
}

bool al_recent_head_is_newer(const void *bytes)
{
    struct file_head head;

    memcpy(&head, bytes, sizeof(head));
    return !memcmp(head.magic, MAGIC, MAGIC_BYTES) &&
           head.magic[MAGIC_BYTES] > format_mark(AL_RECENT_FORMAT) &&
           head.magic[MAGIC_BYTES] <= '9';
}

void al_recent_head_format(const struct al_recent_head *head, bool sha256,
                           char ret_bytes[AL_RECENT_HEAD_BYTES])
{
    struct file_head text;

    memset(&text, 0, sizeof(text));
    memcpy(text.magic, MAGIC, MAGIC_BYTES);
    text.magic[MAGIC_BYTES] = format_mark(head->format);
    text.nonce = head->nonce;
    memcpy(text.boot, head->boot, AL_BOOT_ID_BYTES);
    text.sha256 = sha256;
    text.crc = sum_of(&text, offsetof(struct file_head, crc));
    memset(ret_bytes, 0, AL_RECENT_HEAD_BYTES);
    memcpy(ret_bytes, &text, sizeof(text));
}

/** How far the records were published.  A part of it that was written counts for nothing. */
struct published {
    uint64_t nonce, end;
    uint32_t crc, reserved;
};

uint64_t al_recent_published_parse(const void *head_bytes, uint64_t nonce)
{
    struct published mark;

    memcpy(&mark, (const char *)head_bytes + AL_RECENT_PUBLISHED_AT, sizeof(mark));
    return mark.nonce == nonce && mark.crc == sum_of(&mark, offsetof(struct published, crc))
               ? mark.end
               : 0;
}

void al_recent_published_format(uint64_t nonce, uint64_t end,
                                char ret_bytes[AL_RECENT_PUBLISHED_BYTES])
{
    struct published mark;

    memset(&mark, 0, sizeof(mark));
    mark.nonce = nonce;
    mark.end = end;
    mark.crc = sum_of(&mark, offsetof(struct published, crc));
    memcpy(ret_bytes, &mark, sizeof(mark));
}

static bool is_possible(const struct record_head *head, uint64_t nonce, size_t room)
{
    return head->magic == RECORD_MAGIC && head->nonce == nonce && head->bytes <= room &&
           head->reference_len &&
           head->bytes ==
               sizeof(*head) + (uint64_t)head->reference_len + head->pack_len + head->index_len;
}

size_t al_recent_record_at(const char *bytes, size_t len, size_t at, uint64_t nonce, bool check,
                           struct al_recent_record *ret_record)
{
    struct record_head head;
    const char *text = bytes + at + sizeof(head);

    if (at > len || len - at < sizeof(head))
        return 0;
    memcpy(&head, bytes + at, sizeof(head));
    if (!is_possible(&head, nonce, len - at))
        return 0;
    if (check && (head.crc != sum_of(bytes + at + SUMMED_AT, (size_t)head.bytes - SUMMED_AT) ||
                  text[head.reference_len - 1]))
        return 0;
    *ret_record = (struct al_recent_record){
        .reference = text,
        .commit = head.commit,
        .pack = text + head.reference_len,
        .pack_len = head.pack_len,
        .index = text + head.reference_len + head.pack_len,
        .index_len = head.index_len,
    };
    return at + (size_t)head.bytes;
}

char *al_recent_kept_name(const struct al_strv *tips)
{
    struct al_str name = AL_STR_INIT;

    al_str_adds(&name, KEPT);
    for (size_t i = 0; i < tips->count; i++)
        al_str_addf(&name, "%s%s", i ? " " : "", tips->items[i]);
    return al_str_detach(&name);
}

bool al_recent_kept_tips(const char *name, struct al_strv *ret_tips)
{
    if (!al_starts_with(name, KEPT))
        return false;
    for (const char *at = name + strlen(KEPT); *at;) {
        size_t len = strcspn(at, " ");

        al_strv_addf(ret_tips, "%.*s", (int)len, at);
        at += len + (at[len] == ' ');
    }
    return true;
}

void al_recent_record_format(const struct al_recent_record *record, uint64_t nonce,
                             struct al_str *out)
{
    size_t begin = out->len;
    struct record_head head;

    memset(&head, 0, sizeof(head));
    head.magic = RECORD_MAGIC;
    head.nonce = nonce;
    head.reference_len = (uint32_t)strlen(record->reference) + 1;
    head.pack_len = (uint32_t)record->pack_len;
    head.index_len = (uint32_t)record->index_len;
    head.commit = record->commit;
    head.bytes = sizeof(head) + (uint64_t)head.reference_len + head.pack_len + head.index_len;
    al_str_reserve(out, (size_t)head.bytes);
    al_str_add(out, &head, sizeof(head));
    al_str_add(out, record->reference, head.reference_len);
    al_str_add(out, record->pack, record->pack_len);
    al_str_add(out, record->index, record->index_len);
    head.crc = sum_of(out->buf + begin + SUMMED_AT, out->len - begin - SUMMED_AT);
    memcpy(out->buf + begin, &head, sizeof(head));
}
