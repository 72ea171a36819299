// SPDX-License-Identifier: Apache-2.0
/*
 * One switch for the checks of arguments and grants, thrown by -Dguards=off alone.
 *
 * Such a build proves that the kernel keeps a reading git from writing when none of our own checks
 * does.  It is for that test, says so at every start, and is not installed.
 */
#ifndef AL_GUARD_GUARDS_H
#define AL_GUARD_GUARDS_H

/** Whether checks check; a constant. */
#ifdef AL_GUARDS_OFF
enum { al_guarded = 0 };
#else
enum { al_guarded = 1 };
#endif

#endif
