// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/conflict.h"

#include <fcntl.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/diff/cat_file.h"
#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/index_facts.h"
#include "guard/nofollow.h"
#include "util/fs.h"
#include "util/utf8.h"

#define TYPE_MASK        0170000u
#define TYPE_LINK        0120000u
#define TYPE_GITLINK     0160000u

#define NAMED_MAX        5
#define MARKER_SIZE_MAX  1000
#define CONFLICTED_BYTES (64u << 20) /* largest file that is searched for hunks */

void al_conflicts_clear(struct al_conflicts *conflicts)
{
    for (size_t i = 0; i < conflicts->count; i++) {
        free(conflicts->items[i].path);
        for (size_t k = 0; k < AL_STAGES; k++)
            free(conflicts->items[i].sides[k].oid);
    }
    free(conflicts->items);
    *conflicts = AL_CONFLICTS_INIT;
}

static struct al_conflict *conflict_of(struct al_conflicts *conflicts, const char *path)
{
    size_t count = conflicts->count;

    /* git lists the stages of a path one after the other */
    if (count && !strcmp(conflicts->items[count - 1].path, path))
        return &conflicts->items[count - 1];
    if (count == AL_CONFLICTS_MAX)
        return NULL;
    conflicts->items = al_reallocarray(conflicts->items, count + 1, sizeof(*conflicts->items));
    conflicts->items[count] = (struct al_conflict){ .path = al_strdup(path) };
    conflicts->count++;
    return &conflicts->items[count];
}

/* Parse "<mode> SP <oid> SP <stage> TAB <path>". */
static bool take_stage(void *payload, char *const *fields)
{
    struct al_conflicts *conflicts = payload;
    char *oid = strchr(fields[0], ' ');
    char *stage = oid ? strchr(oid + 1, ' ') : NULL;
    char *path = stage ? strchr(stage + 1, '\t') : NULL;
    struct al_conflict *conflict;
    struct al_side *side;

    if (!path || stage[1] < '1' || stage[1] > '3' || path != stage + 2)
        return true;
    conflict = conflict_of(conflicts, path + 1);
    if (!conflict) {
        conflicts->more = true;
        return false;
    }
    side = &conflict->sides[stage[1] - '1'];
    free(side->oid);
    side->oid = al_strndup(oid + 1, (size_t)(stage - oid - 1));
    side->mode = 0;
    for (const char *digit = fields[0]; *digit >= '0' && *digit <= '7'; digit++)
        side->mode = (side->mode << 3) + (unsigned)(*digit - '0');
    return true;
}

int al_git_conflicts(const struct al_repo *repo, struct al_run_limits *budget,
                     struct al_conflicts *ret_conflicts, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_conflicts found = AL_CONFLICTS_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_stage, &found);
    int r;

    *ret_conflicts = AL_CONFLICTS_INIT;
    if (!al_repo_may_have_conflicts(&repo->at))
        return 0;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", "--unmerged", NULL);
    r = al_git_read_records(&repo->at, &command, &records, budget, err);
    if (r < 0) {
        al_conflicts_clear(&found);
        return r;
    }
    *ret_conflicts = found;
    return 0;
}

const struct al_conflict *al_conflicts_find(const struct al_conflicts *conflicts, const char *path)
{
    for (size_t i = 0; i < conflicts->count; i++)
        if (!strcmp(conflicts->items[i].path, path))
            return &conflicts->items[i];
    return NULL;
}

void al_conflicts_add_paths(const struct al_conflicts *conflicts, struct al_strv *out)
{
    for (size_t i = 0; i < conflicts->count; i++)
        al_strv_add(out, conflicts->items[i].path);
}

int al_git_check_no_conflicts(const struct al_repo *repo, struct al_run_limits *budget,
                              struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r = al_git_conflicts(repo, budget, &conflicts, err);

    if (r < 0 || !conflicts.count)
        return r;
    al_conflicts_add_paths(&conflicts, &paths);
    al_text_add_list(&names, &paths, NAMED_MAX);
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                          "There are unresolved conflicts in %s; resolve them first", names.buf);
    if (err)
        err->reason = "conflict";
    return r;
}

/* Output of check-attr -z: "path NUL attribute NUL value NUL", in the order of the input. */
struct marker_sizes {
    size_t *sizes;
    size_t count, at;
};

static bool take_size(void *payload, char *const *fields)
{
    struct marker_sizes *sizes = payload;
    size_t size = 0;

    for (const char *digit = fields[2]; *digit >= '0' && *digit <= '9' && size < MARKER_SIZE_MAX;
         digit++)
        size = size * 10 + (size_t)(*digit - '0');
    if (sizes->at == sizes->count)
        return false;
    sizes->sizes[sizes->at++] = size ? size : AL_MARKER_SIZE;
    return true;
}

int al_git_marker_sizes(const struct al_repo *repo, const struct al_strv *paths,
                        struct al_run_limits *budget, size_t *ret_sizes, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct marker_sizes sizes = { .sizes = ret_sizes, .count = paths->count };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(3, take_size, &sizes);

    for (size_t i = 0; i < paths->count; i++) {
        al_str_add(&input, paths->items[i], strlen(paths->items[i]) + 1);
        ret_sizes[i] = AL_MARKER_SIZE;
    }
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "check-attr", "-z", "--stdin",
                 "conflict-marker-size", NULL);
    return al_git_read_records(&repo->at, &command, &records, budget, err);
}

void al_conflict_views_clear(struct al_conflict_views *views)
{
    for (size_t i = 0; i < views->count; i++) {
        free(views->items[i].ours);
        free(views->items[i].theirs);
        free(views->items[i].markers);
    }
    free(views->items);
    *views = AL_CONFLICT_VIEWS_INIT;
}

static bool is_text(const struct al_str *data)
{
    return !memchr(data->buf, '\0', data->len) && al_utf8_valid(data->buf, data->len);
}

static void add_views(const struct al_conflicts *conflicts, size_t *left,
                      struct al_conflict_views *views)
{
    views->items = al_calloc(conflicts->count, sizeof(*views->items));
    views->truncated = conflicts->more;
    for (size_t i = 0; i < conflicts->count; i++) {
        size_t len = strlen(conflicts->items[i].path);

        if (len > *left) {
            views->truncated = true;
            return;
        }
        *left -= len;
        views->items[views->count++] =
            (struct al_conflict_view){ .conflict = &conflicts->items[i], .markers = al_strdup("") };
    }
}

/* Read the conflicted hunks of the file on disk, edited or not. */
static void add_markers(int top, size_t marker_size, size_t *left, struct al_conflict_view *view,
                        bool *truncated)
{
    al_auto(al_closep) int fd = al_nofollow_open(top, view->conflict->path, O_RDONLY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str hunks = AL_STR_INIT;

    if (fd < 0 || al_fs_read_fd(fd, CONFLICTED_BYTES, &text) < 0 || !is_text(&text))
        return;
    if (!al_conflict_hunks(text.buf, text.len, marker_size, *left, &hunks))
        *truncated = true;
    *left -= hunks.len;
    free(view->markers);
    view->markers = al_str_detach(&hunks);
}

static int add_all_markers(const struct al_repo *repo, struct al_run_limits *budget, size_t *left,
                           struct al_conflict_views *views, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_freep) size_t *sizes = al_calloc(views->count, sizeof(*sizes));
    al_auto(al_closep) int top = -1;
    int r;

    for (size_t i = 0; i < views->count; i++)
        al_strv_add(&paths, views->items[i].conflict->path);
    r = al_git_marker_sizes(repo, &paths, budget, sizes, err);
    if (r == 0)
        r = al_location_open_top(&repo->at, &top, err);
    for (size_t i = 0; r == 0 && i < views->count; i++)
        add_markers(top, sizes[i], left, &views->items[i], &views->truncated);
    return r;
}

static bool is_type(const struct al_side *side, unsigned type)
{
    return side->oid && (side->mode & TYPE_MASK) == type;
}

bool al_side_is_link(const struct al_side *side)
{
    return is_type(side, TYPE_LINK);
}

bool al_side_is_submodule(const struct al_side *side)
{
    return is_type(side, TYPE_GITLINK);
}

/* A submodule's side is a commit of another repository and has no content to show. */
static bool has_content(const struct al_side *side)
{
    return side->oid && !al_side_is_submodule(side);
}

static size_t list_blobs(const struct al_conflict_views *views, struct al_blob *blobs)
{
    size_t count = 0;

    for (size_t i = 0; i < views->count; i++) {
        const struct al_side *sides = views->items[i].conflict->sides;

        for (size_t k = AL_STAGE_OURS; k <= AL_STAGE_THEIRS; k++)
            if (has_content(&sides[k]))
                blobs[count++] = (struct al_blob){ .oid = sides[k].oid, .group = i };
    }
    return count;
}

/* Set the sides of one view from its one or two blobs, which form one group. */
static void show_sides(struct al_conflict_view *view, struct al_blob *blobs, size_t count,
                       bool *truncated)
{
    for (size_t i = 0; i < count; i++) {
        if (!blobs[i].kept && blobs[i].exists)
            *truncated = true;
        if (!blobs[i].kept || !is_text(&blobs[i].data))
            return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *ours = view->conflict->sides[AL_STAGE_OURS].oid;
        char **place = blobs[i].oid == ours ? &view->ours : &view->theirs;

        *place = al_str_detach(&blobs[i].data);
    }
}

static int add_sides(const struct al_repo *repo, struct al_run_limits *budget, size_t left,
                     struct al_conflict_views *views, struct al_error *err)
{
    al_auto(al_freep) struct al_blob *blobs = al_calloc(2 * views->count, sizeof(*blobs));
    size_t count = list_blobs(views, blobs);
    int r = al_git_cat_file(repo, blobs, count, left, budget, err);

    for (size_t i = 0, end; r == 0 && i < count; i = end) {
        for (end = i; end < count && blobs[end].group == blobs[i].group; end++)
            continue;
        show_sides(&views->items[blobs[i].group], &blobs[i], end - i, &views->truncated);
    }
    al_cat_file_clear(blobs, count);
    return r;
}

int al_git_conflict_views(const struct al_repo *repo, const struct al_conflicts *conflicts,
                          size_t max_bytes, struct al_run_limits *budget,
                          struct al_conflict_views *ret_views, struct al_error *err)
{
    struct al_conflict_views views = AL_CONFLICT_VIEWS_INIT;
    size_t left = max_bytes;
    int r = 0;

    add_views(conflicts, &left, &views);
    if (views.count)
        r = add_all_markers(repo, budget, &left, &views, err);
    if (r == 0 && views.count)
        r = add_sides(repo, budget, left, &views, err);
    if (r < 0) {
        al_conflict_views_clear(&views);
        return r;
    }
    *ret_views = views;
    return 0;
}
