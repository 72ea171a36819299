// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "staging/store.h"

#include "guard/text.h"
#include "staging/sandbox/sandbox.h"

/* A pull writes markers into files of at most three times what it merges. */
#define LOOK_MAX_BYTES ((size_t)64 << 20)

/* A line that begins so.  The lines between the two may be text of the file. */
#define BEGIN     "\n<<<<<<< " AL_MERGE_LABEL_OURS
#define END       "\n>>>>>>> " AL_MERGE_LABEL_THEIRS
#define SEPARATOR "\n=======" /* and nothing else */

/* The rest of the markers. */
enum left { NOTHING, MARKERS, ONE_SEPARATOR };

/* --- Which files --- */

/* {<digest of the path>: {"since": <nanoseconds>, "separators": true}}: JSON has no bytes for a
 * path that is not UTF-8. */
static json_t *find_mark(const struct al_base *base, const char *path)
{
    char key[AL_STAGING_KEY_TEXT];

    al_staging_make_key(path, "", key);
    return json_object_get(base->markers, key);
}

void al_markers_remember(struct al_base *base, const char *path, bool has_all_separators)
{
    char key[AL_STAGING_KEY_TEXT];

    al_staging_make_key(path, "", key);
    if (!base->markers)
        base->markers = al_json_object();
    al_json_set(base->markers, key,
                json_pack("{s:I, s:b}", "since", (json_int_t)al_clock_ns(), "separators",
                          has_all_separators));
}

void al_markers_forget(struct al_base *base, const struct al_staged *staged)
{
    for (size_t i = 0; json_object_size(base->markers) && i < staged->count; i++) {
        const json_t *since = json_object_get(find_mark(base, staged->files[i].path), "since");
        char key[AL_STAGING_KEY_TEXT];

        al_staging_make_key(staged->files[i].path, "", key);
        if (since && json_integer_value(since) < staged->order)
            (void)json_object_del(base->markers, key);
    }
}

/* --- What is left in them --- */

/* A marker begins with a newline.  A search for all of it, memmem(3), would look at the whole rest
 * of the text each time under a sanitizer. */
static size_t count(const struct al_str *text, const char *marker, bool is_whole_line)
{
    const char *at = text->buf, *end = text->buf + text->len;
    const size_t len = strlen(marker);
    size_t found = 0;

    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        if ((size_t)(end - at) < len || memcmp(at, marker, len) != 0) {
            at++;
            continue;
        }
        at += len;
        found += !is_whole_line || (at < end && *at == '\n') ||
                 (at + 1 < end && at[0] == '\r' && at[1] == '\n');
    }
    return found;
}

/* Every line begins and ends with a newline. */
static void frame(const struct al_str *text, struct al_str *ret_lines)
{
    al_str_addc(ret_lines, '\n');
    al_str_add(ret_lines, text->buf, text->len);
    al_str_addc(ret_lines, '\n');
}

bool al_markers_have_all_separators(const struct al_str *text)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    frame(text, &lines);
    return count(&lines, SEPARATOR, true) == count(&lines, BEGIN, false);
}

static enum left find_left(const struct al_str *text, bool has_all_separators)
{
    if (count(text, BEGIN, false) || count(text, END, false))
        return MARKERS;
    return has_all_separators && count(text, SEPARATOR, true) ? ONE_SEPARATOR : NOTHING;
}

static int look(struct al_sandbox *sandbox, const char *path, bool has_all_separators,
                enum left *ret_left, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_sandbox_read(sandbox, path, 0, LOOK_MAX_BYTES, &content, NULL, err);

    if (r < 0)
        return r;
    frame(&content, &text);
    *ret_left = find_left(&text, has_all_separators);
    return 0;
}

static int refuse(const char *path, bool separator, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);
    return al_error_reason(
        al_error_set(err, AL_ERR_EXECUTION,
                     "'" AL_SANDBOX_ROOT "/%s' still has %s; %s with write_file, then call "
                     "git_stage again",
                     safe,
                     separator ? "a line ======= of the conflict markers that git_pull wrote"
                               : "the conflict markers that git_pull wrote",
                     separator ? "remove it" : "resolve each conflict"),
        err, "conflict");
}

int al_markers_find(struct al_staging *staging, const struct al_comparison *found,
                    struct al_strv *ret_paths, bool *ret_separator, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < found->changes.count && r == 0; i++) {
        const struct al_sandbox_file *change = &found->changes.items[i];
        const json_t *mark =
            json_object_size(found->base.markers) ? find_mark(&found->base, change->path) : NULL;
        enum left left = NOTHING;

        if (mark && change->mode && change->mode != AL_SANDBOX_MODE_LINK)
            r = look(staging->options.sandbox, change->path,
                     json_is_true(json_object_get(mark, "separators")), &left, err);
        if (r < 0 || left == NOTHING)
            continue;
        if (!ret_paths->count && ret_separator)
            *ret_separator = left == ONE_SEPARATOR;
        al_strv_add(ret_paths, change->path);
    }
    return r;
}

int al_markers_check(struct al_staging *staging, const struct al_comparison *found,
                     struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    bool separator = false;
    int r = al_markers_find(staging, found, &paths, &separator, err);

    return r == 0 && paths.count ? refuse(paths.items[0], separator, err) : r;
}
