// SPDX-License-Identifier: Apache-2.0
/* The branches and paths that the arguments of a call name: as they are meant, and as rules look at
 * them. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/utf8.h"
#include "call/private.h"
#include "git/plumbing/batch.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"
#include "guard/url.h"

#define TOUCHES_FILES                                                                              \
    (AL_READS | AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK | AL_WRITES_FILES)

/* The effects that change files of the working tree, the index, or a branch. */
#define CHANGES_FILES (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_REWRITES_HISTORY)

/* A walk over the strings of the arguments whose rows have one of these flags. */
struct walk {
    struct al_call *call;
    unsigned flags;
    /* Find the meaning of a string; NULL: the string itself.  Caller frees. */
    int (*find)(struct walk *walk, const char *given, char **ret_meant);
    struct al_strv *names; /* for collect() */
    struct al_error *err;
    int r;
};

/* A string of a list is owned, one of its own is the arguments'. */
static void take(struct walk *walk, char **value, bool is_owned)
{
    char *meant = NULL;

    if (*value && walk->r == 0)
        walk->r = walk->find(walk, *value, &meant);
    if (!meant)
        return;
    if (is_owned)
        free(*value);
    else
        al_strv_take(&walk->call->parent_paths, meant);
    *value = meant;
}

/* The members of an object that is given, and of each item of an array of objects, are walked. */
static void walk_rows(struct walk *walk, const struct al_param *rows, size_t nrows, void *args)
{
    for (const struct al_param *row = rows; row < rows + nrows; row++) {
        const struct al_object *object = row->object;
        void *field = al_args_field(args, row);
        const struct al_objects *items = field;
        const struct al_strv *list = field;

        if (row->type == AL_TYPE_OBJECTS)
            for (size_t i = 0; i < items->count; i++)
                walk_rows(walk, object->params, object->nparams, al_args_item(row, items, i));
        else if (row->type == AL_TYPE_OBJECT && al_args_bool(args, row))
            walk_rows(walk, object->params, object->nparams, field);
        else if (row->type == AL_TYPE_STRING && row->flags & walk->flags)
            take(walk, field, false);
        else if (row->type == AL_TYPE_STRINGS && row->flags & walk->flags)
            for (size_t i = 0; i < list->count; i++)
                take(walk, &list->items[i], true);
    }
}

static int collect(struct walk *walk, const char *given, char **ret_meant)
{
    (void)ret_meant;
    al_strv_add(walk->names, given);
    return 0;
}

void al_call_named(const struct al_call *call, unsigned flag, struct al_strv *ret_names)
{
    static const char heads[] = "refs/heads/", tags[] = "refs/tags/";
    struct walk walk = { .flags = flag, .find = collect, .names = ret_names };
    const struct al_strv *pairs = &call->resolved;

    walk_rows(&walk, call->tool->params, call->tool->nparams, call->args);
    /* An expression like "@{-1}", or "origin/topic", names a branch too. */
    for (size_t i = 0; flag == AL_PARAM_BRANCH && i + 1 < pairs->count; i += 2) {
        const char *resolved = pairs->items[i + 1];
        const char *name = al_starts_with(resolved, heads)  ? resolved + strlen(heads)
                           : al_starts_with(resolved, tags) ? resolved /* no branch's name */
                                                            : NULL;

        if (!strcmp(pairs->items[i], AL_RESOLVED_BRANCH) && name &&
            !al_strv_contains(ret_names, name))
            al_strv_add(ret_names, name);
    }
}

static void add_branches(const struct al_call *call, struct al_strv *branches)
{
    al_call_named(call, AL_PARAM_BRANCH, branches);
    if (!branches->count && call->tool->moves_branch && call->repo)
        al_ref_head_branches(&call->repo->at, branches);
    for (size_t i = 0; i < call->plan.along.count; i++)
        al_strv_add(branches, call->plan.along.items[i] + strlen("refs/heads/"));
}

/** Collects paths as names relative to the top. */
struct collection {
    struct al_call *call;
    struct al_strv *paths;
    struct al_strv *shown;                 /* what users see for each path */
    struct al_strv missing, missing_given; /* names that do not exist, and how they were given */
};

static void add(struct collection *to, const char *name, bool is_dir, const char *shown)
{
    al_strv_addf(to->paths, is_dir && *name ? "%s/" : "%s", name);
    al_strv_add(to->shown, shown ? shown : to->paths->items[to->paths->count - 1]);
}

/* The path relative to the top; absolute for a path elsewhere in the roots. */
static const char *below_top(const struct al_call *call, const char *abs)
{
    const char *below = al_fs_beneath(call->repo->at.top, abs);

    return below ? below : abs;
}

/* Add the path of a symbolic link itself: its parents are followed, its last component is not. */
static int add_link(struct collection *to, const char *given, const char *resolved,
                    struct al_error *err)
{
    const struct al_call *call = to->call;
    const char *slash = strrchr(given, '/');
    const char *last = slash ? slash + 1 : given;
    al_auto(al_path_clear) struct al_path parent = AL_PATH_INIT;
    al_auto(al_freep) char *head = NULL;
    al_auto(al_freep) char *abs = NULL;
    int r;

    if (!*last || !strcmp(last, "."))
        return 0; /* the path names the directory itself */
    if (slash)
        head = slash == given ? al_strdup("/") : al_strndup(given, (size_t)(slash - given));
    r = al_path_resolve(call->session->roots, call->repo->at.dir, head ? head : ".", &parent, err);
    if (r < 0)
        return r;
    abs = al_fs_join(parent.abs, last);
    if (strcmp(below_top(call, abs), resolved) != 0)
        add(to, below_top(call, abs), false, NULL);
    return 0;
}

/* A pattern matches whatever exists when git runs.  So it affects everything below the directory in
 * front of its first special character. */
static int add_pattern(struct collection *to, const char *given, struct al_error *err)
{
    const struct al_call *call = to->call;
    al_auto(al_path_clear) struct al_path dir = AL_PATH_INIT;
    al_auto(al_freep) char *head = al_strndup(given, strcspn(given, "*?[\\"));
    char *slash = strrchr(head, '/');
    int r;

    if (slash)
        slash[slash == head] = '\0';
    r = al_path_resolve(call->session->roots, call->repo->at.dir, slash ? head : ".", &dir, err);
    if (r < 0)
        return r;
    /* A pattern from above the working tree may match anything in it. */
    add(to, al_fs_beneath(dir.abs, call->repo->at.top) ? "" : below_top(call, dir.abs), true,
        given);
    return 0;
}

/* Add the target of a path, and the link if it is one.  The names of the files in an output
 * directory are not known yet. */
static int add_target(struct collection *to, const char *given, bool is_output,
                      struct al_error *err)
{
    const struct al_call *call = to->call;
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    int r = al_path_resolve(call->session->roots, call->repo->at.dir, given, &path, err);
    const char *name;

    if (r < 0)
        return r;
    name = below_top(call, path.abs);
    if (is_output || path.fd >= 0) {
        add(to, name, is_output || S_ISDIR(path.mode), NULL);
    } else {
        al_strv_add(&to->missing, name);
        al_strv_addf(&to->missing_given, al_ends_with(given, "/") ? "%s/" : "%s", name);
    }
    return add_link(to, given, name, err);
}

static int add_path(struct collection *to, const char *param, const char *given,
                    struct al_error *err)
{
    al_auto(al_freep) char *spec = NULL;
    int r = al_repo_pathspec(to->call->repo, param, given, &spec, err);

    if (r < 0)
        return r;
    /* To git it is one: a pathspec that names a file is quoted or has no special characters. */
    return spec[0] != ':' && strpbrk(spec, "*?[\\") ? add_pattern(to, given, err)
                                                    : add_target(to, given, false, err);
}

/* Add the paths that do not exist.  A path in the index is a file; any other could become a
 * directory. */
static int add_missing(struct collection *to, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    int r = al_repo_tracked_files(to->call->repo, &to->missing, &files, err);

    for (size_t i = 0; r == 0 && i < to->missing.count; i++) {
        const char *name = to->missing.items[i];

        add(to, name, !al_strv_contains(&files, name), to->missing_given.items[i]);
    }
    return r;
}

static int add_row(struct collection *to, const struct al_param *param, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv given = AL_STRV_INIT;
    struct walk walk = { .flags = AL_PARAM_PATH, .find = collect, .names = &given };
    int r = 0;

    walk_rows(&walk, param, 1, to->call->args);
    for (size_t i = 0; i < given.count && r == 0; i++)
        r = add_path(to, param->name, given.items[i], err);
    return r;
}

/* Add the paths of a call that names none, or everything.  Some tools know them; else it is every
 * path, if the tool takes paths or writes files. */
static int add_unnamed(struct collection *to, bool every, struct al_error *err)
{
    struct al_call *call = to->call;
    const bool changes = call->operation->effects & CHANGES_FILES;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    bool known = false;
    int r = 0;

    if (!every && call->tool->policy_paths)
        r = call->tool->policy_paths(call, &names, err);
    else if (changes)
        r = al_call_list_changed(call, &known, &names, err);
    if (r == 0)
        for (size_t i = 0; i < names.count; i++)
            add(to, names.items[i], false, NULL);
    if (r == 0 && !known && (every || !call->tool->policy_paths))
        add(to, "", false, NULL);
    return r;
}

/* A call that reads or writes files and names none may be about any of them. */
static int add_paths(struct al_call *call, struct al_strv *paths, struct al_strv *shown,
                     struct al_error *err)
{
    const struct al_tool *tool = call->tool;
    struct collection to = { .call = call, .paths = paths, .shown = shown };
    const unsigned effects = call->operation->effects;
    bool every = false, named = false, in_tree = false;
    bool takes_paths = tool->policy_paths || (effects & AL_WRITES_WORKTREE) ||
                       (tool->changed_files && (effects & CHANGES_FILES));
    int r = 0;

    if (!takes_paths && !(effects & TOUCHES_FILES))
        return 0;
    for (size_t i = 0; i < tool->nparams && r == 0; i++) {
        const struct al_param *param = &tool->params[i];

        if (param->flags & AL_PARAM_EVERY_PATH)
            every |= al_args_given(call->args, param);
        if ((param->flags & AL_PARAM_REVISION) && al_args_given(call->args, param))
            in_tree |= !al_call_names_commits(call, al_args_string(call->args, param));
        if (param->flags & AL_PARAM_PATH) {
            takes_paths = true;
            named |= al_args_given(call->args, param);
            r = add_row(&to, param, err);
        }
        if (r == 0 && (param->flags & AL_PARAM_OUTPUT) && al_args_given(call->args, param))
            r = add_target(&to, al_args_string(call->args, param), true, err);
    }
    if (r == 0 && to.missing.count)
        r = add_missing(&to, err);
    al_strv_clear(&to.missing);
    al_strv_clear(&to.missing_given);
    if (named && in_tree) /* which tells nothing of the paths that the content is from */
        add(&to, "", false, NULL);
    return r == 0 && (every || (!named && takes_paths)) ? add_unnamed(&to, every, err) : r;
}

static void add_addresses(const struct al_call *call, struct al_strv *ret_addresses)
{
    const struct al_strv *pairs = &call->resolved;

    for (size_t i = 0; i + 1 < pairs->count; i += 2) {
        al_auto(al_freep) char *shown = al_url_shown(pairs->items[i + 1]);
        al_auto(al_freep) char *normal = al_url_normal(pairs->items[i + 1]);

        if (strcmp(pairs->items[i], AL_RESOLVED_ADDRESS) != 0)
            continue;
        if (strcmp(shown, normal) != 0) /* a rule that allows has to be about both */
            al_strv_take(ret_addresses, al_take(&normal));
        al_strv_take(ret_addresses, al_take(&shown));
    }
}

int al_call_rule(struct al_call *call, bool has_targets, struct al_explanation *found,
                 struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    const enum al_approval_mode mode = call->session->mode;
    const struct al_policy_query query = {
        .tool = call->tool->name,
        .operation = call->operation->name,
        .effects = call->operation->effects,
        .asks = al_operation_asks(call->operation, mode, al_call_is_saved(call)),
        .branches = &found->branches,
        .paths = &paths,
        .addresses = &found->addresses,
        .new_address = al_call_resolved(call, AL_RESOLVED_NEW_ADDRESS),
        .as_tool = call->operation->like_tool,
        .as_operation = call->operation->like_operation,
    };
    int r = 0;

    if (has_targets) {
        add_branches(call, &found->branches);
        r = add_paths(call, &paths, &found->paths, err);
    }
    if (r < 0)
        return r;
    add_addresses(call, &found->addresses);
    found->operation = *call->operation;
    found->ruling = al_policy_decide(call->session->policy, mode, &query);
    return 0;
}

/* The absolute path that a path with ".." in front means; NULL: it has none there.  Caller frees.
 */
static int make_absolute(const struct al_repo *repo, const char *given, char **ret_abs,
                         struct al_error *err)
{
    const char *rest = given;
    al_auto(al_freep) char *dir = al_strdup(repo->at.dir);
    al_auto(al_freep) char *word = NULL;
    bool goes_up = false;
    size_t len;

    *ret_abs = NULL;
    for (; *rest == '.' && (len = strcspn(rest, "/")) <= 2; rest += len + strspn(rest + len, "/")) {
        if (len == 2 && rest[1] != '.')
            break;
        if (len == 1)
            continue;
        goes_up = true;
        if (!strcmp(dir, repo->at.top) || !strrchr(dir, '/')) {
            word = al_text_sanitize_line(given);
            return al_error_about(
                al_error_set(err, AL_ERR_SANDBOX, "Path outside the working tree: %s", word), err,
                AL_SUBJECT_OUTSIDE, NULL);
        }
        *strrchr(dir, '/') = '\0';
    }
    if (goes_up)
        *ret_abs = *rest ? al_fs_join(dir, rest) : al_strdup(dir);
    return 0;
}

/* Whether a file has this very name, without following links. */
static bool is_there(const struct al_repo *repo, const char *path)
{
    const char *below = *path == '/' ? al_fs_beneath(repo->at.dir, path) : path;
    al_auto(al_closep) int dir = open(repo->at.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_closep) int fd = dir < 0 || !below ? -1 : al_nofollow_open(dir, below, O_PATH);

    return fd >= 0;
}

/* The directory .git is no file of the working tree. */
static int check_protected(const struct al_repo *repo, const char *given, struct al_error *err)
{
    const char *below = *given == '/' ? al_fs_beneath(repo->at.top, given) : given;

    return below && al_path_has_dot_git(below) ? al_path_refuse_dot_git(given, err) : 0;
}

static int find_path(struct walk *walk, const char *given, char **ret_meant)
{
    char *name = is_there(walk->call->repo, given) ? NULL : al_shown_name_read(given);
    int r = check_protected(walk->call->repo, name ? name : given, walk->err);

    if (r == 0)
        r = make_absolute(walk->call->repo, name ? name : given, ret_meant, walk->err);
    if (r == 0 && !*ret_meant)
        *ret_meant = al_take(&name);
    free(name);
    return r;
}

int al_call_take_parent_paths(struct al_call *call, struct al_error *err)
{
    struct walk walk = { .call = call, .flags = AL_PARAM_PATH, .find = find_path, .err = err };

    if (call->repo)
        walk_rows(&walk, call->tool->params, call->tool->nparams, call->args);
    return walk.r;
}

static int find_bytes(struct walk *walk, const char *given, char **ret_meant)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;

    (void)walk;
    al_utf8_unescape(given, &bytes);
    if (bytes.len < strlen(given))
        *ret_meant = al_str_detach(&bytes);
    return 0;
}

void al_call_take_bytes(struct al_call *call)
{
    struct walk walk = { .call = call, .flags = AL_CALL_NAMES | AL_PARAM_RAW, .find = find_bytes };

    walk_rows(&walk, call->tool->params, call->tool->nparams, call->args);
}
