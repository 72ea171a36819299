// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/packed_refs.h"

#include <errno.h>
#include <stdlib.h>

#include "util/fs.h"

#define NAME      "packed-refs"
#define MAX_BYTES (64u << 20)

/* Compare the names of "<name> SP <object id>".  A space is before every character of a name. */
static int compare_names(const char *a, const char *b)
{
    size_t i = 0;

    while (a[i] && a[i] == b[i] && a[i] != ' ')
        i++;
    return a[i] == b[i] ? 0 : (unsigned char)a[i] - (unsigned char)b[i];
}

/* Turn the lines "<object id> SP <name>" round.  There are no tags, and so no peeled ids. */
static void read_lines(char *text, struct al_strv *ret_refs)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *name = strchr(line, ' ');

        if (line[0] != '#' && line[0] != '^' && name)
            al_strv_addf(ret_refs, "%s %.*s", name + 1, (int)(name - line), line);
    }
    al_strv_sort(ret_refs);
}

static void add_line(const char *ref, struct al_str *out)
{
    const char *oid = strchr(ref, ' ');

    al_str_addf(out, "%s %.*s\n", oid + 1, (int)(oid - ref), ref);
}

/* Merge two sorted lists; a reference of both has the value in `now`. */
static void merge(const struct al_strv *before, const struct al_strv *now, struct al_str *out)
{
    size_t i = 0, k = 0;

    while (i < before->count || k < now->count) {
        int order = i == before->count ? 1
                    : k == now->count  ? -1
                                       : compare_names(before->items[i], now->items[k]);

        if (order >= 0)
            add_line(now->items[k++], out);
        else
            add_line(before->items[i], out);
        i += order <= 0;
    }
}

int al_packed_refs_add(const struct al_store *store, const struct al_strv *refs,
                       struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT;
    int r = al_fs_read(store->bare.dir_fd, NAME, MAX_BYTES, &text);

    if (r < 0 && r != -ENOENT)
        return al_error_errno(err, -r, "cannot read the checkpoint store");
    if (!refs->count)
        return 0;
    read_lines(text.buf, &before);
    al_str_adds(&out, "# pack-refs with: peeled fully-peeled sorted \n");
    merge(&before, refs, &out);
    r = al_fs_write_durable(store->bare.dir_fd, NAME, out.buf, out.len, 0600);
    return r < 0 ? al_error_errno(err, -r, "cannot write to the checkpoint store") : 0;
}
