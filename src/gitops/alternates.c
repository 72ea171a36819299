// SPDX-License-Identifier: Apache-2.0
#include "gitops/alternates.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "guard/path.h"
#include "guard/root.h"
#include "util/fs.h"

#define ALTERNATES_MAX_BYTES (64u * 1024u)
#define STORES_MAX           64

/* The stores found so far; each is read once, so that they cannot fan out. */
struct stores {
    const struct al_roots *roots;
    struct al_strv dirs;
};

/* Remember the store that a line of info/alternates names. */
static bool add_store(struct stores *stores, const char *objects, const char *line)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    int r;

    if (!*line || *line == '#')
        return true;
    if (*line == '"') /* a quoted path: rare, and not worth an unquoting of our own */
        return false;
    path = al_fs_join(objects, line);
    r = al_roots_open(al_roots_parts(stores->roots), path, O_PATH | O_DIRECTORY, &fd, &abs, NULL);
    if (r == AL_ERR_SANDBOX)
        return false;
    if (r == 0 && !al_strv_contains(&stores->dirs, abs))
        al_strv_take(&stores->dirs, al_take(&abs));
    return stores->dirs.count <= STORES_MAX;
}

static bool read_alternates(struct stores *stores, const char *objects)
{
    al_auto(al_freep) char *path = al_fs_join(objects, "info/alternates");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL, *line;
    int r = al_fs_read(AT_FDCWD, path, ALTERNATES_MAX_BYTES, &text);

    if (r == -ENOENT || r == -ENOTDIR)
        return true;
    if (r < 0)
        return false;
    for (line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (!add_store(stores, objects, line))
            return false;
    return true;
}

bool al_alternates_are_inside(const struct al_roots *roots, const char *objects)
{
    struct stores stores = { .roots = roots };
    bool inside = true;

    al_strv_add(&stores.dirs, objects);
    for (size_t i = 0; i < stores.dirs.count && inside; i++) {
        al_auto(al_freep) char *store = al_strdup(stores.dirs.items[i]);

        inside = read_alternates(&stores, store);
    }
    al_strv_clear(&stores.dirs);
    return inside;
}
