// SPDX-License-Identifier: Apache-2.0
#include "git/diff/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "git/command.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/diff_raw.h"
#include "git/repo/repo.h"
#include "git/run.h"

void al_git_diff_add_options(const struct al_diff_options *options, struct al_strv *argv)
{
    if (options->cached)
        al_strv_add(argv, "--cached");
    if (options->unified >= 0)
        al_strv_addf(argv, "-U%" PRId64, options->unified);
    if (options->not_deleted)
        al_strv_add(argv, "--diff-filter=d");
    al_strv_adds(argv, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", NULL);
    if (options->from_ref)
        al_strv_add(argv, options->from_ref);
    if (options->to_ref)
        al_strv_add(argv, options->to_ref);
    /* Always added: a path is then never taken for a revision, and git never compares two plain
     * files. */
    al_strv_add(argv, "--");
}

/* A diff is not split over several git children: the column widths of --stat and the order of the
 * files cover the whole diff. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_strv *argv, struct al_error *err)
{
    al_git_diff_add_options(options, argv);
    return al_batch_add_all(repo, options->paths, "diff", argv, err);
}

int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.show_controls = options->show_controls;
    al_strv_adds(&command.argv, "git", "diff", NULL);
    if (options->name_only)
        al_strv_add(&command.argv, "--name-only");
    else if (options->stat)
        al_strv_add(&command.argv, "--stat");
    r = al_git_diff_add_args(repo, options, &command.argv, err);
    if (r < 0)
        return r;
    return al_git_run_checked(&repo->at, &command, max_bytes, ret_output, err);
}

/* --- Read the hunks --- */

/* A conflicted file is listed twice in a row. */
static int count_files(const struct al_repo *repo, const struct al_diff_options *options,
                       size_t *ret_files, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--name-only", "-z", NULL);
    r = al_git_diff_add_args(repo, options, &command.argv, err);
    if (r == 0)
        r = al_git_read_records(&repo->at, &command, 1, al_nul_records_list, &names, err);
    if (r == 0)
        *ret_files = 0;
    for (size_t i = 0; r == 0 && i < names.count; i++)
        *ret_files += !i || strcmp(names.items[i], names.items[i - 1]) != 0;
    return r;
}

int al_git_read_diff(const struct al_repo *repo, const struct al_diff_options *options,
                     size_t max_bytes, struct al_hunks *hunks, struct al_str *ret_text,
                     bool *ret_truncated, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_buffer_clear) struct al_buffer patch = AL_BUFFER_INIT(max_bytes + 1);
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--src-prefix=" AL_HUNKS_OLD_PREFIX,
                 "--dst-prefix=" AL_HUNKS_NEW_PREFIX, NULL);
    r = al_git_diff_add_args(repo, options, &command.argv, err);
    if (r == 0)
        r = al_git_read(&repo->at, &command, al_buffer_sink(&patch), err);
    if (r < 0)
        return r;
    *ret_truncated = patch.text.len > max_bytes;
    if (*ret_truncated)
        al_str_truncate(&patch.text, al_utf8_floor(patch.text.buf, max_bytes));
    al_hunks_add(hunks, patch.text.buf, patch.text.len);
    al_hunks_end(hunks);
    al_str_add(ret_text, patch.text.buf, patch.text.len);
    return *ret_truncated ? count_files(repo, options, &hunks->files, err) : 0;
}

/* --- Ci files --- */

/* A name that ends with "/" is a directory at the top; the others are files in any directory. */
static const char *const names[] = {
    ".github/workflows/",
    ".github/actions/",
    ".gitea/workflows/",
    ".gitea/actions/",
    ".forgejo/workflows/",
    ".forgejo/actions/",
    ".gitlab-ci.yml",
    ".gitlab/ci/",
    ".circleci/",
    ".travis.yml",
    ".cirrus.yml",
    ".cirrus.star",
    ".drone.yml",
    ".drone.yaml",
    ".drone.star",
    ".drone.jsonnet",
    ".woodpecker/",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    ".buildkite/",
    ".azure-pipelines/",
    ".azure-pipelines.yml",
    ".azure-pipelines.yaml",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    ".appveyor.yml",
    "appveyor.yml",
    ".semaphore/",
    ".builds/",
    ".build.yml",
    ".tekton/",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "Jenkinsfile",
};

bool al_path_runs_in_ci(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

    for (size_t i = 0; i < AL_COUNT(names); i++)
        if (al_ends_with(names[i], "/") ? al_starts_with(path, names[i]) : !strcmp(file, names[i]))
            return true;
    return false;
}

/* --- Patches --- */

/** Larger line numbers are rejected. */
#define LINES_MAX INT32_MAX

/** The bytes of a longer line that are read, if it may be cut. */
#define LINE_MAX_BYTES (4u << 20)
#define PART_BYTES     (64u << 10)

bool al_hunks_begins(const char *line, size_t len, const char *words)
{
    const size_t wanted = strlen(words);

    return len >= wanted && !memcmp(line, words, wanted);
}

/* Decode one character of a quoted name. Returns how many bytes it takes in the quoted form. */
static size_t unquote_one(const char *at, size_t len, char *ret)
{
    static const char letters[] = "abtnvfr\"\\", values[] = "\a\b\t\n\v\f\r\"\\";
    const char *letter;

    *ret = *at;
    if (*at != '\\' || len < 2)
        return 1;
    letter = memchr(letters, at[1], sizeof(letters) - 1);
    if (letter) {
        *ret = values[letter - letters];
        return 2;
    }
    if (len < 4 || at[1] < '0' || at[1] > '3' || at[2] < '0' || at[2] > '7' || at[3] < '0' ||
        at[3] > '7')
        return 1;
    *ret = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
    return 4;
}

/* A name, unquoted if git has quoted it.  Caller frees. */
static char *name_of(const char *at, size_t len)
{
    struct al_str name = AL_STR_INIT;

    if (!len || *at != '"')
        return al_strndup(at, len);
    at++;
    len--;
    while (len && *at != '"') {
        char c;
        size_t n = unquote_one(at, len, &c);

        al_str_addc(&name, c);
        at += n;
        len -= n;
    }
    return al_str_detach(&name);
}

static void forget_file(struct al_hunks *hunks)
{
    free(hunks->file.path);
    free(hunks->file.old_path);
    hunks->file = (struct al_patch_file){ .path = NULL };
}

static bool read_number(const char **at, const char *end, int64_t *ret)
{
    const char *first = *at;
    int64_t number = 0;

    while (*at < end && **at >= '0' && **at <= '9' && number <= LINES_MAX)
        number = number * 10 + (*(*at)++ - '0');
    *ret = number;
    return *at > first && number <= LINES_MAX;
}

/* Parse "12,3", or "12", which means one line. */
static bool read_range(const char **at, const char *end, int64_t *ret_start, int64_t *ret_lines)
{
    *ret_lines = 1;
    if (!read_number(at, end, ret_start))
        return false;
    if (*at == end || **at != ',')
        return true;
    (*at)++;
    return read_number(at, end, ret_lines);
}

/* Parse "@@ -1,2 +3,4 @@ header". A combined diff has one range more for each further parent, "@@@
 * -1,2 -1,2 +3,4 @@@ header"; the first range is used. Returns the number of parents, 0 when the
 * line is no hunk header. */
static int read_head(const struct al_patch_line *line, struct al_hunk *hunk)
{
    const char *at = line->text, *end = line->text + line->len;
    int marks = 0, parents = 0;
    int64_t start, lines;

    while (at < end && *at == '@') {
        at++;
        marks++;
    }
    for (; end - at > 2 && at[0] == ' ' && at[1] == '-'; parents++) {
        at += 2;
        if (!read_range(&at, end, &start, &lines))
            return 0;
        if (!parents) {
            hunk->old_start = start;
            hunk->old_lines = lines;
        }
    }
    if (marks < 2 || parents != marks - 1 || end - at < 3 || at[0] != ' ' || at[1] != '+')
        return 0;
    at += 2;
    if (!read_range(&at, end, &hunk->new_start, &hunk->new_lines))
        return 0;
    if (end - at < 1 + marks || *at++ != ' ')
        return 0;
    for (int i = 0; i < marks; i++)
        if (*at++ != '@')
            return 0;
    at += at < end && *at == ' ';
    hunk->header = at;
    hunk->header_len = (size_t)(end - at);
    return parents;
}

static bool is_content(char kind)
{
    return kind == ' ' || kind == '+' || kind == '-' || kind == '\\';
}

/* Whether the line belongs to the current hunk: it is one of the lines that the header counts, or
 * the remark about a missing newline. A line of a combined hunk has one column for each parent, and
 * no header begins like one. */
static bool is_body(struct al_hunks *hunks, const struct al_patch_line *line)
{
    char kind =
        line->len ? *line->text : ' '; /* an empty context line under diff.suppressBlankEmpty */

    if (hunks->parents > 1)
        return line->len && is_content(kind);
    if (!is_content(kind) || (kind != '\\' && hunks->old_left <= 0 && hunks->new_left <= 0))
        return false;
    hunks->old_left -= kind == ' ' || kind == '-';
    hunks->new_left -= kind == ' ' || kind == '+';
    return true;
}

/* The file that a line begins, by its new name unless it is renamed; NULL: the line begins none.
 * "diff --git a/x b/x": both names are the same, unless further lines say that the file was
 * renamed. So the blank between them is in the middle, whatever blanks they have.  Caller frees. */
static char *begun_file(const char *line, size_t len, bool *ret_unmerged)
{
    static const char *const words[] = { "diff --git ", "diff --cc ", "diff --combined ",
                                         "* Unmerged path " };

    for (size_t i = 0; i < AL_COUNT(words); i++) {
        const char *text = line + strlen(words[i]);
        al_auto(al_freep) char *name = NULL;

        if (!al_hunks_begins(line, len, words[i]))
            continue;
        len -= strlen(words[i]);
        *ret_unmerged = i > 0;
        name = name_of(text, i == 0 && len && *text != '"' ? len / 2 : len);
        return i == 0 && al_starts_with(name, AL_HUNKS_OLD_PREFIX)
                   ? al_strdup(name + strlen(AL_HUNKS_OLD_PREFIX))
                   : al_take(&name);
    }
    return NULL;
}

static void set_name(char **name, const char *text, size_t len)
{
    free(*name);
    *name = name_of(text, len);
}

static const struct {
    const char *words;
    enum {
        NEW_FILE,
        DELETED,
        OLD_MODE,
        NEW_MODE,
        SAME_MODE,
        RENAME_FROM,
        COPY_FROM,
        NEW_NAME,
        BINARY
    } is;
} headers[] = {
    { "new file mode ", NEW_FILE }, { "deleted file mode ", DELETED },
    { "old mode ", OLD_MODE },      { "new mode ", NEW_MODE },
    { "index ", SAME_MODE },        { "rename from ", RENAME_FROM },
    { "copy from ", COPY_FROM },    { "rename to ", NEW_NAME },
    { "copy to ", NEW_NAME },       { "Binary files ", BINARY },
    { "GIT binary patch", BINARY },
};

static void read_header(struct al_patch_file *file, const struct al_patch_line *line)
{
    const char *rest, *last;
    size_t i = 0, len;

    while (i < AL_COUNT(headers) && !al_hunks_begins(line->text, line->len, headers[i].words))
        i++;
    if (i == AL_COUNT(headers))
        return;
    rest = line->text + strlen(headers[i].words);
    len = line->len - strlen(headers[i].words);
    switch (headers[i].is) {
    case NEW_FILE:
        file->is_new = true;
        file->mode = al_diff_mode(rest);
        break;
    case DELETED:
        file->is_deleted = true;
        file->old_mode = al_diff_mode(rest);
        break;
    case OLD_MODE:
        file->old_mode = al_diff_mode(rest);
        break;
    case NEW_MODE:
        file->mode = al_diff_mode(rest);
        break;
    case SAME_MODE: /* "<id>..<id> <mode>": the mode is there when it has not changed */
        last = memrchr(rest, ' ', len);
        if (last)
            file->old_mode = file->mode = al_diff_mode(last + 1);
        break;
    case COPY_FROM:
        file->is_copy = true;
        set_name(&file->old_path, rest, len);
        break;
    case RENAME_FROM:
        set_name(&file->old_path, rest, len);
        break;
    case NEW_NAME:
        set_name(&file->path, rest, len);
        break;
    case BINARY:
        file->is_binary = true;
        break;
    }
}

/* Classify the line, and update the state for the next one. */
static void read_line(struct al_hunks *hunks, struct al_patch_line *line)
{
    struct al_hunk *hunk = &hunks->hunk;

    if (hunks->parents && is_body(hunks, line)) {
        line->in_hunk = hunk->file != NULL;
        return;
    }
    hunks->parents = line->len && *line->text == '@' ? read_head(line, hunk) : 0;
    hunk->file = hunks->file.path;
    if (!hunks->parents)
        return;
    hunks->old_left = hunk->old_lines;
    hunks->new_left = hunk->new_lines;
    line->head = hunk->file ? hunk : NULL;
}

/* Pass on the line that was read. */
static void take_line(struct al_hunks *hunks, bool ended)
{
    struct al_str *text = &hunks->partial_line;
    struct al_patch_line line = {
        .text = text->buf, .len = text->len, .ended = ended, .continues = hunks->continues
    };
    bool is_unmerged = false;
    char *begun = NULL;

    hunks->continues = hunks->in_parts && !ended;
    if (!line.continues)
        read_line(hunks, &line);
    if (!hunks->parents && !line.continues)
        begun = begun_file(text->buf, text->len, &is_unmerged);
    if (!hunks->parents && !line.continues && !begun && hunks->file.path)
        read_header(&hunks->file, &line);
    line.begins_file = begun;
    hunks->files += line.begins_file;
    hunks->take(hunks->payload, &line);
    al_str_reset(text);
    if (!begun)
        return;
    forget_file(hunks);
    hunks->file = (struct al_patch_file){ .path = begun, .is_unmerged = is_unmerged };
}

/* Add a part of a line.  The rest of one that is too long is left out. */
static void add_piece(struct al_hunks *hunks, const char *data, size_t len)
{
    static const char cut[] = " [a line of more than 4 MiB, cut here]";
    const size_t have = hunks->partial_line.len;

    if (hunks->cuts_lines && have > LINE_MAX_BYTES)
        return;
    if (hunks->cuts_lines && have + len > LINE_MAX_BYTES) {
        al_str_add(&hunks->partial_line, data, LINE_MAX_BYTES - have);
        data = cut;
        len = strlen(cut);
    }
    al_str_add(&hunks->partial_line, data, len);
}

void al_hunks_add(struct al_hunks *hunks, const char *data, size_t len)
{
    while (len) {
        const char *newline = memchr(data, '\n', len);
        const size_t piece = newline ? (size_t)(newline - data) : len;

        add_piece(hunks, data, piece);
        if (newline || (hunks->in_parts && hunks->partial_line.len > PART_BYTES))
            take_line(hunks, newline);
        data += piece + (newline != NULL);
        len -= piece + (newline != NULL);
    }
}

void al_hunks_end(struct al_hunks *hunks)
{
    if (hunks->partial_line.len)
        take_line(hunks, false);
}

void al_hunks_clear(struct al_hunks *hunks)
{
    forget_file(hunks);
    al_str_clear(&hunks->partial_line);
}

/* --- Changed files and their patch --- */

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

static void take_patch_line(void *payload, const struct al_patch_line *line)
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
                                         .hunks = AL_HUNKS_INIT(take_patch_line, reader),
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
