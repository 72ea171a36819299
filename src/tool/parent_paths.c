// SPDX-License-Identifier: Apache-2.0
#include "tool/parent_paths.h"

#include <fcntl.h>
#include <stdlib.h>

#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "tool/args.h"
#include "tool/private.h"
#include "util/fs.h"
#include "util/utf8.h"

struct walk {
    struct al_call *call;
    struct al_error *err;
    int r;
    unsigned flags; /* of the rows that are looked at, any of them */
    /* What is meant by a string; NULL: what was given.  Caller frees. */
    int (*find)(struct walk *walk, const char *given, char **ret_meant);
};

/* The rest behind a component at the beginning, without slashes; NULL: the path does not begin with
 * it. */
static const char *skip_component(const char *path, const char *component)
{
    size_t len = strlen(component);

    if (!al_starts_with(path, component) || (path[len] != '/' && path[len] != '\0'))
        return NULL;
    return path + len + strspn(path + len, "/");
}

/* The absolute path that a path with ".." in front means; NULL: it has none there.  Caller frees.
 */
static int make_absolute(const struct al_repo *repo, const char *given, char **ret_abs,
                         struct al_error *err)
{
    const char *rest = given, *next;
    al_auto(al_freep) char *dir = al_strdup(repo->at.dir);
    al_auto(al_freep) char *word = NULL;
    bool goes_up = false;

    *ret_abs = NULL;
    for (; *rest; rest = next) {
        next = skip_component(rest, "..");
        if (!next && !(next = skip_component(rest, ".")))
            break;
        if (!al_starts_with(rest, ".."))
            continue;
        goes_up = true;
        if (!strcmp(dir, repo->at.top) || !strrchr(dir, '/')) {
            word = al_text_sanitize_line(given);
            return al_error_set(err, AL_ERR_SANDBOX, "Path outside the working tree: %s", word);
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
    al_auto(al_freep) char *word = NULL;

    if (!below || !al_path_has_dot_git(below))
        return 0;
    word = al_text_sanitize_line(given);
    return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH, "Protected path: %s",
                             word);
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

static void take_string(struct walk *walk, const char **field)
{
    char *meant = NULL;

    if (*field)
        walk->r = walk->find(walk, *field, &meant);
    if (!meant)
        return;
    al_strv_take(&walk->call->parent_paths, meant);
    *field = meant;
}

static void take_list(struct walk *walk, struct al_strv *list)
{
    for (size_t i = 0; i < list->count && walk->r == 0; i++) {
        char *meant = NULL;

        walk->r = walk->find(walk, list->items[i], &meant);
        if (meant) {
            free(list->items[i]);
            list->items[i] = meant;
        }
    }
}

static void take_row(void *payload, const struct al_param *param, const void *args)
{
    struct walk *walk = payload;
    void *field = al_args_field((void *)args, param);

    if (walk->r < 0 || !(param->flags & walk->flags))
        return;
    if (param->type == AL_TYPE_STRING)
        take_string(walk, field);
    else if (param->type == AL_TYPE_STRINGS)
        take_list(walk, field);
}

int al_call_take_parent_paths(struct al_call *call, struct al_error *err)
{
    struct walk walk = { call, err, 0, AL_PARAM_PATH, find_path };

    if (call->repo)
        al_args_visit(call->tool, call->args, take_row, &walk);
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
    const unsigned names = AL_PARAM_PATH | AL_PARAM_OUTPUT | AL_PARAM_BRANCH | AL_PARAM_NAME;
    struct walk walk = { call, NULL, 0, names, find_bytes };

    al_args_visit(call->tool, call->args, take_row, &walk);
}
