// SPDX-License-Identifier: Apache-2.0
#include "call/place.h"

#include "base/fs.h"
#include "guard/nofollow.h"
#include "guard/text.h"

void al_place_add_name(const char *name, struct al_str *out)
{
    al_text_add_shown_line(name, out);
}

void al_place_addf(struct al_str *out, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    const bool ends = al_ends_with(fmt, "\n");
    va_list args;

    va_start(args, fmt);
    al_str_addv(&line, fmt, args);
    va_end(args);
    al_str_truncate(&line, line.len - ends);
    al_place_add_name(line.buf, out);
    al_str_adds(out, ends ? "\n" : "");
}

/* The length of the leading components that both paths have, with their '/'. */
static size_t common_len(const char *dir, const char *path)
{
    size_t common = 0;

    for (size_t i = 0;; i++) {
        if (dir[i] == '\0' && path[i] == '/')
            return i + 1;
        if (dir[i] != path[i] || dir[i] == '\0')
            return common;
        if (dir[i] == '/')
            common = i + 1;
    }
}

void al_place_add(const struct al_repo *repo, const char *path, struct al_str *out)
{
    const char *dir = al_fs_beneath(repo->at.top, repo->at.dir);
    size_t common;

    if (!dir || !*dir) {
        al_place_add_name(*path ? path : ".", out);
        return;
    }
    common = common_len(dir, path);
    if (common > strlen(dir))
        dir += strlen(dir);
    else
        dir += common;
    for (bool in_name = false; *dir; dir++) {
        if (*dir != '/' && !in_name)
            al_str_adds(out, "../");
        in_name = *dir != '/';
    }
    if (path[common])
        al_place_add_name(path + common, out);
    else if (out->len && out->buf[out->len - 1] == '/')
        al_str_truncate(out, out->len - 1);
    else
        al_str_adds(out, ".");
}

char *al_place(const struct al_repo *repo, const char *path)
{
    struct al_str out = AL_STR_INIT;

    al_place_add(repo, path, &out);
    return al_str_detach(&out);
}

int al_place_from_argument(const struct al_repo *repo, const char *param, const char *given,
                           char **ret_path, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL, *abs = NULL;
    int r = al_repo_file(repo, param, *given ? given : ".", &word, err);
    const char *rest;

    if (r < 0)
        return r;
    abs = al_beneath_join(repo->at.dir, word);
    rest = al_fs_beneath(repo->at.top, abs);
    *ret_path = al_strdup(rest ? rest : "");
    return 0;
}
