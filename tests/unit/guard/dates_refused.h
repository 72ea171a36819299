// SPDX-License-Identifier: Apache-2.0
/* Texts that are not dates; also read by tests/e2e/test_dates.py. */
"", " ", "gestern", "v2.30.0", "HEAD", "HEAD~3", "main", "abc123", "deadbeef", "origin/main",
    "release-1", "1 fortnight ago", "eleven days ago", "a week ago", "an hour ago", "some time ago",
    "beginning of time", "ago", "today", "tomorrow", "week", "friday", "monday noon", "next friday",
    "2 wochen", "vor 2 tagen", "2024-01-02 gestern", "2024-01-02T03:04:05X", "2024-13-45",
    "2024-00-00", "0", "500", "12345", "20240102", "janvier", "02 fevrier 2024", "yesterdayish",
    "weeks2", "1d", "2w", "3h ago", "15:00 Berlin", "{yesterday}", "@{1.week.ago}", "2024_01_02",
    "yesterday;", "\u0433\u043e\u0434", "2 wekks ago", "lastweek", "2024-01", "2024-01-02T15",
    "20250102T0304", "15:00 -07",
