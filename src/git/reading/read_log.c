// SPDX-License-Identifier: Apache-2.0
#include "git/reading/read_log.h"

#include <inttypes.h>
#include <stdlib.h>

#include "git/command.h"
#include "git/diff/diff.h"
#include "git/failure.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/arg.h"

/* Make every character of a text stand for itself in an extended regular expression. */
static void add_literal(struct al_strv *argv, const char *option, const char *value)
{
    al_auto(al_str_clear) struct al_str word = AL_STR_INIT;

    for (; *value; value++) {
        if (strchr("\\^$.|?*+()[]{}", *value))
            al_str_addc(&word, '\\');
        al_str_addc(&word, *value);
    }
    al_strv_addf(argv, "%s=%s", option, word.buf);
}

static void add_value(struct al_strv *argv, const char *option, const char *value)
{
    if (value)
        al_strv_addf(argv, "%s=%s", option, value);
}

static void add_filters(const struct al_log_query *query, struct al_strv *argv)
{
    if (query->max_count)
        al_strv_addf(argv, "--max-count=%" PRIu64, query->max_count);
    if (query->author || query->grep)
        al_strv_add(argv, "--extended-regexp");
    if (query->author)
        add_literal(argv, "--author", query->author);
    add_value(argv, "--grep", query->grep);
    add_value(argv, "--since", query->since);
    add_value(argv, "--until", query->until);
    if (query->changed)
        al_strv_addf(argv, "-%c%s", query->regex ? 'G' : 'S', query->changed);
    if (query->follow)
        al_strv_add(argv, "--follow");
    if (query->first_parent)
        al_strv_add(argv, "--first-parent");
    if (query->no_walk)
        al_strv_add(argv, "--no-walk");
}

static int add_paths(const struct al_repo *repo, const struct al_log_query *query,
                     struct al_strv *argv, struct al_error *err)
{
    if (query->all)
        al_strv_adds(argv, "--branches", "--remotes", NULL);
    if (query->range)
        al_arg_split_revisions(query->range, argv);
    al_strv_add(argv, "--");
    return al_batch_add_all(repo, query->paths, "log", argv, err);
}

static void add_format(const struct al_log_query *query, struct al_strv *argv)
{
    al_strv_adds(argv, "--encoding=UTF-8", "--date=short", "--decorate=short",
                 "--no-show-signature", "--abbrev=8", NULL);
    al_git_add_patch_options(argv);
    if (query->no_walk)
        al_strv_adds(argv, "-z", AL_LOG_FORMAT_SHOW, "--diff-merges=first-parent", "--numstat",
                     NULL);
    else if (query->stat)
        al_strv_adds(argv, "-z", AL_LOG_FORMAT_LONG, "--numstat", NULL);
    else if (query->patch)
        al_strv_add(argv, AL_LOG_FORMAT_LONG);
    else if (query->in_full)
        al_strv_adds(argv, "-z", AL_LOG_FORMAT_FULL, "--no-patch", NULL);
    else
        al_strv_adds(argv, "-z", AL_LOG_FORMAT_SHORT, "--no-patch", NULL);
    if (query->patch)
        al_strv_add(argv, "--patch");
}

/* Run git log, and pass on what it prints. */
static int run_log(const struct al_repo *repo, const struct al_git_command *command,
                   const struct al_log_query *query, const struct al_log_taker *to,
                   bool *ret_stopped, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_log_reader_clear) struct al_log_reader reader;
    int r;

    al_log_reader_init(&reader, query, to);
    r = al_git_run(&repo->at, command,
                   &(struct al_git_run){ .sink = { al_log_reader_add, &reader } }, ret_output, err);
    if (r == 0 && al_git_read_well(ret_output))
        al_log_reader_end(&reader);
    *ret_stopped = reader.stopped;
    return r;
}

/* The result of a git that walked. */
static int end_walk(const struct al_repo *repo, const struct al_log_query *query,
                    const struct al_git_output *output, bool *ret_unborn, struct al_error *err)
{
    *ret_unborn = !al_git_read_well(output) && (!query->range || !strcmp(query->range, "HEAD")) &&
                  al_ref_is_unborn(&repo->at);
    return *ret_unborn || al_git_read_well(output) ? 0 : al_git_failed(output, err);
}

int al_git_read_commits(const struct al_repo *repo, const struct al_log_query *query,
                        const struct al_log_taker *to, bool *ret_unborn, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    bool stopped = false;
    int r;

    command.buffered = !query->patch;
    al_strv_adds(&command.argv, "git", "log", NULL);
    add_format(query, &command.argv);
    add_filters(query, &command.argv);
    r = add_paths(repo, query, &command.argv, err);
    if (r == 0)
        r = run_log(repo, &command, query, to, &stopped, &output, err);
    return r < 0 ? r : end_walk(repo, query, &output, ret_unborn, err);
}

/* --- Search --- */

/* git log tells nothing of the commits that it looked through without finding anything, so git
 * rev-list lists them, and git log looks through so many at once. */
#define SEARCH_STEP 500u
/* The list is twice as long each time, since each walks from the beginning. */
#define SEARCH_LIST_MAX (SEARCH_STEP << 8)

/* The ids of the commits to look through, a line each. */
static int list_commits(const struct al_repo *repo, const struct al_log_query *query, uint64_t skip,
                        uint64_t count, struct al_str *ids, bool *ret_unborn, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_log_query walk = *query;
    int r;

    walk.changed = NULL;
    walk.max_count = count;
    if (!query->range && !query->all)
        walk.range = "HEAD";
    command.buffered = true;
    al_strv_adds(&command.argv, "git", "rev-list", NULL);
    al_strv_addf(&command.argv, "--skip=%" PRIu64, skip);
    add_filters(&walk, &command.argv);
    r = add_paths(repo, &walk, &command.argv, err);
    if (r == 0)
        r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = al_git_sink(ids) },
                       &output, err);
    return r < 0 ? r : end_walk(repo, query, &output, ret_unborn, err);
}

/* Look through the commits of such a list. */
static int look_through(const struct al_repo *repo, const struct al_log_query *query,
                        const char *ids, size_t len, const struct al_log_taker *to,
                        bool *ret_stopped, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_log_query look = { .paths = query->paths,
                                       .changed = query->changed,
                                       .regex = query->regex,
                                       .first_parent = query->first_parent,
                                       .stat = query->stat,
                                       .patch = query->patch };
    int r;

    command.input = ids;
    command.input_len = len;
    al_strv_adds(&command.argv, "git", "log", "--no-walk=unsorted", "--stdin", NULL);
    add_format(&look, &command.argv);
    add_filters(&look, &command.argv);
    r = add_paths(repo, &look, &command.argv, err);
    if (r == 0)
        r = run_log(repo, &command, &look, to, ret_stopped, &output, err);
    return r < 0 || al_git_read_well(&output) ? r : al_git_failed(&output, err);
}

int al_git_search_commits(const struct al_repo *repo, const struct al_log_query *query,
                          uint64_t skip, const struct al_log_taker *to, bool *ret_unborn,
                          struct al_error *err)
{
    al_auto(al_str_clear) struct al_str ids = AL_STR_INIT;
    size_t before = skip > 0, max = SEARCH_STEP, count;
    bool stopped = false;
    int r;

    do {
        al_str_reset(&ids);
        r = list_commits(repo, query, skip - before, max + before, &ids, ret_unborn, err);
        if (r < 0 || !ids.len)
            return r;
        const size_t line = strcspn(ids.buf, "\n") + 1;

        count = ids.len / line;
        if (before)
            stopped = !to->take_place(to->patch.payload, skip, ids.buf, line - 1);
        for (size_t at = before, n; r == 0 && !stopped && at < count; at += n) {
            n = count - at < SEARCH_STEP ? count - at : SEARCH_STEP;
            r = look_through(repo, query, ids.buf + at * line, n * line, to, &stopped, err);
            skip += n;
            if (r == 0 && !stopped)
                stopped = !to->take_place(to->patch.payload, skip, ids.buf + (at + n - 1) * line,
                                          line - 1);
        }
        stopped |= count < max + before;
        before = 0;
        max = max < SEARCH_LIST_MAX ? 2 * max : max;
    } while (r == 0 && !stopped);
    return r;
}

int al_git_commit_time(const struct al_repo *repo, const char *word, bool *ret_found,
                       int64_t *ret_time, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *seconds = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "log", "--max-count=1", "--format=%ct", "--no-patch",
                 "--no-show-signature", "--end-of-options", word, "--", NULL);
    r = al_git_run_word(repo, &command, &seconds, err);
    if (r < 0)
        return r;
    *ret_found = seconds && *seconds;
    *ret_time = *ret_found ? (int64_t)strtoull(seconds, NULL, 10) : 0;
    return 0;
}

int al_git_read_message(const struct al_repo *repo, size_t max_bytes, char **ret_message,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_buffer_clear) struct al_buffer text = AL_BUFFER_INIT(max_bytes);
    int r;

    al_strv_adds(&command.argv, "git", "log", "--max-count=1", "--format=%B", "--encoding=UTF-8",
                 "--no-patch", "--no-show-signature", "HEAD", "--", NULL);
    r = al_git_read(&repo->at, &command, al_buffer_sink(&text), err);
    if (r < 0)
        return r;
    al_str_trim_end(&text.text);
    *ret_message = al_str_detach(&text.text);
    return 0;
}

int al_git_log(const struct al_repo *repo, const struct al_log_options *options, size_t max_bytes,
               struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_strv *argv = &command.argv;
    al_auto(al_freep) char *spec = NULL;
    int r;

    al_strv_adds(argv, "git", "log", NULL);
    if (options->max_count > 0)
        al_strv_addf(argv, "--max-count=%" PRId64, options->max_count);
    if (options->format)
        add_value(argv, "--format", options->format);
    else if (options->oneline)
        al_strv_add(argv, "--oneline");
    add_value(argv, "--author", options->author);
    add_value(argv, "--since", options->since);
    add_value(argv, "--until", options->until);
    add_value(argv, "--grep", options->grep);
    al_strv_adds(argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
                 "--no-show-signature", "--", NULL);
    if (options->path) {
        r = al_repo_pathspec(repo, "path", options->path, &spec, err);
        if (r < 0)
            return r;
        al_strv_add(argv, spec);
    }
    return al_git_run_checked(&repo->at, &command, max_bytes, ret_output, err);
}

int al_git_show(const struct al_repo *repo, const struct al_show_options *options, size_t max_bytes,
                struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "show", NULL);
    if (options->name_only)
        al_strv_add(&command.argv, "--name-only");
    else if (options->stat)
        al_strv_add(&command.argv, "--stat");
    if (options->format)
        al_strv_addf(&command.argv, "--format=%s", options->format);
    al_strv_adds(&command.argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
                 "--no-show-signature", options->commit, "--", NULL);
    return al_git_run_checked(&repo->at, &command, max_bytes, ret_output, err);
}

/* --- Log reader --- */

static void begin_changes(struct al_log_reader *reader)
{
    al_change_reader_init(&reader->changes, reader->to->take_files, &reader->to->patch);
    reader->changes.files.in_patch = reader->query->patch && !reader->query->no_walk;
    reader->changes.lists_files = !reader->changes.files.in_patch;
    reader->has_changes = true;
    reader->record_begins = true;
    reader->state = AL_LOG_CHANGES;
}

static void end_changes(struct al_log_reader *reader)
{
    if (!reader->has_changes)
        return;
    if (!reader->stopped)
        reader->stopped = !al_change_reader_end(&reader->changes);
    al_change_reader_clear(&reader->changes);
    reader->has_changes = false;
}

void al_log_reader_init(struct al_log_reader *reader, const struct al_log_query *query,
                        const struct al_log_taker *to)
{
    *reader = (struct al_log_reader){ .query = query, .to = to };
    for (size_t i = 0; i < AL_LOG_FIELDS; i++)
        reader->fields[i] = AL_STR_INIT;
}

void al_log_reader_clear(struct al_log_reader *reader)
{
    if (reader->has_changes)
        al_change_reader_clear(&reader->changes);
    for (size_t i = 0; i < AL_LOG_FIELDS; i++)
        al_str_clear(&reader->fields[i]);
}

static void end_header(struct al_log_reader *reader)
{
    const struct al_log_query *query = reader->query;
    struct al_str *fields = reader->fields;
    struct al_logged commit;

    al_str_trim_end(&fields[5]);
    commit = (struct al_logged){ .hash = fields[0].buf,
                                 .date = fields[1].buf,
                                 .author = fields[2].buf,
                                 .decorations = fields[3].buf,
                                 .parents = fields[4].buf,
                                 .message = fields[5].buf };
    reader->stopped = !reader->to->take_commit(reader->to->patch.payload, &commit);
    reader->state = query->stat || query->patch || query->no_walk ? AL_LOG_ENDED : AL_LOG_BEFORE;
}

static void begin_header(struct al_log_reader *reader)
{
    for (size_t i = 0; i < AL_LOG_FIELDS; i++)
        al_str_reset(&reader->fields[i]);
    reader->at = 0;
    reader->state = AL_LOG_HEADER;
}

/* Each of the functions below reads some bytes, and returns how many. */

static size_t read_field(struct al_log_reader *reader, const char *data, size_t len)
{
    const char *end = memchr(data, '\0', len);
    size_t piece = end ? (size_t)(end - data) : len;

    al_str_add(&reader->fields[reader->at], data, piece);
    if (end && ++reader->at == AL_LOG_FIELDS)
        end_header(reader);
    return piece + (end != NULL);
}

static size_t read_before(struct al_log_reader *reader, const char *data)
{
    if (*data == '\0')
        begin_header(reader);
    else if (*data == '\n')
        begin_changes(reader);
    return 1;
}

/* One record or line of the changes, or a part of one. */
static size_t read_changes(struct al_log_reader *reader, const char *data, size_t len)
{
    bool lines = reader->changes.files.in_patch;
    const char *end;

    if (reader->query->no_walk) {
        reader->stopped = !al_change_reader_add(&reader->changes, data, len);
        return len;
    }
    if (reader->record_begins && *data == '\0') {
        end_changes(reader);
        begin_header(reader);
        return 1;
    }
    end = memchr(data, lines ? '\n' : '\0', len);
    if (end)
        len = (size_t)(end - data) + 1;
    reader->record_begins = end != NULL;
    reader->stopped = !al_change_reader_add(&reader->changes, data, len);
    return len;
}

bool al_log_reader_add(void *payload, const char *data, size_t len)
{
    struct al_log_reader *reader = payload;

    while (len && !reader->stopped) {
        size_t read = 1;

        switch (reader->state) {
        case AL_LOG_BEFORE:
            read = read_before(reader, data);
            break;
        case AL_LOG_HEADER:
            read = read_field(reader, data, len);
            break;
        case AL_LOG_ENDED:
            reader->state = AL_LOG_BEFORE;
            break;
        case AL_LOG_CHANGES:
            read = read_changes(reader, data, len);
            break;
        }
        data += read;
        len -= read;
    }
    return !reader->stopped;
}

void al_log_reader_end(struct al_log_reader *reader)
{
    end_changes(reader);
}
