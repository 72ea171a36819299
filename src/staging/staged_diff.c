// SPDX-License-Identifier: Apache-2.0
#include "staging/staged.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "staging/store.h"

/* git prints at most so many times of what is shown: of a binary file a header and one line. */
#define PRINTED_TIMES 4u
#define PRINTED_BYTES (64u * 1024u) /* and for the first header, with names of 4 KiB */

/*
 * git's patch is rewritten.  The header of a file,
 *
 *     diff --git a/workspace/x b/workspace/x
 *     new file mode 100644
 *     index 0000000..ce01362
 *
 * is shown shorter; what follows is passed on.  A line of a hunk begins with another character than
 * 'd', so none of them can pass for a header.
 */
struct rewriting {
    struct al_text text;
    char *name; /* "/workspace/x", quoted as git does; NULL: its header was shown */
    bool is_new, is_deleted;
    struct al_str modes;
    size_t files; /* that were begun */
};

static bool add(struct rewriting *at, const char *text)
{
    return al_text_add(&at->text, text, strlen(text));
}

/* The name from "a/workspace/x b/workspace/x": both parts have the same length.  Caller frees. */
static char *name_of(const char *names)
{
    size_t len = strlen(names) / 2;
    al_auto(al_freep) char *first = al_strndup(names, len);

    return *first == '"' ? al_asprintf("\"%s", first + 2) : al_strdup(first + (len > 0));
}

/* The same with `prefix` in front: "a/workspace/x".  Caller frees. */
static char *prefixed(const char *prefix, const char *name)
{
    return *name == '"' ? al_asprintf("\"%s%s", prefix, name + 1)
                        : al_asprintf("%s%s", prefix, name);
}

static bool show_header(struct rewriting *at)
{
    al_auto(al_freep) char *name = al_take(&at->name);
    al_auto(al_freep) char *old = NULL, *new = NULL;
    al_auto(al_freep) char *text = NULL;

    if (!name)
        return true;
    at->files++;
    old = at->is_new ? al_strdup("/dev/null") : prefixed(at->is_deleted ? "" : "a", name);
    new = at->is_deleted ? al_strdup("/dev/null") : prefixed(at->is_new ? "" : "b", name);
    text = al_asprintf("\n%s--- %s\n+++ %s\n", at->modes.buf, old, new);
    return add(at, text);
}

static bool begin_file(struct rewriting *at, const char *names)
{
    bool more = show_header(at); /* of a file without a hunk */

    at->is_new = at->is_deleted = false;
    al_str_reset(&at->modes);
    at->name = name_of(names);
    return more;
}

/* A line of a header; the last one is the first of the hunks, or says that there are none. */
static bool take_header(struct rewriting *at, const char *line)
{
    if (al_starts_with(line, "diff --git "))
        return begin_file(at, line + strlen("diff --git "));
    at->is_new |= al_starts_with(line, "new file mode ");
    at->is_deleted |= al_starts_with(line, "deleted file mode ");
    if (al_starts_with(line, "old mode ") || al_starts_with(line, "new mode ") ||
        !strcmp(line, "new file mode 100755") || !strcmp(line, "new file mode 120000"))
        al_str_addf(&at->modes, "%s\n", line);
    if (al_starts_with(line, "Binary files "))
        return show_header(at) && add(at, "Binary files differ\n");
    return !al_starts_with(line, "@@ ") || (show_header(at) && add(at, line) && add(at, "\n"));
}

static void rewrite(struct rewriting *at, const struct al_str *patch)
{
    const char *line = patch->buf, *end = patch->buf + patch->len;
    bool more = true;

    while (more && line < end) {
        const char *feed = memchr(line, '\n', (size_t)(end - line));
        const size_t len = (size_t)((feed ? feed : end) - line);
        al_auto(al_freep) char *header = at->name || *line == 'd' ? al_strndup(line, len) : NULL;

        more =
            header ? take_header(at, header) : al_text_add(&at->text, line, len + (feed != NULL));
        line += len + 1;
    }
    (void)show_header(at);
}

/* Cut the text, and say how much of the commit it shows. */
static bool cut(const struct rewriting *at, size_t total, size_t max_bytes, struct al_str *text)
{
    al_auto(al_freep) char *end = al_asprintf("\n\n[%zu of %zu files, the last one in part]%s",
                                              at->files, total, AL_TEXT_MARKER);
    size_t len = strlen(end);

    if (text->len <= max_bytes)
        return false;
    if (max_bytes <= len)
        return al_text_truncate(text, max_bytes);
    al_str_truncate(text, al_utf8_floor(text->buf, max_bytes - len));
    al_str_adds(text, end);
    return true;
}

int al_staged_diff(struct al_staging *staging, const struct al_staged *staged, size_t max_bytes,
                   struct al_run_limits *budget, struct al_str *out, bool *ret_truncated,
                   struct al_error *err)
{
    struct rewriting at = { .text = AL_TEXT_INIT(max_bytes), .modes = AL_STR_INIT };
    al_auto(al_buffer_clear) struct al_buffer patch =
        AL_BUFFER_INIT(PRINTED_TIMES * max_bytes + PRINTED_BYTES);
    al_auto(al_freep) char *title = al_staged_title(staged);
    al_auto(al_freep) char *heading = al_asprintf("Staged commit: %s\n", title);
    const struct al_location bare = al_staging_bare(staging, budget);
    char commit[AL_OID_TEXT];
    int r;

    al_oid_text(&staged->commit, staging->options.sha256, commit);
    at.text.show_controls = true;
    (void)add(&at, heading);
    r = al_bare_commit_patch(&bare, commit, "/workspace/", al_buffer_sink(&patch), err);
    if (r == 0) {
        rewrite(&at, &patch.text);
        al_text_end(&at.text);
        *ret_truncated = cut(&at, staged->count, max_bytes, &at.text.out);
        al_str_add(out, at.text.out.buf, at.text.out.len);
    }
    al_text_clear(&at.text);
    al_str_clear(&at.modes);
    free(at.name);
    return r;
}
