// SPDX-License-Identifier: Apache-2.0
#include "history/entries_digest.h"

#include <string.h>

#include "gitops/plumbing/index_scan.h"
#include "util/str.h"

#define LINE_BYTES (AL_OID_TEXT + 16)

struct digest {
    struct al_hash hash;
    bool sha256;
};

/* The letter that `git ls-files -v` has for an entry. */
static char tag_of(const struct al_index_entry *entry)
{
    char tag = entry->stage ? 'M' : entry->skip_worktree ? 'S' : 'H';

    return entry->assume_unchanged ? (char)(tag - 'A' + 'a') : tag;
}

/* Write "<tag> SP <mode> SP <oid> SP <stage> TAB", as git does.  printf(3) would take a third of
 * the time that reading an index takes. */
static size_t print_entry(const struct al_index_entry *entry, bool sha256, char line[LINE_BYTES])
{
    struct al_oid oid = { .bytes = { 0 } };
    char *at = line;

    memcpy(oid.bytes, entry->oid, al_oid_bytes(sha256));
    *at++ = tag_of(entry);
    *at++ = ' ';
    for (int shift = 15; shift >= 0; shift -= 3)
        *at++ = (char)('0' + (entry->mode >> shift & 7));
    *at++ = ' ';
    al_oid_text(&oid, sha256, at);
    at += 2 * al_oid_bytes(sha256);
    *at++ = ' ';
    *at++ = (char)('0' + entry->stage);
    *at++ = '\t';
    return (size_t)(at - line);
}

static bool add_entry(void *payload, const struct al_index_entry *entry)
{
    struct digest *digest = payload;
    char line[LINE_BYTES];

    al_hash_add(&digest->hash, line, print_entry(entry, digest->sha256, line));
    al_hash_add(&digest->hash, entry->name, strlen(entry->name) + 1);
    return true;
}

bool al_entries_digest(const void *index, size_t len, bool sha256, struct al_oid *ret_digest)
{
    struct digest digest = { .sha256 = sha256 };
    bool whole = true;

    al_hash_init(&digest.hash, true);
    if (len)
        whole = al_index_read_bytes(index, len, al_oid_bytes(sha256), add_entry, &digest) ==
                AL_INDEX_WHOLE;
    al_hash_end(&digest.hash, ret_digest);
    return whole;
}

static bool add_name_only(void *payload, const struct al_index_entry *entry)
{
    if (entry->intent_to_add)
        al_strv_add(payload, entry->name);
    return true;
}

void al_entries_add_names_only(const void *index, size_t len, bool sha256, struct al_oid *digest)
{
    static const unsigned char without_flags[] = { 'D', 'I', 'R', 'C', 0, 0, 0, 2 };
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct al_hash hash;

    if (len < sizeof(without_flags) || !memcmp(index, without_flags, sizeof(without_flags)) ||
        al_index_read_bytes(index, len, al_oid_bytes(sha256), add_name_only, &names) !=
            AL_INDEX_WHOLE ||
        !names.count)
        return;
    al_hash_init(&hash, true);
    al_hash_add(&hash, digest, sizeof(*digest));
    for (size_t i = 0; i < names.count; i++)
        al_hash_add(&hash, names.items[i], strlen(names.items[i]) + 1);
    al_hash_end(&hash, digest);
}
