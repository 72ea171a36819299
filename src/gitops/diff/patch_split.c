// SPDX-License-Identifier: Apache-2.0
#include "gitops/diff/patch_split.h"

#include <search.h>
#include <stdlib.h>

#include "util/utf8.h"

#define RECORDS_MAX_BYTES (4u << 20)
#define NAME_MAX_BYTES    255u

static const char header[] = "diff --git ";

/* A file name in use, without ".patch". */
struct taken {
    char *name;
    unsigned next; /* no smaller suffix of the name is free */
};

static void free_taken(void *node)
{
    struct taken *taken = node;

    free(taken->name);
    free(taken);
}

void al_patch_split_clear(struct al_patch_split *s)
{
    tdestroy(s->taken, free_taken);
    s->taken = NULL;
    al_strv_clear(&s->names);
    al_strv_clear(&s->status);
    al_str_clear(&s->record);
}

/* Append a path as a file name that reads the same in a listing, in JSON and on disk. */
static void add_plain(struct al_str *out, const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < len;) {
        uint32_t c;
        int n = al_utf8_next(path + i, len - i, &c);

        if (path[i] == '/')
            al_str_adds(out, "__");
        else if (n <= 0 || c < 0x20 || (c >= 0x7f && c < 0xa0))
            al_str_addc(out, '_');
        else
            al_str_add(out, path + i, (size_t)n);
        i += n > 0 ? (size_t)n : 1;
    }
}

static int compare_taken(const void *a, const void *b)
{
    return strcmp(((const struct taken *)a)->name, ((const struct taken *)b)->name);
}

/* Find or add the entry of a name. *ret_new tells whether it was added. */
static struct taken *take_name(struct al_patch_split *s, const char *name, bool *ret_new)
{
    struct taken *made = al_calloc(1, sizeof(*made));
    struct taken **found;

    *made = (struct taken){ .name = al_strdup(name), .next = 2 };
    found = tsearch(made, &s->taken, compare_taken);
    if (!found)
        abort(); /* out of memory, as in util/mem.h */
    *ret_new = *found == made;
    if (!*ret_new)
        free_taken(made);
    return *found;
}

/* Add the file name for a path: "a/b" gives "a__b.patch", and a name in use gets "-2", "-3" and so
 * on. The repository chooses the paths, so each suffix of a name is tried at most once. */
static void add_name(struct al_patch_split *s, const char *path)
{
    al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
    struct taken *first;
    size_t base_len;
    bool is_new;

    add_plain(&name, path);
    base_len = name.len;
    first = take_name(s, name.buf, &is_new);
    while (!is_new) {
        al_str_truncate(&name, base_len);
        al_str_addf(&name, "-%u", first->next++);
        (void)take_name(s, name.buf, &is_new);
    }
    al_str_adds(&name, ".patch");
    s->name_too_long |= name.len > NAME_MAX_BYTES;
    al_strv_take(&s->names, al_str_detach(&name));
}

/* A record is complete. Records come in pairs: ":<modes> <oids> <letter>", then the path. */
static void record_done(struct al_patch_split *s)
{
    if (!s->record.len)
        s->in_patches = true;
    else if (s->status.count == s->names.count)
        al_strv_addf(&s->status, "%c", s->record.buf[s->record.len - 1]);
    else
        add_name(s, s->record.buf);
    al_str_reset(&s->record);
}

static bool begin_patch(struct al_patch_split *s)
{
    if (s->headers_left) {
        s->headers_left--;
        return true;
    }
    if (s->begun == s->names.count) {
        s->unlisted_patch = true;
        return false;
    }
    s->headers_left = s->status.items[s->begun][0] == 'T';
    return s->begin(s->payload, s->begun++);
}

/* Bytes before the first patch belong to no patch and are dropped. */
static bool add_piece(struct al_patch_split *s, const char *data, size_t len)
{
    return !s->begun || s->add(s->payload, data, len);
}

/* Number of bytes up to and including the newline, on a line that begins no patch. */
static size_t rest_of_line(struct al_patch_split *s, const char *data, size_t len)
{
    const char *end = memchr(data, '\n', len);

    s->line_started = !end;
    return end ? (size_t)(end - data) + 1 : len;
}

static bool add_patch_bytes(struct al_patch_split *s, const char *data, size_t len)
{
    while (len) {
        size_t piece;

        if (!s->line_started && *data == header[s->matched]) {
            data++;
            len--;
            if (++s->matched < sizeof(header) - 1)
                continue;
            s->matched = 0;
            s->line_started = true;
            if (!begin_patch(s) || !add_piece(s, header, sizeof(header) - 1))
                return false;
            continue;
        }
        if (s->matched && !add_piece(s, header, s->matched))
            return false;
        s->matched = 0;
        piece = rest_of_line(s, data, len);
        if (!add_piece(s, data, piece))
            return false;
        data += piece;
        len -= piece;
    }
    return true;
}

bool al_patch_split_add(void *payload, const char *data, size_t len)
{
    struct al_patch_split *s = payload;

    while (len && !s->in_patches) {
        const char *end = memchr(data, '\0', len);
        size_t piece = end ? (size_t)(end - data) : len;

        al_str_add(&s->record, data, piece);
        if (s->record.len > RECORDS_MAX_BYTES) {
            s->record_too_long = true;
            return false;
        }
        if (!end)
            return true;
        record_done(s);
        if (s->names.count > AL_PATCHES_MAX) {
            s->too_many_paths = true;
            return false;
        }
        data += piece + 1;
        len -= piece + 1;
    }
    return add_patch_bytes(s, data, len);
}

int al_patch_split_check_limits(const struct al_patch_split *s, struct al_error *err)
{
    if (s->too_many_paths)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "There are more than %d changed paths; name fewer paths",
                            AL_PATCHES_MAX);
    if (s->record_too_long)
        return al_error_set(err, AL_ERR_EXECUTION, "A changed path is too long for a patch file");
    if (s->name_too_long)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "A changed path is too long for the name of a patch file (%u bytes)",
                            NAME_MAX_BYTES);
    return 0;
}

int al_patch_split_check_count(const struct al_patch_split *s, struct al_error *err)
{
    if (!s->unlisted_patch && s->begun == s->names.count)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION, "git listed %zu paths but %zu patches%s",
                        s->names.count, s->begun, s->unlisted_patch ? " and more" : "");
}
