// SPDX-License-Identifier: Apache-2.0
/*
 * A build without the checks of arguments and grants, for -Dguards=off alone.
 *
 * Such a build tests that the kernel's confinement alone stops a reading git from writing.  It says
 * so at every start and is not installed.
 */
#ifndef AL_GUARD_GUARDS_H
#define AL_GUARD_GUARDS_H

/** True if the checks are on; a constant. */
#ifdef AL_GUARDS_OFF
enum { al_guarded = 0 };
#else
enum { al_guarded = 1 };
#endif

#endif
