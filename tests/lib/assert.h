// SPDX-License-Identifier: Apache-2.0
/* cmocka, and the headers that must come before it. */
#ifndef TESTS_LIB_ASSERT_H
#define TESTS_LIB_ASSERT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
