/* SPDX-License-Identifier: MIT
 *
 * The shim over the site's MPI (core/mpi), which its mpicc compiles at first use; the cache keeps it. Without
 * mpicc, the bundle's shim in lib/mpi whose MPI is installed is used. */
#ifndef MW_COMPILE_MPICC_H
#define MW_COMPILE_MPICC_H

#include "core/base/error.h"
#include "core/mpi/shim.h"

/* $MOONWARP_MPICC, else mpicc. NULL: err says why not. It stays loaded. */
const mw_mpi_calls *mw_mpicc_open(const char *moonwarp_version, mw_error *err);

#endif
