// SPDX-License-Identifier: Apache-2.0
#include "git/reading/read_blame.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "git/command.h"
#include "git/layer.h"
#include "git/refs.h"
#include "git/vet/vet.h"
#include "guard/path.h"

/* git prints the first line of such a file if it is no list of commits, so the file must not lie
 * where an agent may not read.  An override cannot help: git reads the repository's own value
 * first. */
int al_git_blame_check(const struct al_repo *repo, struct al_error *err)
{
    const struct al_strv *files = &repo->vetting->ignore_revs;

    if (files->count > AL_IGNORE_REVS_MAX)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "The repository's blame.ignoreRevsFile names more than %d files; "
                            "remove what is not needed from the repository's configuration",
                            AL_IGNORE_REVS_MAX);
    for (size_t i = 0; i < files->count; i++) {
        al_auto(al_freep) char *abs = NULL;
        al_auto(al_closep) int fd = -1;

        if (al_roots_open(repo->at.git->roots, files->items[i], O_PATH, &fd, &abs, NULL) ==
            AL_ERR_SANDBOX)
            return al_error_set(err, AL_ERR_SANDBOX,
                                "The repository's blame.ignoreRevsFile leads outside the allowed "
                                "roots; remove it from the repository's configuration");
    }
    return 0;
}

static int add_words(const struct al_repo *repo, const struct al_blame_query *query,
                     struct al_strv *argv, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    int r = al_git_blame_check(repo, err);

    if (r == 0)
        r = al_repo_file(repo, "path", query->path, &path, err);
    if (r < 0)
        return r;
    if (query->last)
        al_strv_addf(argv, "-L%" PRIu64 ",%" PRIu64, query->first ? query->first : 1, query->last);
    else if (query->first)
        al_strv_addf(argv, "-L%" PRIu64 ",", query->first);
    if (query->rev)
        al_strv_add(argv, query->rev);
    al_strv_adds(argv, "--", path, NULL);
    return 0;
}

int al_git_blame(const struct al_repo *repo, const struct al_blame_query *query, size_t max_bytes,
                 struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "blame", "--no-textconv", NULL);
    r = add_words(repo, query, &command.argv, err);
    return r < 0 ? r : al_git_run_checked(&repo->at, &command, max_bytes, ret_output, err);
}

int al_git_read_blame(const struct al_repo *repo, const struct al_blame_query *query,
                      al_blame_fn take, void *payload, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_blame_reader_clear) struct al_blame_reader reader =
        AL_BLAME_READER_INIT(take, payload);
    int r;

    al_strv_adds(&command.argv, "git", "blame", "--line-porcelain", "--no-textconv",
                 "--encoding=UTF-8", NULL);
    r = add_words(repo, query, &command.argv, err);
    return r < 0 ? r
                 : al_git_read(&repo->at, &command,
                               (struct al_sink){ al_blame_reader_add, &reader }, err);
}

/* --- Blame reader --- */

/** Of a longer line, this much is passed on. */
#define LINE_MAX_BYTES (1u << 20)

/** Git's own limit of times, far from those of the type. */
#define TIME_MAX (INT64_MAX / 4)

/** More is no time zone. */
#define ZONE_MAX 9999

void al_blame_reader_clear(struct al_blame_reader *reader)
{
    al_str_clear(&reader->oid);
    al_str_clear(&reader->author);
    al_str_clear(&reader->subject);
    al_str_clear(&reader->text);
}

static const char *value_of(const char *line, const char *key)
{
    size_t len = strlen(key);

    return !strncmp(line, key, len) && line[len] == ' ' ? line + len + 1 : NULL;
}

/* The author's day, where the author was: `zone` is in minutes east of UTC. */
static void set_date(struct al_blame_reader *reader, int zone)
{
    time_t when = (time_t)(reader->time + (int64_t)zone * 60);
    struct tm day;

    if (gmtime_r(&when, &day))
        (void)strftime(reader->date, sizeof(reader->date), "%Y-%m-%d", &day);
}

/* "+0130" as minutes. */
static int read_zone(const char *text)
{
    unsigned long long given = text[0] && text[1] ? strtoull(text + 1, NULL, 10) : 0;
    int number = given > ZONE_MAX ? 0 : (int)given;

    number = number / 100 * 60 + number % 100;
    return *text == '-' ? -number : number;
}

static void take_fact(struct al_blame_reader *reader, const char *line)
{
    const char *value;

    if ((value = value_of(line, "author"))) {
        al_str_adds(&reader->author, value);
    } else if ((value = value_of(line, "summary"))) {
        al_str_adds(&reader->subject, value);
    } else if ((value = value_of(line, "author-time"))) {
        unsigned long long time = strtoull(value, NULL, 10);

        reader->time = time > TIME_MAX ? 0 : (int64_t)time;
    } else if ((value = value_of(line, "author-tz"))) {
        set_date(reader, read_zone(value));
    }
}

/* "<oid> <line then> <line now> [<lines>]" */
static bool take_header(struct al_blame_reader *reader, const char *line)
{
    size_t len = strcspn(line, " ");
    const char *now;

    if (!al_is_oid(line, len) || len < 40 || line[len] != ' ')
        return false;
    now = strchr(line + len + 1, ' ');
    if (!now)
        return false;
    reader->begins = reader->oid.len != len || memcmp(reader->oid.buf, line, len) != 0;
    al_str_reset(&reader->oid);
    al_str_add(&reader->oid, line, len);
    al_str_reset(&reader->author);
    al_str_reset(&reader->subject);
    reader->line = strtoull(now, NULL, 10);
    return true;
}

static bool take_text(struct al_blame_reader *reader)
{
    const struct al_blamed blamed = {
        .oid = reader->oid.buf,
        .author = reader->author.buf,
        .subject = reader->subject.buf,
        .is_committed = strspn(reader->oid.buf, "0") != reader->oid.len,
        .date = reader->date,
    };

    return reader->take(reader->payload, &blamed, reader->begins, reader->line,
                        reader->text.buf + 1, reader->text.len - 1);
}

static bool take_line(struct al_blame_reader *reader)
{
    const char *line = reader->text.buf;

    if (*line == '\t')
        return !reader->oid.len || take_text(reader);
    if (!take_header(reader, line) && reader->oid.len)
        take_fact(reader, line);
    return true;
}

bool al_blame_reader_add(void *payload, const char *data, size_t len)
{
    struct al_blame_reader *reader = payload;

    while (len) {
        const char *end = memchr(data, '\n', len);
        size_t piece = end ? (size_t)(end - data) : len;

        if (reader->text.len < LINE_MAX_BYTES)
            al_str_add(&reader->text, data, piece);
        data += piece + (end != NULL);
        len -= piece + (end != NULL);
        if (!end)
            break;
        if (!take_line(reader))
            return false;
        al_str_reset(&reader->text);
    }
    return true;
}
