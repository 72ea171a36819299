// SPDX-License-Identifier: Apache-2.0
/*
 * Who is on the other end of a connection.
 *
 * A user may answer questions, and an agent may not.  An agent works in the children of a server:
 * they have no sockets, but some of them are not confined, as the user decided (an upstream server
 * with `confine = false`, bash_command with `isolation = "none"`).  A server is a subreaper, so
 * whatever was started below it stays below it.  A peer is therefore refused when a process above
 * it is this process, another airlock, or has a socket in the directory.  The peer itself may be a
 * server, also this one: the page of `serve --http` shows the questions of all of them, and nothing
 * that an agent asks makes a server connect.
 *
 * Source: unix(7) SO_PEERCRED and SO_PEERPIDFD, proc_pid_stat(5).
 */
#ifndef AL_REVIEW_PEER_H
#define AL_REVIEW_PEER_H

#include <stdbool.h>

/** Check the peer of a connected socket.  NULL: it may ask and answer; else why it may not, a
 * constant. */
const char *al_review_peer_check(int fd, int dir_fd);

#endif
