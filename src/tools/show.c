// SPDX-License-Identifier: Apache-2.0
/* git_show: a commit with its changes, with git's words; or with text of our own, a commit, a tag,
 * a file or a directory at a revision. */
#include <inttypes.h>

#include "git/failure.h"
#include "git/plumbing/revision.h"
#include "git/reading/read_log.h"
#include "git/reading/read_object.h"
#include "git/refs.h"
#include "tools/private.h"

struct show_args {
    bool stat, hunks;
    struct al_show_options options; /* of the toolset git */
    struct al_opt_int max_bytes;
    const char *rev, *path, *lines; /* of the toolset everyday */
    struct al_lines range;          /* what `lines` says */
    struct al_page page;
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

/* The toolset git. */

static const struct al_param git_params[] = {
    AL_STRING_IN(struct show_args, options, commit, "What to show.",
                 .flags = AL_PARAM_HAS_DEFAULT | AL_PARAM_NAME, .default_str = "HEAD",
                 .check = al_arg_check_revision),
    AL_BOOL_IN(struct show_args, options, stat, "As --stat.", .unless = "name_only"),
    AL_BOOL_IN(struct show_args, options, name_only, "Names only; wins over stat."),
    AL_STRING_IN(struct show_args, options, format, "As --format."),
    AL_GIT_MAX_BYTES_ROW(struct show_args, .unless = NULL),
    AL_GIT_COMMON_ROWS(struct show_args),
};

static int git_show(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct show_args *args = al_call_args(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_show(al_call_repo(call), &args->options, al_call_max_bytes(call), &output, err);

    return al_call_shape_text(call, r, &output, "", result);
}

const struct al_tool al_tool_git_show = {
    .name = "git_show",
    .title = "Show a commit",
    .about = "Show one commit: author, date, message and changes.",
    AL_TOOL_ONE(git_params, "show", NULL, AL_READS, git_show, AL_ASKS_BY_EFFECTS),
    AL_DIALECT_TOOL(struct show_args),
    .summary = "Show commit {commit}",
};

/* The toolset everyday. */

/* A file with a NUL in this many bytes at its beginning is binary, as for git. */
#define BINARY_BYTES 8000u
/* Lines are added in units of about this size. */
#define UNIT_BYTES 2048u

#define GITLINK    0160000u

/* A file while it is shown. */
struct viewing {
    struct al_pages *pages;
    const struct al_lines *lines;
    const struct al_object_info *info;
    struct al_str unit; /* lines that were not added yet */
    uint64_t line;      /* the number of the line that is read */
    uint64_t read;      /* bytes */
    bool in_line, is_binary;
};

static bool flush(struct viewing *viewing)
{
    bool more =
        !viewing->unit.len || al_pages_add(viewing->pages, viewing->unit.buf, viewing->unit.len);

    al_str_reset(&viewing->unit);
    return more;
}

/* Add a part of a line, or its end. */
static bool add_piece(struct viewing *viewing, const char *data, size_t len, bool ends)
{
    if (viewing->line >= viewing->lines->first && viewing->line <= viewing->lines->last) {
        if (!viewing->in_line && viewing->lines->is_numbered)
            al_str_addf(&viewing->unit, "%" PRIu64 "\t", viewing->line);
        al_str_add(&viewing->unit, data, len);
        if (ends)
            al_str_addc(&viewing->unit, '\n');
    }
    viewing->in_line = !ends;
    viewing->line += ends;
    return !ends || viewing->unit.len < UNIT_BYTES || flush(viewing);
}

static bool take_bytes(void *payload, const char *data, size_t len)
{
    struct viewing *viewing = payload;

    if (!viewing->read && memchr(data, '\0', len < BINARY_BYTES ? len : BINARY_BYTES)) {
        viewing->is_binary = true;
        return false;
    }
    viewing->read += len;
    while (len) {
        const char *end = memchr(data, '\n', len);
        size_t piece = end ? (size_t)(end - data) : len;

        if (!add_piece(viewing, data, piece, end != NULL) || viewing->line > viewing->lines->last)
            return false;
        data += piece + (end != NULL);
        len -= piece + (end != NULL);
    }
    return true;
}

static int show_file(struct al_call *call, struct viewing *viewing, struct al_result *result,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    int r = al_git_read_object(al_call_repo(call), viewing->info,
                               (struct al_sink){ take_bytes, viewing }, err);

    if (r < 0)
        return r;
    if (viewing->in_line && viewing->unit.len)
        al_str_adds(&viewing->unit, "\n\\ No newline at end of file\n");
    (void)flush(viewing);
    if (viewing->is_binary)
        (void)al_pages_addf(viewing->pages, "Binary file, %s.\n",
                            al_counted(viewing->info->bytes, "byte", "bytes").text);
    else if (!viewing->info->bytes)
        (void)al_pages_adds(viewing->pages, "Empty file.\n");
    else if (viewing->line - !viewing->in_line < viewing->lines->first)
        return al_failure_bad_args(err, "Give lines that the file has.",
                                   "lines: the file has only %" PRIu64,
                                   viewing->line - !viewing->in_line);
    al_str_addf(&left, "the file has %s", al_counted(viewing->info->bytes, "byte", "bytes").text);
    if (viewing->lines->is_numbered)
        al_str_addf(&left, ", and the lines from about %" PRIu64 " on are not shown",
                    viewing->line);
    return al_pages_end(viewing->pages, left.buf, result, err);
}

static bool take_entry(void *payload, const struct al_tree_entry *entry)
{
    struct al_pages *pages = payload;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_place_add_name(entry->name, &line);
    if (S_ISDIR(entry->mode)) {
        al_str_addc(&line, '/');
    } else if (entry->mode == GITLINK) {
        al_str_adds(&line, " (submodule)");
    } else {
        if (S_ISLNK(entry->mode))
            al_str_adds(&line, " (symbolic link)");
        else if (entry->mode & 0111)
            al_str_adds(&line, " (executable)");
        if (entry->bytes)
            al_str_addf(&line, " %s", al_counted(entry->bytes, NULL, NULL).text);
    }
    al_str_addc(&line, '\n');
    return al_pages_add(pages, line.buf, line.len);
}

/* Show a file or a directory, and make it the result. */
static int view_file(struct al_call *call, const struct al_object_info *info,
                     const struct al_lines *lines, struct al_pages *pages, struct al_result *result,
                     struct al_error *err)
{
    struct viewing viewing = {
        .pages = pages, .lines = lines, .info = info, .unit = AL_STR_INIT, .line = 1
    };
    int r;

    if (info->type == AL_OBJECT_BLOB) {
        r = show_file(call, &viewing, result, err);
        al_str_clear(&viewing.unit);
        return r;
    }
    if (info->type != AL_OBJECT_TREE)
        return al_failure_bad_args(err, "Give rev alone for a commit.",
                                   "path: there is a submodule, whose files are not in here");
    r = al_git_read_tree(al_call_repo(call), info, take_entry, pages, err);
    if (r < 0)
        return r;
    if (!pages->at)
        (void)al_pages_adds(pages, "Empty directory.\n");
    return al_pages_end(pages, "more entries", result, err);
}

/* "tagger Lee <mail> 1700000000 +0100" */
static void add_tagger(const char *line, struct al_str *out)
{
    const char *mail = strchr(line, '>');
    al_auto(al_freep) char *who = mail ? al_strndup(line, (size_t)(mail - line) + 1) : NULL;
    time_t when = mail ? (time_t)strtoull(mail + 1, NULL, 10) : 0;
    struct tm day;
    char date[32];

    if (!who || !gmtime_r(&when, &day) || !strftime(date, sizeof(date), "%Y-%m-%d", &day))
        return;
    al_place_addf(out, " %s %s", date, who);
}

#define TAG_MAX_BYTES 65536u

static const struct al_param everyday_params[] = {
    AL_STRING(struct show_args, rev, "Default: HEAD.", .flags = AL_PARAM_NAME | AL_PARAM_REVISION,
              .check = al_arg_check_revision),
    AL_STRING(struct show_args, path, "A file or directory at that revision.",
              .flags = AL_PARAM_PATH),
    AL_STRING(struct show_args, lines, "Of the file, numbered: \"4,6\".", .max_bytes = 64),
    AL_BOOL(struct show_args, stat, NULL),
    AL_BOOL(struct show_args, hunks, "Each with an id, to split the commit by git_rebase."),
    AL_PAGE_ROWS(struct show_args),
    AL_WORKING_DIR_ROW(struct show_args),
};

static int everyday_check(void *p, struct al_error *err)
{
    struct show_args *args = p;

    if (args->lines && !args->path)
        return al_failure_bad_args(err, "Give path, or leave out lines.",
                                   "lines: they are of a file, and no path is given");
    if (args->stat && args->path)
        return al_failure_bad_args(err, "Leave out stat, or path.",
                                   "stat is of a commit; with path a file is shown");
    if (args->hunks && (args->stat || args->path))
        return al_failure_bad_args(err, "Leave out stat and path.",
                                   "hunks are of a commit, without stat and path");
    return al_lines_read(args->lines, &args->range, err);
}

static bool take_commit(void *payload, const struct al_logged *commit)
{
    struct al_change_view *view = payload;
    al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;

    al_place_addf(&unit, "%s %s %s", commit->hash, commit->date, commit->author);
    if (*commit->decorations)
        al_place_addf(&unit, " (%s)", commit->decorations);
    al_str_addf(&unit, "\n\n%s\n\n", commit->message);
    if (strchr(commit->parents, ' '))
        al_str_addf(&unit, "merge of %s; changes against the first parent:\n", commit->parents);
    return al_pages_add(view->pages, unit.buf, unit.len);
}

static int show_commit(struct al_call *call, const struct show_args *args, const char *oid,
                       struct al_pages *pages, struct al_result *result, struct al_error *err)
{
    al_auto(al_change_view_clear) struct al_change_view view = {
        .pages = pages, .repo = al_call_repo(call), .lists_all = args->stat, .header = AL_STR_INIT
    };
    const struct al_log_query query = { .range = oid, .no_walk = true, .patch = !args->stat };
    struct al_log_taker to = { .take_commit = take_commit,
                               .take_files = al_change_view_files,
                               .patch = al_change_view_taker };
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    bool unborn;
    int r;

    to.patch.payload = &view;
    r = al_git_read_commits(al_call_repo(call), &query, &to, &unborn, err);
    if (r < 0)
        return r;
    (void)al_change_view_end(&view);
    al_change_view_left(&view, &left);
    return al_pages_end(pages, left.buf, result, err);
}

/* The changes against the first parent, each hunk with its id. */
static int show_hunks(struct al_call *call, const char *oid, struct al_pages *pages,
                      struct al_result *result, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT, line = AL_STR_INIT;
    al_auto(al_freep) char *word = al_asprintf("%s^", oid);
    al_auto(al_freep) char *parent = NULL;
    size_t shown = 0;
    int r = al_git_find_object(repo, word, "commit", &parent, err);

    if (r == 0)
        r = al_git_read_hunks(
            repo,
            &(struct al_hunk_query){ .side = AL_HUNKS_COMMITTED,
                                     .from = parent ? parent : al_git_empty_tree(repo),
                                     .to = oid },
            &list, err);
    if (r == 0)
        r = al_outcome_add_commit(call, "", oid, "\n", &line, err);
    if (r < 0)
        return r;
    (void)al_pages_adds(pages, line.buf);
    if (!al_change_view_hunks(repo, &list, AL_HUNKS_CONTEXT, pages, &shown))
        al_str_addf(&left, "%s of %zu hunks not shown",
                    al_counted(list.count - shown, NULL, NULL).text, list.count);
    return al_pages_end(pages, left.buf, result, err);
}

static int no_revision(const char *rev, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str word = AL_STR_INIT;

    al_place_add_name(rev, &word);
    return al_git_would_fail(err, "bad revision '%s'", word.buf);
}

/* The text of a tag, above the commit that it names: "tag v1 2026-02-07 Lee <mail>", then its
 * message. */
static int add_tag(struct al_call *call, const struct al_object_info *tag, struct al_pages *pages,
                   struct al_error *err)
{
    al_auto(al_buffer_clear) struct al_buffer text = AL_BUFFER_INIT(TAG_MAX_BYTES);
    al_auto(al_str_clear) struct al_str unit = AL_STR_INIT, message = AL_STR_INIT;
    int r = al_git_read_object(al_call_repo(call), tag, al_buffer_sink(&text), err);
    char *body = r == 0 ? strstr(text.text.buf, "\n\n") : NULL, *save = NULL;

    if (r < 0)
        return r;
    al_str_adds(&unit, "tag");
    if (body) {
        *body = '\0';
        al_str_adds(&message, body + 2);
        al_str_trim_end(&message);
    }
    for (char *line = strtok_r(text.text.buf, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (al_starts_with(line, "tag "))
            al_place_addf(&unit, " %s", line + strlen("tag "));
        else if (al_starts_with(line, "tagger "))
            add_tagger(line + strlen("tagger "), &unit);
    }
    al_str_addf(&unit, "\n\n%s\n\n", message.buf);
    (void)al_pages_add(pages, unit.buf, unit.len);
    return 0;
}

/* A revision: a commit, a tag of one, or a directory or file by its id or as "rev:path". */
static int show_revision(struct al_call *call, const struct show_args *args, const char *rev,
                         struct al_pages *pages, struct al_result *result, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_object_info_clear) struct al_object_info info = AL_OBJECT_INFO_INIT;
    al_auto(al_freep) char *peeled = NULL;
    int r = al_git_read_object_info(repo, rev, &info, err);

    for (int depth = 0; r == 0 && info.type == AL_OBJECT_TAG && depth < 5; depth++) {
        r = add_tag(call, &info, pages, err);
        free(peeled);
        peeled = al_asprintf("%s^{}", info.oid);
        al_object_info_clear(&info);
        info = AL_OBJECT_INFO_INIT;
        if (r == 0)
            r = al_git_read_object_info(repo, peeled, &info, err);
    }
    if (r < 0)
        return r;
    if (info.type == AL_OBJECT_NONE && !args->rev && al_ref_is_unborn(&repo->at)) {
        (void)al_pages_adds(pages, "No commits yet.\n");
        return al_pages_end(pages, "", result, err);
    }
    if (info.type == AL_OBJECT_NONE)
        return no_revision(rev, err);
    if (info.type == AL_OBJECT_COMMIT && args->hunks)
        return show_hunks(call, info.oid, pages, result, err);
    if (info.type == AL_OBJECT_COMMIT)
        return show_commit(call, args, info.oid, pages, result, err);
    if (args->stat || args->hunks)
        return al_failure_bad_args(err, "Leave it out.", "%s: '%s' is no commit",
                                   args->stat ? "stat" : "hunks", rev);
    return view_file(call, &info, &(struct al_lines){ .first = 1, .last = UINT64_MAX }, pages,
                     result, err);
}

static int show_path(struct al_call *call, const struct show_args *args, const char *rev,
                     struct al_pages *pages, struct al_result *result, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_object_info_clear) struct al_object_info info = AL_OBJECT_INFO_INIT;
    al_auto(al_object_info_clear) struct al_object_info whole = AL_OBJECT_INFO_INIT;
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *word = NULL;
    int r = al_place_from_argument(repo, "path", args->path, &path, err);

    if (r < 0)
        return r;
    word = al_asprintf("%s:%s", rev, path);
    r = al_git_read_object_info(repo, word, &info, err);
    if (r == 0 && info.type == AL_OBJECT_NONE)
        r = al_git_read_object_info(repo, rev, &whole, err);
    if (r < 0)
        return r;
    if (info.type == AL_OBJECT_NONE)
        return whole.type == AL_OBJECT_NONE ? no_revision(rev, err)
                                            : al_missing_path_fail(call, args->path, rev, err);
    if (args->lines && info.type != AL_OBJECT_BLOB)
        return al_failure_bad_args(err, "Leave out lines.", "lines: the path is no file");
    return view_file(call, &info, &args->range, pages, result, err);
}

static int everyday_show(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct show_args *args = al_call_args(call);
    const char *rev = args->rev ? args->rev : "HEAD";
    al_auto(al_pages_clear) struct al_pages pages = AL_PAGES_INIT;
    int r = al_pages_begin(&pages, call, &args->page, err);

    if (r < 0)
        return r;
    return args->path ? show_path(call, args, rev, &pages, result, err)
                      : show_revision(call, args, rev, &pages, result, err);
}

const struct al_tool al_tool_everyday_show = {
    .name = "git_show",
    .title = "Show a commit or file",
    .about = "Show a commit or tag; with path a file or directory at a revision.",
    AL_TOOL_ONE(everyday_params, "show", NULL, AL_READS, everyday_show, AL_ASKS_NEVER),
    AL_EVERYDAY_TOOL(struct show_args),
    AL_EVERYDAY_PAGES,
    .check = everyday_check,
};
