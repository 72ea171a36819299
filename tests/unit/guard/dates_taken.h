// SPDX-License-Identifier: Apache-2.0
/* Dates; also read by tests/e2e/test_dates.py. */
"1700000000", "@1700000000", "@0 +0000", "1700000000 +0100", "2024-01-02", "2024-1-2", "2024/01/02",
    "2024.01.02", "02.01.2024", "01/02/2024", "20240102T030405", "2024-01-02T03:04:05Z",
    "2024-01-02T03:04:05+01:00", "2024-01-02T03:04:05.678Z", "2024-01-02 03:04:05 +0100",
    "2024-01-02 03:04", "2024-01-02 03:04:05 UTC", "Thu, 7 Apr 2005 22:14:13 -0700",
    "Fri Jun 4 15:46:55 2010", "Fri Jun 4 15:46:55 2010 +0200", "7 Apr 2005", "April 7, 2005",
    "June 5th", "1st of May", "may", "Jan", "3:00", "15:00", "6am yesterday", "6pm yesterday",
    "10am noon", "Jun 6, 5AM", "5AM Jun 6", "6AM, June 7, 2009", "January 5th noon today", "noon",
    "noon today", "noon yesterday", "yesterday", "yesterday at noon", "midnight", "tea", "now",
    "never", "2 weeks ago", "2 weeks", "1.week.ago", "2.weeks", "1 day ago", "400 days ago",
    "5.minutes.ago", "30 seconds ago", "3 months ago", "1 year 2 months ago",
    "2.years.3.months.ago", "12:34:56.3.days.ago", "two weeks ago", "ten days ago", "last week",
    "last month", "last year", "last friday", "last Tue", "3 days ago at noon", "2020", "15",
