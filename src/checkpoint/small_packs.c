// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/small_packs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/fs.h"

#define SMALL_BYTES (128u << 10)
#define INDEX_BYTES (64u << 10)

void al_pack_images_clear(struct al_pack_images *images)
{
    for (size_t i = 0; i < images->count; i++)
        al_pack_image_clear(&images->items[i]);
    free(images->items);
    *images = (struct al_pack_images){ .items = NULL };
}

void al_pack_images_add(struct al_pack_images *images, struct al_pack_image *image)
{
    images->items = al_reallocarray(images->items, images->count + 1, sizeof(*images->items));
    images->items[images->count++] = *image;
    *image = AL_PACK_IMAGE_INIT;
}

/* The names without ".idx" of the packs that may be removed. */
static void list_unkept(const struct al_store *store, struct al_strv *ret_stems)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(store->pack_fd);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        al_auto(al_freep) char *keep =
            al_asprintf("%.*s.keep", (int)strcspn(entry->d_name, "."), entry->d_name);

        if (al_starts_with(entry->d_name, "pack-") && al_ends_with(entry->d_name, ".idx") &&
            faccessat(store->pack_fd, keep, F_OK, 0) < 0)
            al_strv_addf(ret_stems, "%.*s", (int)strcspn(entry->d_name, "."), entry->d_name);
    }
}

static int read_file(const struct al_store *store, const char *stem, const char *suffix,
                     size_t most, struct al_str *ret_bytes)
{
    al_auto(al_freep) char *name = al_asprintf("%s%s", stem, suffix);

    return al_fs_read(store->pack_fd, name, most, ret_bytes);
}

void al_small_packs_read(const struct al_store *store, struct al_pack_images *images)
{
    al_auto(al_strv_clear) struct al_strv stems = AL_STRV_INIT;

    list_unkept(store, &stems);
    for (size_t i = 0; i < stems.count; i++) {
        al_auto(al_pack_image_clear) struct al_pack_image image = AL_PACK_IMAGE_INIT;

        if (read_file(store, stems.items[i], ".idx", INDEX_BYTES, &image.index) == 0 &&
            read_file(store, stems.items[i], ".pack", SMALL_BYTES, &image.pack) == 0 &&
            al_pack_image_is_whole(&image, store->sha256) &&
            !al_pack_image_has_deltas(&image, store->sha256))
            al_pack_images_add(images, &image);
    }
}

void al_small_packs_unlink_one(const struct al_store *store, const char *stem)
{
    static const char *const suffixes[] = { ".idx", ".pack", ".rev" };

    /* git looks for a pack when it finds an index. */
    for (size_t i = 0; i < AL_COUNT(suffixes); i++) {
        char name[AL_OID_TEXT + 16];

        (void)snprintf(name, sizeof(name), "%s%s", stem, suffixes[i]);
        (void)unlinkat(store->pack_fd, name, 0);
    }
}

void al_small_packs_unlink(const struct al_store *store, const struct al_pack_image *joined)
{
    al_auto(al_strv_clear) struct al_strv stems = AL_STRV_INIT;
    char own[AL_OID_TEXT + 8];

    if (!joined->pack.len)
        return;
    al_pack_image_name(joined, store->sha256, own);
    list_unkept(store, &stems);
    for (size_t i = 0; i < stems.count; i++) {
        al_auto(al_str_clear) struct al_str index = AL_STR_INIT;

        if (strcmp(stems.items[i], own) != 0 &&
            read_file(store, stems.items[i], ".idx", INDEX_BYTES, &index) == 0 &&
            al_pack_image_has_all(joined, &index, store->sha256))
            al_small_packs_unlink_one(store, stems.items[i]);
    }
}
