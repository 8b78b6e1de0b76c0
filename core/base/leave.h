/* SPDX-License-Identifier: MIT
 *
 * Who has to end the process before the handlers of exit() have all run calls this first. */
#ifndef MW_LEAVE_H
#define MW_LEAVE_H

extern void (*mw_leave)(int status); /* set by the program: ends the script's run; NULL: nothing to do */

#endif
