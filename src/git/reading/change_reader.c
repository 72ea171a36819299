// SPDX-License-Identifier: Apache-2.0
#include "git/reading/change_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "git/command.h"
#include "git/run.h"

static bool tell_files(struct al_change_reader *reader)
{
    if (!reader->has_told && !reader->stopped) {
        reader->has_told = true;
        reader->stopped =
            reader->take_files && !reader->take_files(reader->payload, &reader->files);
    }
    return !reader->stopped;
}

void al_change_reader_init(struct al_change_reader *reader,
                           bool (*take_files)(void *payload, const struct al_diff_raw *files),
                           const struct al_patch_taker *to)
{
    *reader = (struct al_change_reader){ .files = AL_DIFF_RAW_INIT,
                                         .take_files = take_files,
                                         .payload = to->payload };
    reader->files.all = true;
    al_patch_reader_init(&reader->patch, to);
}

void al_change_reader_clear(struct al_change_reader *reader)
{
    al_diff_raw_clear(&reader->files);
    al_patch_reader_clear(&reader->patch);
}

bool al_change_reader_add(void *payload, const char *data, size_t len)
{
    struct al_change_reader *reader = payload;

    while (len && !reader->in_patch && !reader->stopped) {
        size_t piece = 1;

        if (al_diff_raw_at_end(&reader->files) && (*data == '\0' || *data == '\n')) {
            reader->in_patch = *data == '\0';
        } else {
            const char *end = memchr(data, '\0', len);

            piece = end ? (size_t)(end - data) + 1 : len;
            reader->bytes += piece;
            reader->stopped = reader->bytes > AL_CHANGED_NAMES_MAX_BYTES ||
                              !al_diff_raw_add(&reader->files, data, piece);
        }
        data += piece;
        len -= piece;
    }
    if (!reader->in_patch || !len)
        return !reader->stopped;
    if (!tell_files(reader))
        return false;
    return reader->take_patch ? reader->take_patch(reader->payload, data, len)
                              : al_patch_reader_add(&reader->patch, data, len);
}

bool al_change_reader_end(struct al_change_reader *reader)
{
    return tell_files(reader) && al_patch_reader_end(&reader->patch);
}

/* --- Patch reader --- */

static void tell_file(struct al_patch_reader *reader)
{
    if (!reader->hunks.file.path || reader->has_told || reader->stopped)
        return;
    reader->has_told = true;
    reader->stopped =
        reader->to.take_file && !reader->to.take_file(reader->to.payload, &reader->hunks.file);
}

static void tell_hunk(struct al_patch_reader *reader)
{
    if (reader->part.len && !reader->stopped && reader->to.take_hunk)
        reader->stopped = !reader->to.take_hunk(reader->to.payload, reader->part.buf,
                                                reader->part.len, reader->is_first);
    al_str_reset(&reader->part);
    reader->is_first = false;
}

static void take_line(void *payload, const struct al_patch_line *line)
{
    struct al_patch_reader *reader = payload;

    if (reader->stopped)
        return;
    if (line->head || line->begins_file) {
        tell_hunk(reader);
        tell_file(reader);
        reader->has_told = !line->begins_file;
        reader->is_first = line->head;
    }
    if (!line->head && !line->in_hunk)
        return;
    al_str_add(&reader->part, line->text, line->len);
    al_str_addc(&reader->part, '\n');
    if (reader->part.len > AL_PATCH_PART_BYTES)
        tell_hunk(reader);
}

void al_patch_reader_init(struct al_patch_reader *reader, const struct al_patch_taker *to)
{
    *reader = (struct al_patch_reader){ .to = *to, .part = AL_STR_INIT };
    reader->hunks = AL_HUNKS_INIT(take_line, reader);
    reader->hunks.cuts_lines = true;
}

void al_patch_reader_clear(struct al_patch_reader *reader)
{
    al_hunks_clear(&reader->hunks);
    al_str_clear(&reader->part);
}

bool al_patch_reader_add(void *payload, const char *data, size_t len)
{
    struct al_patch_reader *reader = payload;

    al_hunks_add(&reader->hunks, data, len);
    return !reader->stopped;
}

bool al_patch_reader_end(struct al_patch_reader *reader)
{
    al_hunks_end(&reader->hunks);
    tell_hunk(reader);
    tell_file(reader);
    reader->has_told = true;
    return !reader->stopped;
}

/* --- Read changes --- */

void al_git_add_patch_options(struct al_strv *argv)
{
    al_strv_adds(argv, "--find-renames", "--src-prefix=" AL_HUNKS_OLD_PREFIX,
                 "--dst-prefix=" AL_HUNKS_NEW_PREFIX, "--no-color", "--submodule=short",
                 "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", NULL);
}

int al_git_read_changes(const struct al_repo *repo, const struct al_diff_options *options,
                        bool patch, struct al_change_reader *reader, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--numstat", "-z", NULL);
    if (patch)
        al_strv_add(&command.argv, "--patch");
    if (!options->cached && !options->from_ref) /* of files in conflict: else without numbers */
        al_strv_add(&command.argv, "--ours");
    al_git_add_patch_options(&command.argv);
    r = al_git_diff_add_args(repo, options, &command.argv, err);
    if (r == 0)
        r = al_git_read(&repo->at, &command, (struct al_sink){ al_change_reader_add, reader }, err);
    if (r == 0)
        (void)al_change_reader_end(reader);
    return r;
}

/* --- The numbers of a change --- */

/* Of "2 files changed, 3 insertions(+)" the number in front of "(+)", or 0. */
static unsigned number_of(const char *line, size_t len, const char *sign)
{
    const char *end = memmem(line, len, sign, strlen(sign));
    const char *at = end ? memrchr(line, ',', (size_t)(end - line)) : NULL;
    unsigned number = 0;

    return at && sscanf(at + 1, "%u", &number) == 1 ? number : 0;
}

/* Only that line of a diffstat has a blank and a digit at its beginning: the lines of files have a
 * '|', and others a word. */
bool al_shortstat_add_numbers(const char *diffstat, struct al_str *out)
{
    for (const char *line = diffstat; *line;) {
        size_t len = strcspn(line, "\n");

        if (line[0] == ' ' && line[1] >= '0' && line[1] <= '9' && !memchr(line, '|', len) &&
            memmem(line, len, " changed", strlen(" changed"))) {
            al_str_addf(out, "%.*s, +%u -%u\n", (int)strcspn(line + 1, ",\n"), line + 1,
                        number_of(line, len, "(+)"), number_of(line, len, "(-)"));
            return true;
        }
        line += len + (line[len] == '\n');
    }
    return false;
}
