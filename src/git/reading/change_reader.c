// SPDX-License-Identifier: Apache-2.0
#include "git/reading/change_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "git/command.h"
#include "git/run.h"

static bool tell_files(struct al_change_reader *reader)
{
    if (reader->lists_files && !reader->stopped) {
        reader->lists_files = false;
        reader->stopped =
            reader->take_files && !reader->take_files(reader->to.payload, &reader->files);
    }
    return !reader->stopped;
}

static void tell_file(struct al_change_reader *reader)
{
    if (!reader->hunks.file.path || reader->has_told || reader->stopped)
        return;
    reader->has_told = true;
    reader->stopped =
        reader->to.take_file && !reader->to.take_file(reader->to.payload, &reader->hunks.file);
}

static void tell_hunk(struct al_change_reader *reader)
{
    if (reader->part.len && !reader->stopped && reader->to.take_hunk)
        reader->stopped = !reader->to.take_hunk(reader->to.payload, reader->part.buf,
                                                reader->part.len, reader->is_first);
    al_str_reset(&reader->part);
    reader->is_first = false;
}

static void take_line(void *payload, const struct al_patch_line *line)
{
    struct al_change_reader *reader = payload;

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

void al_change_reader_init(struct al_change_reader *reader,
                           bool (*take_files)(void *payload, const struct al_diff_raw *files),
                           const struct al_patch_taker *to)
{
    *reader = (struct al_change_reader){ .files = AL_DIFF_RAW_INIT,
                                         .take_files = take_files,
                                         .to = *to,
                                         .lists_files = true,
                                         .hunks = AL_HUNKS_INIT(take_line, reader),
                                         .part = AL_STR_INIT };
    reader->files.all = true;
    reader->hunks.cuts_lines = true;
}

void al_change_reader_clear(struct al_change_reader *reader)
{
    al_diff_raw_clear(&reader->files);
    al_hunks_clear(&reader->hunks);
    al_str_clear(&reader->part);
}

bool al_change_reader_add(void *payload, const char *data, size_t len)
{
    struct al_change_reader *reader = payload;

    const size_t listed = al_diff_raw_add_list(&reader->files, data, len);

    reader->bytes += listed;
    reader->stopped |= reader->files.broken || reader->bytes > AL_CHANGED_NAMES_MAX_BYTES;
    if (listed == len || !tell_files(reader))
        return !reader->stopped;
    al_hunks_add(&reader->hunks, data + listed, len - listed);
    return !reader->stopped;
}

bool al_change_reader_end(struct al_change_reader *reader)
{
    if (tell_files(reader))
        al_hunks_end(&reader->hunks);
    tell_hunk(reader);
    tell_file(reader);
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
