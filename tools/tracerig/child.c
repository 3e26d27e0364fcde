// SPDX-License-Identifier: GPL-2.0
/* Child processes of a watch. See child.h. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "child.h"

/**
 * child_fork - fork a process that has the signals of a new one
 * @tied: it is a part of the watch: it dies with it, since it holds its locks, which the
 *	next watch waits for, and only the watch acts on signals that terminals and service
 *	managers send to both
 *
 * Return: as of fork().
 */
pid_t child_fork(bool tied)
{
	pid_t parent = getpid(), pid;
	sigset_t none;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!tied) {
		/* A shell cannot reset what is ignored when it starts */
		signal(SIGPIPE, SIG_DFL);
		return 0;
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	return 0;
}
