// SPDX-License-Identifier: MIT
//
// The loops of airfoil, each for one element: what a user of moonwarp.mesh writes. A parameter has the element's own
// values, wherever they are; const ones are read, others written or incremented. REAL is float or double, and gam, gm1,
// cfl, eps, qinf0 to qinf3 are constants of the mesh.
//
// q: density, two momenta, energy of a cell. adt: the sum over a cell's faces of the speed of the fastest wave times
// the face's length, over the CFL number. res: what flows out of a cell. x: a node's place.
//
// The scheme is that of OP2's example airfoil (M. Giles, G. Mudalige, I. Reguly): 2-D Euler equations, cell-centred
// finite volumes, scalar dissipation, two stages with local time steps.

__device__ inline void save_soln(const REAL q[4], REAL qold[4]) {
  for (int k = 0; k < 4; k++) qold[k] = q[k];
}

__device__ inline REAL pressure(const REAL *q, REAL over) {
  return gm1 * (q[3] - REAL(0.5) * over * (q[1] * q[1] + q[2] * q[2]));
}

// The speed of the fastest wave through a face from a to b, times its length.
__device__ inline REAL wave(const REAL *a, const REAL *b, REAL u, REAL v, REAL c) {
  REAL dx = b[0] - a[0], dy = b[1] - a[1];
  return fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
}

__device__ inline void adt_calc(const REAL x1[2], const REAL x2[2], const REAL x3[2], const REAL x4[2],
                                const REAL q[4], REAL adt[1]) {
  REAL over = REAL(1) / q[0], u = over * q[1], v = over * q[2];
  REAL c = sqrt(gam * gm1 * (over * q[3] - REAL(0.5) * (u * u + v * v)));
  adt[0] = (wave(x1, x2, u, v, c) + wave(x2, x3, u, v, c) + wave(x3, x4, u, v, c) + wave(x4, x1, u, v, c)) / cfl;
}

// The flux through a face from the state left of it to that right of it: central, with scalar dissipation mu.
__device__ inline void flux(REAL dx, REAL dy, const REAL *q1, const REAL *q2, REAL mu, REAL *f) {
  REAL over1 = REAL(1) / q1[0], p1 = pressure(q1, over1), vol1 = over1 * (q1[1] * dy - q1[2] * dx);
  REAL over2 = REAL(1) / q2[0], p2 = pressure(q2, over2), vol2 = over2 * (q2[1] * dy - q2[2] * dx);
  f[0] = REAL(0.5) * (vol1 * q1[0] + vol2 * q2[0]) + mu * (q1[0] - q2[0]);
  f[1] = REAL(0.5) * (vol1 * q1[1] + p1 * dy + vol2 * q2[1] + p2 * dy) + mu * (q1[1] - q2[1]);
  f[2] = REAL(0.5) * (vol1 * q1[2] - p1 * dx + vol2 * q2[2] - p2 * dx) + mu * (q1[2] - q2[2]);
  f[3] = REAL(0.5) * (vol1 * (q1[3] + p1) + vol2 * (q2[3] + p2)) + mu * (q1[3] - q2[3]);
}

__device__ inline void res_calc(const REAL x1[2], const REAL x2[2], const REAL q1[4], const REAL q2[4],
                                const REAL adt1[1], const REAL adt2[1], REAL res1[4], REAL res2[4]) {
  REAL f[4];
  flux(x1[0] - x2[0], x1[1] - x2[1], q1, q2, REAL(0.5) * (adt1[0] + adt2[0]) * eps, f);
  for (int k = 0; k < 4; k++) {
    res1[k] += f[k];
    res2[k] -= f[k];
  }
}

__device__ inline void bres_calc(const REAL x1[2], const REAL x2[2], const REAL q1[4], const REAL adt1[1], REAL res1[4],
                                 const int bound[1]) {
  REAL dx = x1[0] - x2[0], dy = x1[1] - x2[1];
  if (bound[0] == 1) { // the airfoil: nothing flows through it
    REAL p1 = pressure(q1, REAL(1) / q1[0]);
    res1[1] += p1 * dy;
    res1[2] -= p1 * dx;
  } else { // far away: the undisturbed flow
    const REAL far[4] = { qinf0, qinf1, qinf2, qinf3 };
    REAL f[4];
    flux(dx, dy, q1, far, adt1[0] * eps, f);
    for (int k = 0; k < 4; k++) res1[k] += f[k];
  }
}

__device__ inline void update(const REAL qold[4], REAL q[4], REAL res[4], const REAL adt[1], REAL rms[1]) {
  REAL over = REAL(1) / adt[0];
  for (int k = 0; k < 4; k++) {
    REAL change = over * res[k];
    q[k] = qold[k] - change;
    res[k] = 0;
    rms[0] += change * change;
  }
}

// Before update adds to it.
__device__ inline void clear(REAL rms[1]) { rms[0] = 0; }

// ---- before and after the flow -----------------------------------------------------------------------------------------
// A flow that is nowhere the same, from a random number of each cell.
__device__ inline void disturb(const REAL noise[1], REAL q[4], REAL adt[1]) {
  q[0] = REAL(0.9) + REAL(0.2) * noise[0];
  q[1] = REAL(0.5) - REAL(0.1) * noise[0];
  q[2] = REAL(0.05) * noise[0] - REAL(0.02);
  q[3] = REAL(2.5) + REAL(0.2) * noise[0];
  adt[0] = REAL(0.04) + REAL(0.02) * noise[0];
}

__device__ inline void undisturbed(REAL q[4], REAL res[4]) {
  const REAL far[4] = { qinf0, qinf1, qinf2, qinf3 };
  for (int k = 0; k < 4; k++) {
    q[k] = far[k];
    res[k] = 0;
  }
}

// What flows out of the cells of a bin together, and how much in all.
__device__ inline void total(const REAL res[4], REAL sum[4], REAL size[4]) {
  for (int k = 0; k < 4; k++) {
    sum[k] += res[k];
    size[k] += fabs(res[k]);
  }
}

// The pressure coefficient (p - 1) / (gam / 2 Mach^2) at a boundary edge; the undisturbed pressure is 1.
__device__ inline void coefficient(const REAL q[4], REAL cp[1]) {
  cp[0] = (pressure(q, REAL(1) / q[0]) - 1) / (REAL(0.5) * qinf1 * qinf1);
}

// The pressure at a point of a picture, NaN within the airfoil.
__device__ inline void paint(const REAL q[4], const int is_body[1], REAL p[1]) {
  p[0] = is_body[0] ? REAL(0) / REAL(0) : pressure(q, REAL(1) / q[0]);
}
