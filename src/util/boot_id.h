// SPDX-License-Identifier: Apache-2.0
/* Which run of the kernel this is.  What was written in another one and not synchronised may be
 * lost or incomplete. */
#ifndef AL_UTIL_BOOT_ID_H
#define AL_UTIL_BOOT_ID_H

/** The length of an id, without a NUL. */
#define AL_BOOT_ID_BYTES 36

/** The id of this run of the kernel; NULL if it is not known.  Source: random(4), boot_id.
 * Threads: may be called from any. */
const char *al_boot_id(void);

#endif
