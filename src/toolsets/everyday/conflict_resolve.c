// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/conflict_resolve.h"

#include <stdlib.h>
#include <string.h>

#include "answer/place.h"
#include "gitops/sequencer/conflict_hunks.h"
#include "toolsets/everyday/hunk_choices.h"

/* What `authorize` derives from the arguments of a resolution. */
struct resolution {
    char *path;            /* from the top */
    struct al_str disk;    /* the file as it was then */
    struct al_str content; /* it with the chosen hunks resolved */
    size_t resolved, left; /* hunks */
    bool by_hunks;
};

static void resolution_free(void *data)
{
    struct resolution *resolution = data;

    if (!resolution)
        return;
    free(resolution->path);
    al_str_clear(&resolution->disk);
    al_str_clear(&resolution->content);
    free(resolution);
}

struct al_resolve_options al_conflicts_resolve_options(struct al_call *call,
                                                       const struct al_conflicts_args *args)
{
    const struct resolution *resolution = al_call_tool_data(call);
    struct al_resolve_options options = { .path = resolution->path, .content = args->content };

    if (resolution->by_hunks) {
        options.how = resolution->left ? AL_RESOLVE_PARTLY : AL_RESOLVE_CONTENT;
        options.content = resolution->content.buf;
    } else if (args->content) {
        options.how = AL_RESOLVE_CONTENT;
    } else {
        options.how = !strcmp(args->take, "ours")     ? AL_RESOLVE_OURS
                      : !strcmp(args->take, "theirs") ? AL_RESOLVE_THEIRS
                                                      : AL_RESOLVE_DISK;
    }
    return options;
}

int al_conflicts_not_in_conflict(const struct al_repo *repo, const char *path,
                                 const struct al_conflicts *conflicts, struct al_error *err)
{
    al_auto(al_freep) char *shown = al_place(repo, path);

    return al_failure_set(err,
                          conflicts->count ? "git_conflicts names the files that are in conflict."
                                           : "Nothing is in conflict; git_status shows the state.",
                          "'%s' is not in conflict", shown);
}

static int settle(struct al_call *call, const struct al_conflicts_args *args,
                  const struct al_conflict *conflict, struct resolution *resolution,
                  struct al_error *err)
{
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;
    int r = al_git_conflict_file(al_call_repo(call), conflict, al_call_budget(call), &file, err);

    if (r < 0)
        return r;
    r = al_hunk_choices_settle(&args->hunks, &file, &resolution->content, err);
    resolution->by_hunks = true;
    resolution->disk = file.disk;
    file.disk = AL_STR_INIT;
    resolution->resolved = args->hunks.count;
    resolution->left = file.blocks.count - args->hunks.count;
    return r;
}

static int prepare(struct al_call *call, const struct al_conflicts_args *args,
                   struct resolution *resolution, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    const struct al_conflict *conflict;
    int r = al_place_from_argument(repo, "path", args->path, &resolution->path, err);

    if (r == 0)
        r = al_git_conflicts(repo, al_call_budget(call), &conflicts, err);
    if (r < 0)
        return r;
    conflict = al_conflicts_find(&conflicts, resolution->path);
    if (!conflict)
        return al_conflicts_not_in_conflict(repo, resolution->path, &conflicts, err);
    return args->hunks.count ? settle(call, args, conflict, resolution, err) : 0;
}

/* What becomes of a hunk has no markers, although the file may keep those of others. */
static int check_hunks(struct al_call *call, const struct al_conflicts_args *args, const char *path,
                       struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    size_t marker_size;
    int r;

    al_strv_add(&paths, path);
    r = al_git_marker_sizes(al_call_repo(call), &paths, al_call_budget(call), &marker_size, err);
    return r < 0 ? r : al_hunk_choices_check_markers(&args->hunks, marker_size, err);
}

int al_conflicts_authorize_resolve(struct al_call *call, const struct al_conflicts_args *args,
                                   struct al_error *err)
{
    struct resolution *resolution = al_calloc(1, sizeof(*resolution));
    struct al_resolve_options options;
    int r;

    resolution->disk = resolution->content = AL_STR_INIT;
    al_call_set_tool_data(call, resolution, resolution_free);
    r = prepare(call, args, resolution, err);
    if (r == 0 && args->hunks.count)
        r = check_hunks(call, args, resolution->path, err);
    if (r < 0)
        return r;
    options = al_conflicts_resolve_options(call, args);
    return al_git_resolve_check(al_call_repo(call), &options, al_call_budget(call), err);
}

/* The call may have waited for its turn, and somebody may have edited the file meanwhile. */
static int check_current(struct al_call *call, const struct al_conflicts_args *args,
                         struct al_error *err)
{
    const struct resolution *resolution = al_call_tool_data(call);

    if (!resolution->by_hunks ||
        al_conflict_file_is(al_call_repo(call), resolution->path, &resolution->disk))
        return 0;
    if (!al_call_was_asked(call))
        return al_conflicts_authorize_resolve(call, args, err);
    return al_failure_set(err, "git_conflicts shows it as it is now.",
                          "The file was changed while this was decided; nothing was done");
}

int al_conflicts_resolve(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct resolution *resolution;
    struct al_resolve_options options;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = check_current(call, p, err);

    if (r < 0)
        return r;
    resolution = al_call_tool_data(call);
    options = al_conflicts_resolve_options(call, p);
    r = al_git_resolve(al_call_repo(call), &options, al_call_budget(call), err);
    if (r < 0)
        return r;
    if (resolution->left) {
        al_str_addf(&text, "Resolved %zu of %zu hunks of ", resolution->resolved,
                    resolution->resolved + resolution->left);
        al_place_add(al_call_repo(call), resolution->path, &text);
    } else {
        al_str_adds(&text, "Resolved ");
        al_place_add(al_call_repo(call), resolution->path, &text);
    }
    al_str_adds(&text, ".\n");
    al_answer_done(call, &text, result);
    return 0;
}
