/* SPDX-License-Identifier: MIT
 *
 * Who has to end the process before the handlers of exit() have all run calls this first. */
#ifndef MW_LEAVE_H
#define MW_LEAVE_H

/* Set by the program: ends the script's run, and gives the status with which the process is to end. NULL: nothing to do. */
extern int (*mw_leave)(int status);

#endif
