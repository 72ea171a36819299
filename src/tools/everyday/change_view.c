// SPDX-License-Identifier: Apache-2.0
#include "tools/private.h"

#include <inttypes.h>

#define NUMBER_MAX INT32_MAX

/* A number from 1 on; false: there is none. */
static bool read_number(const char **at, uint64_t *ret)
{
    uint64_t number = 0;

    for (; **at >= '0' && **at <= '9' && number <= NUMBER_MAX; (*at)++)
        number = number * 10 + (uint64_t)(**at - '0');
    *ret = number;
    return number >= 1 && number <= NUMBER_MAX;
}

int al_lines_read(const char *text, struct al_lines *ret_lines, struct al_error *err)
{
    const char *at = text;
    bool good = true;

    *ret_lines = (struct al_lines){ .first = 1, .last = UINT64_MAX, .is_numbered = text };
    if (!text)
        return 0;
    good = read_number(&at, &ret_lines->first);
    if (good && !*at)
        ret_lines->last = ret_lines->first;
    else if (good && strchr(",-", *at) && at[1]) /* as git's -L, and as people write a range */
        good = (at++, read_number(&at, &ret_lines->last)) && !*at &&
               ret_lines->last >= ret_lines->first;
    else
        good = good && *at == ',';
    return good ? 0
                : al_failure_bad_args(err, "Give the first and the last line: lines \"120,160\".",
                                      "lines: not a range of lines");
}

/* A longer list of files is collapsed. */
#define FILES_MAX 100
/* The names of files that are not shown. */
#define LEFT_BYTES 400

#define GITLINK    0160000u

void al_change_view_clear(struct al_change_view *view)
{
    al_str_clear(&view->header);
    free(al_take(&view->at));
}

/* Of a renamed file: "old.c -> new.c". */
static void add_path(const struct al_repo *repo, const char *old_path, const char *path,
                     struct al_str *out)
{
    if (old_path) {
        al_place_add(repo, old_path, out);
        al_str_adds(out, " -> ");
    }
    al_place_add(repo, path, out);
}

void al_change_view_add_file(const struct al_repo *repo, const struct al_change *file,
                             struct al_str *out)
{
    add_path(repo, file->old_path, file->path, out);
    if (file->binary) {
        al_str_adds(out, " binary");
    } else if (file->added || file->deleted) {
        al_str_addf(out, " +%" PRIu64 " -%" PRIu64, file->added, file->deleted);
    }
}

struct listing {
    struct al_change_view *view;
    const struct al_diff_raw *files;
};

/* A line of a collapsed list: a file, a directory, or the rest of one. */
static void take_line(void *payload, const char *path, size_t count, size_t index)
{
    const struct listing *listing = payload;
    const struct al_repo *repo = listing->view->repo;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    uint64_t added = 0, deleted = 0;

    for (size_t i = index; i < index + count; i++) {
        added += listing->files->items[i].added;
        deleted += listing->files->items[i].deleted;
    }
    al_str_addc(&line, ' ');
    if (count == 1 && *path) {
        al_change_view_add_file(repo, &listing->files->items[index], &line);
    } else {
        if (*path) {
            al_place_add(repo, path, &line);
            al_str_adds(&line, ": ");
        } else {
            al_str_adds(&line, "and ");
        }
        al_str_addf(&line, "%s +%" PRIu64 " -%" PRIu64, al_counted(count, "file", "files").text,
                    added, deleted);
    }
    al_str_addc(&line, '\n');
    (void)al_pages_add(listing->view->pages, line.buf, line.len);
}

bool al_change_view_files(void *payload, const struct al_diff_raw *files)
{
    struct al_change_view *view = payload;

    view->files = files;
    if (files->count < 2 && !view->lists_all)
        return true;
    if (!al_pages_addf(view->pages, "%s, +%" PRIu64 " -%" PRIu64 "\n",
                       al_counted(files->count, "file changed", "files changed").text, files->added,
                       files->deleted))
        return false;
    if (files->count > FILES_MAX && !view->lists_all) {
        al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

        /* git lists files in the order of their paths, which al_collapse() wants. */
        for (size_t i = 0; i < files->count; i++)
            al_strv_add(&paths, files->items[i].path);
        al_collapse(&paths, FILES_MAX, take_line, &(struct listing){ view, files });
        return !view->pages->full;
    }
    view->names_all = al_pages_shows(view->pages);
    for (size_t i = 0; i < files->count; i++) {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

        al_str_addc(&line, ' ');
        al_change_view_add_file(view->repo, &files->items[i], &line);
        al_str_addc(&line, '\n');
        if (!al_pages_add(view->pages, line.buf, line.len))
            return view->names_all = false;
        view->begun = view->lists_all ? i + 1 : 0;
    }
    return true;
}

/* The words of a mode, where they say more than its digits. */
static const char *kind_of(unsigned mode)
{
    if (mode == GITLINK)
        return "submodule";
    return S_ISLNK(mode) ? "symbolic link" : mode & 0111 ? "executable file" : "file";
}

static void add_facts(const struct al_patch_file *file, struct al_strv *facts)
{
    if (file->is_unmerged)
        al_strv_add(facts, "in conflict");
    if (file->is_new)
        al_strv_addf(facts, "new %s", kind_of(file->mode));
    else if (file->is_deleted)
        al_strv_addf(facts, "deleted %s", kind_of(file->old_mode));
    else if (file->old_mode != file->mode)
        al_strv_addf(facts, "%s, was %s", kind_of(file->mode), kind_of(file->old_mode));
    if (file->old_path)
        al_strv_add(facts, file->is_copy ? "copied" : "renamed");
    if (file->is_binary)
        al_strv_add(facts, "binary");
}

static void lead(struct al_change_view *view)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_adds(&line, "--- ");
    al_place_add(view->repo, view->at, &line);
    al_str_adds(&line, ", continued\n");
    al_pages_lead(view->pages, line.buf);
}

/* Add the header, with the first hunk if there is one.  A page that ends before it has not begun
 * the file. */
bool al_change_view_end(struct al_change_view *view)
{
    bool more;

    if (!view->header.len)
        return true;
    if (view->pages->from.offset) /* the header is on the page before */
        lead(view);
    more = al_pages_add(view->pages, view->header.buf, view->header.len);
    if (!more && view->pages->full && !view->pages->next.offset) {
        free(al_take(&view->at));
        view->begun--;
    }
    al_str_reset(&view->header);
    return more;
}

static bool take_file(void *payload, const struct al_patch_file *file)
{
    struct al_change_view *view = payload;
    al_auto(al_strv_clear) struct al_strv facts = AL_STRV_INIT;

    /* The change of a file in conflict comes after the line that says so. */
    if (view->header.len && view->at && !strcmp(view->at, file->path))
        return true;
    if (!al_change_view_end(view))
        return false;
    if (!view->at || strcmp(view->at, file->path) != 0) {
        free(view->at);
        view->at = al_strdup(file->path);
        view->begun++;
    }
    al_str_adds(&view->header, "--- "); /* "--- src/a.c (new file)" */
    add_path(view->repo, file->old_path, file->path, &view->header);
    add_facts(file, &facts);
    for (size_t i = 0; i < facts.count; i++)
        al_str_addf(&view->header, "%s%s", i ? ", " : " (", facts.items[i]);
    al_str_adds(&view->header, facts.count ? ")\n" : "\n");
    view->in_submodule = file->mode == GITLINK || file->old_mode == GITLINK;
    return true;
}

/* The hunk of a submodule in words: it has "-Subproject commit ID" and "+Subproject commit ID". */
static void add_moved(const char *part, size_t len, struct al_str *out)
{
    static const char gone[] = "\n-Subproject commit ", come[] = "\n+Subproject commit ";
    const char *from = memmem(part, len, gone, strlen(gone));
    const char *to = memmem(part, len, come, strlen(come));

    if (from)
        al_str_addf(out, "from commit %.*s ", AL_SHORT_ID, from + strlen(gone));
    if (to)
        al_str_addf(out, "%s commit %.*s", from ? "to" : "at", AL_SHORT_ID, to + strlen(come));
    al_str_addc(out, '\n');
}

static bool take_hunk(void *payload, const char *part, size_t len, bool is_first)
{
    struct al_change_view *view = payload;

    if (!is_first || !view->header.len) {
        if (view->at)
            lead(view);
        return al_pages_add(view->pages, part, len);
    }
    if (view->in_submodule)
        add_moved(part, len, &view->header);
    else
        al_str_add(&view->header, part, len);
    return al_change_view_end(view);
}

const struct al_patch_taker al_change_view_taker = { .take_file = take_file,
                                                     .take_hunk = take_hunk };

void al_change_view_left(const struct al_change_view *view, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    size_t count = view->files ? view->files->count : 0;

    if (view->at) {
        al_str_adds(out, "the rest of ");
        al_place_add(view->repo, view->at, out);
    }
    if (view->begun >= count)
        return;
    for (size_t i = view->begun; i < count; i++) {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

        al_change_view_add_file(view->repo, &view->files->items[i], &line);
        al_strv_add(&left, line.buf);
        if (left.count > LEFT_BYTES / 4) /* only the first ones are named */
            break;
    }
    al_str_addf(out, "%s%s of %s not shown", view->at ? " and " : "",
                al_counted(count - view->begun, NULL, NULL).text,
                al_counted(count, "file", "files").text);
    if (view->names_all)
        return;
    al_str_adds(out, ": ");
    al_answer_add_items_of(&left, count - view->begun, LEFT_BYTES, out);
}

bool al_change_view_hunks(const struct al_repo *repo, const struct al_hunk_list *list,
                          size_t context, struct al_pages *pages, size_t *ret_shown)
{
    for (size_t i = 0; i < list->nfiles; i++) {
        const struct al_hunk_file *file = &list->files[i];
        const char *fact = file->status == 'A'   ? " (new file)"
                           : file->status == 'D' ? " (deleted file)"
                           : file->status == 'U' ? " (in conflict: git_conflicts shows it)"
                                                 : "";
        al_auto(al_str_clear) struct al_str unit = AL_STR_INIT;

        al_str_adds(&unit, "--- ");
        al_place_add(repo, file->path, &unit);
        if (file->added || file->deleted)
            al_str_addf(&unit, " +%" PRIu64 " -%" PRIu64, file->added, file->deleted);
        al_str_addf(&unit, "%s\n", fact);
        for (size_t k = file->first; k < file->first + file->count; k++) {
            al_hunk_show(list, &list->items[k], context, &unit);
            if (!al_pages_add(pages, unit.buf, unit.len))
                return false;
            al_str_reset(&unit);
            (*ret_shown)++;
        }
        if (unit.len && !al_pages_add(pages, unit.buf, unit.len))
            return false;
    }
    return true;
}
