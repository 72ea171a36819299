// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/kept.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/recent.h"
#include "checkpoint/recent_known.h"
#include "util/fs.h"

#define NAME           "kept"
#define LIST_MAX_BYTES (256u << 20)
#define REASON         "airlock: a checkpoint needs this\n"

static int failed(int errno_value, struct al_error *err)
{
    return al_error_errno(err, errno_value, "cannot write to the checkpoint store");
}

/* Mark a kept pack as still needed.  False: it is not kept any more. */
static bool touch(const struct al_store *store, const char *hash)
{
    al_auto(al_freep) char *name = al_asprintf("pack-%s.keep", hash);

    return utimensat(store->pack_fd, name, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The file `recent2` is read first: what leaves it is in the other files before. */
void al_kept_find(struct al_store *store, const struct al_tip_list *tips,
                  struct al_tip_list *ret_kept)
{
    al_auto(al_strv_clear) struct al_strv recent = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    al_recent_look(store);
    al_recent_list_kept(&store->recent, &recent);
    for (size_t i = 0; i < recent.count; i++)
        if (al_tip_list_has(tips, recent.items[i], store->sha256))
            al_tip_list_add(ret_kept, recent.items[i], store->sha256);
    (void)al_fs_read(store->dir_fd, NAME, LIST_MAX_BYTES, &text);
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *space = strchr(line, ' ');

        if (space && al_tip_list_has(tips, line, store->sha256) && touch(store, space + 1))
            al_tip_list_add(ret_kept, line, store->sha256);
    }
}

/* Lines about packs that are gone are dropped. */
int al_kept_add(struct al_store *store, const char *hash, const struct al_strv *tips,
                struct al_error *err)
{
    al_auto(al_str_clear) struct al_str old = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *keep = al_asprintf("pack-%s.keep", hash);
    char *save = NULL;
    int r = al_fs_write_durable(store->pack_fd, keep, REASON, strlen(REASON), 0600);

    if (r < 0)
        return failed(-r, err);
    (void)al_fs_read(store->dir_fd, NAME, LIST_MAX_BYTES, &old);
    for (char *line = strtok_r(old.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        const char *space = strchr(line, ' ');
        al_auto(al_freep) char *name = al_asprintf("pack-%s.keep", space ? space + 1 : "");

        if (space && faccessat(store->pack_fd, name, F_OK, 0) == 0)
            al_str_addf(&text, "%s\n", line);
    }
    for (size_t i = 0; i < tips->count; i++)
        al_str_addf(&text, "%s %s\n", tips->items[i], hash);
    r = al_fs_write_atomic(store->dir_fd, NAME, text.buf, text.len, 0600, true);
    return r < 0 ? failed(-r, err) : 0;
}

int al_kept_write(struct al_store *store, const struct al_pack_image *image,
                  const struct al_strv *tips, struct al_error *err)
{
    char name[AL_OID_TEXT + 8];
    int r = al_pack_image_write(image, store->pack_fd, store->sha256, true, err);

    al_pack_image_name(image, store->sha256, name);
    return r < 0 ? r : al_kept_add(store, name + strlen("pack-"), tips, err);
}

void al_kept_release(struct al_store *store, int64_t oldest_s)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(store->pack_fd);
    struct dirent *entry;
    struct stat st;

    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (al_ends_with(entry->d_name, ".keep") &&
            fstatat(store->pack_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtim.tv_sec < oldest_s - 1)
            (void)unlinkat(store->pack_fd, entry->d_name, 0);
}
