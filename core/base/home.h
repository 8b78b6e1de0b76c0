/* SPDX-License-Identifier: MIT
 *
 * Where moonwarp's own files are: lua/, kernels/, experiments/, plots/ and the CPU device's shim.
 * $MOONWARP_HOME, else found from the program's or module's own path: the checkout, the installation or the bundle. */
#ifndef MW_HOME_H
#define MW_HOME_H

const char *mw_home(void);        /* the folder that holds lua/ and kernels/; never NULL, "" where not found */
const char *mw_shim_folder(void); /* <home>/core/backend/cpu/shim, in a bundle too */

#endif
