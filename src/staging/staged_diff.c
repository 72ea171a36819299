// SPDX-License-Identifier: Apache-2.0
#include "staging/staged.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "guard/text.h"
#include "staging/store.h"

#define HEADER_MAX_BYTES (64u * 1024u) /* of one line; git quotes a name of 4 KiB in less */

/*
 * git's patch is rewritten while git prints it.  The header of a file,
 *
 *     diff --git a/workspace/x b/workspace/x
 *     new file mode 100644
 *     index 0000000..ce01362
 *
 * is collected and shown shorter; what follows is passed on.  A line of a hunk begins with another
 * character than 'd', so none of them can pass for a header.
 */
struct rewriting {
    struct al_text text;
    struct al_str line;  /* of a header, incomplete */
    bool is_within_line; /* the last bytes were no end of a line */
    bool in_header;      /* what comes is collected */
    char *name;          /* "/workspace/x", quoted as git does; NULL: its header was shown */
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

static bool take_header(struct rewriting *at)
{
    const char *line = at->line.buf;

    if (al_starts_with(line, "diff --git "))
        return begin_file(at, line + strlen("diff --git "));
    if (al_starts_with(line, "new file mode "))
        at->is_new = true;
    else if (al_starts_with(line, "deleted file mode "))
        at->is_deleted = true;
    if (al_starts_with(line, "old mode ") || al_starts_with(line, "new mode ") ||
        !strcmp(line, "new file mode 100755") || !strcmp(line, "new file mode 120000"))
        al_str_addf(&at->modes, "%s\n", line);
    at->in_header = !al_starts_with(line, "Binary files ") && !al_starts_with(line, "@@ ");
    if (at->in_header)
        return true;
    if (*line == 'B')
        return show_header(at) && add(at, "Binary files differ\n");
    al_str_addc(&at->line, '\n');
    return show_header(at) && al_text_add(&at->text, at->line.buf, at->line.len);
}

/* Add bytes of a header line; at its end the line is taken. */
static bool add_header(struct rewriting *at, const char *data, size_t len, bool ends)
{
    bool more;

    al_str_add(&at->line, data, len);
    if (at->line.len > HEADER_MAX_BYTES)
        al_str_truncate(&at->line, HEADER_MAX_BYTES);
    if (!ends)
        return true;
    more = take_header(at);
    al_str_reset(&at->line);
    return more;
}

static bool rewrite(void *payload, const char *data, size_t len)
{
    struct rewriting *at = payload;
    bool more = true;

    while (len && more) {
        const char *end = memchr(data, '\n', len);
        size_t piece = end ? (size_t)(end - data) + 1 : len;

        at->in_header |= !at->is_within_line && *data == 'd';
        at->is_within_line = !end;
        more = at->in_header ? add_header(at, data, end ? piece - 1 : piece, end)
                             : al_text_add(&at->text, data, piece);
        data += piece;
        len -= piece;
    }
    return more;
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
    struct rewriting at = { .text = AL_TEXT_INIT(max_bytes),
                            .line = AL_STR_INIT,
                            .modes = AL_STR_INIT };
    al_auto(al_freep) char *title = al_staged_title(staged);
    al_auto(al_freep) char *heading = al_asprintf("Staged commit: %s\n", title);
    char commit[AL_OID_TEXT];
    int r;

    al_oid_text(&staged->commit, staging->options.sha256, commit);
    at.text.show_controls = true;
    (void)add(&at, heading);
    r = al_bare_commit_patch(&staging->bare, commit, "/workspace/",
                             (struct al_sink){ rewrite, &at }, budget, err);
    if (r == 0) {
        (void)show_header(&at);
        al_text_end(&at.text);
        *ret_truncated = cut(&at, staged->count, max_bytes, &at.text.out);
        al_str_add(out, at.text.out.buf, at.text.out.len);
    }
    al_text_clear(&at.text);
    al_str_clear(&at.line);
    al_str_clear(&at.modes);
    free(at.name);
    return r;
}
