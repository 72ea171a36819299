// SPDX-License-Identifier: Apache-2.0
#include "git/reading/grep.h"

#include <inttypes.h>
#include <string.h>

#include "git/command.h"
#include "git/failure.h"
#include "git/plumbing/batch.h"
#include "git/run.h"

static int add_words(const struct al_repo *repo, const struct al_grep_query *query,
                     struct al_strv *argv, struct al_error *err)
{
    al_strv_adds(argv, "git", "grep", "-z", "-I", "--full-name", "--no-color", "--no-textconv",
                 "--no-recurse-submodules", query->regex ? "-E" : "-F", NULL);
    if (query->files_only)
        al_strv_add(argv, "-l");
    else
        al_strv_adds(argv, "-n", "--column", "--no-heading", "--no-break", NULL);
    if (query->ignore_case)
        al_strv_add(argv, "-i");
    if (query->word)
        al_strv_add(argv, "-w");
    if (query->context > 0)
        al_strv_addf(argv, "-C%" PRId64, query->context);
    al_strv_adds(argv, "-e", query->pattern, NULL);
    if (query->rev)
        al_strv_add(argv, query->rev);
    al_strv_add(argv, "--");
    if ((!query->paths || !query->paths->count) && strcmp(repo->at.dir, repo->at.top) != 0)
        al_strv_add(argv, ":/"); /* otherwise git searches below the working directory only */
    return al_batch_add_all(repo, query->paths, "grep", argv, err);
}

int al_git_grep(const struct al_repo *repo, const struct al_grep_query *query,
                bool (*take)(void *payload, const struct al_grep_line *line), void *payload,
                struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_grep_reader_clear) struct al_grep_reader reader =
        AL_GREP_READER_INIT(query, take, payload);
    int r;

    r = add_words(repo, query, &command.argv, err);
    if (r == 0)
        r = al_git_run(&repo->at, &command,
                       &(struct al_git_run){ .sink = { al_grep_reader_add, &reader } }, &output,
                       err);
    if (r < 0 || al_git_read_well(&output) || (output.exit_code == 1 && !output.err.out.len))
        return r;
    return al_git_failed(&output, err);
}

/* --- Grep reader --- */

/** Of a longer line, this much is passed on. */
#define LINE_MAX_BYTES (1u << 20)

/* A record is "path NUL number NUL column NUL text" for a match, the same without the column for a
 * line around one, and "--" between them. */
enum { PATH, NUMBER, REST };

#define SEPARATOR "--\n"

void al_grep_reader_clear(struct al_grep_reader *reader)
{
    for (int i = PATH; i <= REST; i++)
        al_str_clear(&reader->fields[i]);
}

/* The path of a record, behind a separator and the revision. */
static const char *path_of(const struct al_grep_reader *reader)
{
    const struct al_str *field = &reader->fields[PATH];
    const size_t prefix = reader->query->rev ? strlen(reader->query->rev) + 1 : 0;
    const char *path = field->buf;

    if (reader->query->context > 0 && al_starts_with(path, SEPARATOR))
        path += strlen(SEPARATOR);
    return strlen(path) > prefix ? path + prefix : path;
}

static bool end_record(struct al_grep_reader *reader)
{
    const struct al_str *rest = &reader->fields[REST];
    const char *end = memchr(rest->buf, '\0', rest->len);
    struct al_grep_line line = { .path = path_of(reader),
                                 .line = reader->fields[NUMBER].buf,
                                 .text = rest->buf,
                                 .len = rest->len,
                                 .is_match = reader->query->files_only };
    bool more;

    if (end && end > rest->buf &&
        rest->buf + strspn(rest->buf, "0123456789") == end) { /* the column */
        line.is_match = true;
        line.text = end + 1;
        line.len = rest->len - (size_t)(line.text - rest->buf);
    }
    more = reader->take(reader->payload, &line);
    for (int i = PATH; i <= REST; i++)
        al_str_reset(&reader->fields[i]);
    reader->at = PATH;
    return more;
}

bool al_grep_reader_add(void *payload, const char *data, size_t len)
{
    struct al_grep_reader *reader = payload;

    while (len) {
        const char ends = reader->at == REST ? '\n' : '\0';
        const char *end = memchr(data, ends, len);
        size_t piece = end ? (size_t)(end - data) : len;
        struct al_str *field = &reader->fields[reader->at];

        if (field->len < LINE_MAX_BYTES)
            al_str_add(field, data, piece);
        data += piece + (end != NULL);
        len -= piece + (end != NULL);
        if (!end)
            continue;
        if (reader->at < REST && !reader->query->files_only)
            reader->at++;
        else if (!end_record(reader))
            return false;
    }
    return true;
}
