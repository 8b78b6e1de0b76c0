/* SPDX-License-Identifier: MIT
 *
 * A launch by its own engine and by fibers, compared. Fibers run it on one OS thread in two orders of threads, of which
 * one is the other's reverse: what differs between these depends on the order, and is told apart. What does not, and is
 * not what the engine has left, is a difference. Before it is told, further orders are tried: an element in the middle
 * of what atomicAdd hands out is the same in an order and its reverse. Where others of its array depend on the order,
 * many are: of places that a few threads share, two orders in three may leave one as it is. The engine's result stays. */
#include "core/backend/cpu/objects.h"

#include <math.h>
#include <string.h>

enum { FURTHER_ORDERS = 4, MOST_ORDERS = 64 };
/* Units in the last place. The compiler chooses which product of a*b + c*d it fuses, for each form of a kernel anew;
 * with fast_math it reorders sums as well. Measured in the studies: 4 and 23, with clang++ and g++. */
enum { ULPS_CONTRACTED = 16, ULPS_FAST_MATH = 1024 };
enum {
  ULPS_OF_LARGEST = 4
}; /* of the array: what is left of a difference of large numbers has their rounding errors */

typedef struct noted {
  mw_finding base; /* first */
  unsigned long long module;
  struct noted *next;
} noted;

struct cpu_comparer {
  size_t launches;
  noted *first, *last;
};

struct cpu_comparison {
  cpu_device *device;
  cpu_kernel *kernel;
  cpu_variant variant;
  mw_grid abi;     /* as it was launched */
  void *arguments; /* for the fiber form */
  unsigned ulps;
  cpu_state *state;
  char *before, *own, *first;
  unsigned char **varies; /* of each region a bit for each element that depends on the order */
  cpu_grid grid;          /* of the last run by fibers */
};

typedef struct watched { /* an element, to find who writes it */
  uintptr_t at;
  size_t bytes;
  char was[sizeof(double)];
} watched;

/* ---- what has been found --------------------------------------------------------------------------------------- */

cpu_comparer *cpu_comparer_open(void) {
  return mw_calloc(1, sizeof(cpu_comparer));
}

void cpu_comparer_close(cpu_comparer *comparer) {
  while (comparer && comparer->first) {
    noted *next = comparer->first->next;
    mw_free(comparer->first);
    comparer->first = next;
  }
  mw_free(comparer);
}

const mw_finding *cpu_comparer_findings(const cpu_comparer *comparer) {
  return comparer->first ? &comparer->first->base : NULL;
}

static bool is_same(const noted *one, const mw_finding *finding, unsigned long long module) {
  return one->module == module && !strcmp(one->base.kind, finding->kind) &&
         !strcmp(one->base.kernel, finding->kernel) && one->base.object.parameter == finding->object.parameter &&
         !strcmp(one->base.object.name, finding->object.name) && one->base.warning == finding->warning;
}

/* Of what is found in several launches the first is kept, with their number. */
static void tell(const cpu_comparison *c, mw_finding *finding) {
  cpu_comparer *comparer = c->device->comparer;
  const char *name, *text;
  const unsigned long long module = cpu_module_source(c->kernel->base.module, &name, &text);
  snprintf(finding->kernel, sizeof finding->kernel, "%s", c->kernel->base.name);
  finding->launch = comparer->launches;
  finding->count = 1;
  for (noted *one = comparer->first; one; one = one->next)
    if (is_same(one, finding, module)) {
      one->base.count++;
      return;
    }
  noted *one = mw_calloc(1, sizeof *one);
  *one = (noted){.base = *finding, .module = module};
  if (comparer->last) {
    comparer->last->base.next = &one->base;
    comparer->last->next = one;
  } else {
    comparer->first = one;
  }
  comparer->last = one;
}

/* ---- running --------------------------------------------------------------------------------------------------- */

/* A variable is another one in the fiber form. */
static void watch(const cpu_comparison *c, watched *element, cpu_redzone *out) {
  if (c->variant.there) cpu_twin_carry(c->variant.there, &element->at, sizeof element->at);
  memcpy(element->was, (const void *)element->at, element->bytes);
  *out = (cpu_redzone){.start = (const unsigned char *)element->at,
                       .end = (const unsigned char *)element->at + element->bytes,
                       .was = element->was};
}

static void run_in_order(cpu_grid *grid, cpu_worker *me) {
  cpu_worker_enter(me, grid);
  cpu_grid_run(grid, me, 0, grid->blocks);
  cpu_worker_leave(me);
}

static void run_shuffled(cpu_grid *grid, cpu_worker *me, uint64_t seed) {
  cpu_shuffle shuffle = {.seed = seed, .wanted = grid->blocks, .mute = true};
  grid->seed = seed;
  grid->shuffle = &shuffle;
  grid->help = cpu_shuffle_help;
  cpu_shuffle_run(&shuffle, grid, me);
}

/* From the state before the launch, in the order of a seed; 0: in order. What has stopped it, of cpu_stop. */
static int run(cpu_comparison *c, cpu_worker *me, uint64_t seed, watched *element) {
  const cpu_variant *variant = &c->variant;
  mw_grid abi = c->abi;
  cpu_redzone redzone;
  abi.args = c->arguments;
  cpu_state_put(c->state, c->before);
  if (variant->there) {
    cpu_twin_carry_variables(variant->there);
    cpu_state_carry(c->state, variant->there);
  }
  cpu_grid_begin(&c->grid, &abi, variant->kernel, variant->table, 0);
  if (element) watch(c, element, &redzone);
  if (element) c->grid.watch = &redzone;
  me->mute = true;
  if (seed)
    run_shuffled(&c->grid, me, seed);
  else
    run_in_order(&c->grid, me);
  me->mute = false;
  if (variant->back) {
    cpu_twin_carry_variables(variant->back);
    cpu_state_carry(c->state, variant->back);
  }
  return atomic_load(&c->grid.stop.why);
}

/* ---- comparing ------------------------------------------------------------------------------------------------- */

typedef struct judged { /* a region */
  size_t elements, varied, differ;
  size_t first_varied, first_differing;
} judged;

/* Where the array or variable of a region lies in what was kept of all. */
static const char *kept_at(const cpu_comparison *c, const char *kept, size_t region) {
  for (size_t i = 0; i < region; i++) kept += c->state->regions[i].room;
  return kept + (c->state->regions[region].at - c->state->regions[region].from);
}

static void mark_region(cpu_comparison *c, size_t which) {
  const cpu_region *region = &c->state->regions[which];
  const char *first = kept_at(c, c->first, which);
  const size_t width = cpu_element_bytes(region->dtype), count = region->bytes / width;
  if (!memcmp(first, region->at, region->bytes)) return;
  if (!c->varies[which]) c->varies[which] = mw_calloc(count / 8 + 1, 1);
  for (size_t i = 0; i < count; i++)
    if (!cpu_element_is_near(region->dtype, first + i * width, region->at + i * width, 0, 0))
      c->varies[which][i / 8] |= (unsigned char)(1 << i % 8);
}

static void mark(cpu_comparison *c) {
  for (size_t i = 0; i < c->state->count; i++) mark_region(c, i);
}

/* 0: of no floats, or equal ones are wanted. */
static double largest(const cpu_comparison *c, const cpu_region *region, const char *elements) {
  const size_t width = cpu_element_bytes(region->dtype);
  double most = 0;
  for (size_t i = 0; c->ulps && mw_dtype_is_float(region->dtype) && i < region->bytes / width; i++) {
    const double magnitude = fabs(cpu_element_number(region->dtype, elements + i * width));
    if (isfinite(magnitude) && magnitude > most) most = magnitude;
  }
  return most;
}

static judged judge(const cpu_comparison *c, size_t which) {
  const cpu_region *region = &c->state->regions[which];
  const char *own = kept_at(c, c->own, which), *first = kept_at(c, c->first, which);
  const unsigned char *varies = c->varies[which];
  const size_t width = cpu_element_bytes(region->dtype);
  judged it = {.elements = region->bytes / width};
  if (!varies && !memcmp(own, first, region->bytes)) return it;
  const double most = ULPS_OF_LARGEST * cpu_element_ulp(region->dtype) * largest(c, region, first);
  for (size_t i = 0; i < it.elements; i++) {
    if (varies && varies[i / 8] >> i % 8 & 1) {
      if (it.varied++ == 0) it.first_varied = i;
    } else if (!cpu_element_is_near(region->dtype, own + i * width, first + i * width, c->ulps, most)) {
      if (it.differ++ == 0) it.first_differing = i;
    }
  }
  return it;
}

/* In how many orders what differs now has to be the same to be a difference; 0: nothing differs. */
static uint64_t orders_wanted(const cpu_comparison *c) {
  uint64_t most = 0;
  for (size_t i = 0; i < c->state->count && most < MOST_ORDERS; i++)
    if (judge(c, i).differ) most = c->varies[i] ? MOST_ORDERS : FURTHER_ORDERS;
  return most;
}

/* ---- telling --------------------------------------------------------------------------------------------------- */

static void locate(const cpu_comparison *c, const cpu_region *region, const char *element, mw_object *out) {
  const cpu_launched at = {c->device, c->kernel, &c->grid};
  *out = (mw_object){0};
  if (region->variable ? cpu_locate_variable(region->variable, (uintptr_t)element, out)
                       : cpu_locate_element(&at, (uintptr_t)element, out))
    return;
  cpu_locate_array(&at, (uintptr_t)element, out);
}

static void find_writer(cpu_comparison *c, cpu_worker *me, const char *element, size_t bytes, mw_finding *finding) {
  watched it = {.at = (uintptr_t)element, .bytes = bytes};
  const bool found = run(c, me, 0, &it) == CPU_STOP_FAULT && c->grid.stop.fault.address == it.at;
  const cpu_fault *fault = &c->grid.stop.fault;
  if (!found || !fault->has_thread) {
    snprintf(finding->remark, sizeof finding->remark, "fibers leave it as it was");
    return;
  }
  const mw_dim3 b = cpu_block_index(&c->grid, fault->block), t = fault->thread;
  finding->parties[0] = (mw_party){
      .known = true, .block_known = true, .block = {b.x, b.y, b.z}, .thread = {t.x, t.y, t.z}, .verb = "write"};
}

static mw_finding difference_finding(void) {
  return (mw_finding){.kind = "engine difference",
                      .remedy = "load the module with engine = \"fiber\", and report the kernel"};
}

static void tell_difference(cpu_comparison *c, cpu_worker *me, size_t which, const judged *it) {
  const cpu_region *region = &c->state->regions[which];
  const size_t bytes = cpu_element_bytes(region->dtype), at = it->first_differing * bytes;
  mw_finding finding = difference_finding();
  mw_object *object = &finding.object;
  char got[CPU_ELEMENT_TEXT], wanted[CPU_ELEMENT_TEXT];
  cpu_element_text(got, region->dtype, kept_at(c, c->own, which) + at);
  cpu_element_text(wanted, region->dtype, kept_at(c, c->first, which) + at);
  locate(c, region, region->at + at, object);
  mw_list_add(object->text, sizeof object->text, "",
              ", launch %zu: got %s by %s, wanted %s by fibers; %zu of %zu differ", c->device->comparer->launches, got,
              c->kernel->base.engine, wanted, it->differ, it->elements);
  find_writer(c, me, region->at + at, bytes, &finding);
  tell(c, &finding);
}

/* The text of the source names one. */
static bool reads_clocks(const cpu_comparison *c) {
  const char *name, *text;
  cpu_module_source(c->kernel->base.module, &name, &text);
  return strstr(text, "clock") || strstr(text, "globaltimer");
}

static mw_finding order_finding(const cpu_comparison *c) {
  mw_finding finding = {.kind = "depends on order",
                        .warning = true,
                        .remedy =
                            "not compared: atomics on floats, places by atomicAdd, or a race, which --check finds"};
  if (reads_clocks(c)) snprintf(finding.remark, sizeof finding.remark, "the source reads a clock");
  return finding;
}

static void tell_order(const cpu_comparison *c, size_t which, const judged *it) {
  const cpu_region *region = &c->state->regions[which];
  mw_finding finding = order_finding(c);
  mw_object *object = &finding.object;
  locate(c, region, region->at + it->first_varied * cpu_element_bytes(region->dtype), object);
  mw_list_add(object->text, sizeof object->text, "", ", launch %zu: %zu of %zu differ between orders of threads",
              c->device->comparer->launches, it->varied, it->elements);
  tell(c, &finding);
}

static void tell_all(cpu_comparison *c, cpu_worker *me) {
  for (size_t i = 0; i < c->state->count; i++) {
    const judged it = judge(c, i);
    if (it.differ) tell_difference(c, me, i, &it);
    if (it.varied) tell_order(c, i, &it);
  }
}

/* Fibers stop where the engine does not; in all orders, or in some. */
static void tell_stop(cpu_comparison *c, const char *text, bool always) {
  mw_finding finding = always ? difference_finding() : order_finding(c);
  snprintf(finding.object.text, sizeof finding.object.text, "launch %zu: fibers end with an error: %.300s",
           c->device->comparer->launches, text);
  tell(c, &finding);
}

/* ---- a launch -------------------------------------------------------------------------------------------------- */

static unsigned ulps_of(const cpu_kernel *kernel) {
  const mw_source *source = cpu_module_options(kernel->base.module);
  return source->fast_math ? ULPS_FAST_MATH : source->no_contract ? 0 : ULPS_CONTRACTED;
}

cpu_comparison *cpu_compare_begin(cpu_device *device, cpu_kernel *kernel, const mw_grid *abi, bool cooperative) {
  mw_compared *compared = &device->base.compared;
  cpu_variant variant;
  device->comparer->launches++;
  size_t *uncompared = cooperative                                   ? &compared->cooperative
                       : !kernel->unit->run                          ? &compared->fibers
                       : !cpu_module_fiber_variant(kernel, &variant) ? &compared->formless
                                                                     : NULL;
  if (uncompared) {
    ++*uncompared;
    return NULL;
  }
  cpu_comparison *c = mw_calloc(1, sizeof *c);
  c->device = device;
  c->kernel = kernel;
  c->variant = variant;
  c->abi = *abi;
  c->arguments = memcpy(mw_malloc(kernel->base.args_bytes + 1), abi->args, kernel->base.args_bytes);
  if (variant.there) cpu_twin_carry(variant.there, c->arguments, kernel->base.args_bytes);
  c->ulps = ulps_of(kernel);
  c->state = cpu_state_open(device);
  c->varies = mw_calloc(c->state->count + 1, sizeof *c->varies);
  c->before = cpu_state_keep(c->state);
  return c;
}

/* The first error of several runs is kept. */
static int run_to_end(cpu_comparison *c, cpu_worker *me, uint64_t seed, mw_error *error) {
  const int why = run(c, me, seed, NULL);
  if (why == CPU_STOP_FAULT && !error->status) cpu_explain(c->device, me, c->kernel, &c->grid, error);
  return why;
}

/* Ctrl-C ends it. */
static int compare(cpu_comparison *c, cpu_worker *me) {
  mw_error error = {0};
  const int why = run_to_end(c, me, 0, &error);
  c->first = cpu_state_keep(c->state);
  const int again = why == CPU_STOP_INTERRUPT ? why : run_to_end(c, me, CPU_REVERSED, &error);
  if (again != CPU_STOP_INTERRUPT && error.status) tell_stop(c, error.text, why == again);
  mw_error_clear(&error);
  if (why || again) return again;
  mark(c);
  for (uint64_t seed = 1; seed <= orders_wanted(c); seed++) {
    if (run(c, me, seed, NULL) == CPU_STOP_INTERRUPT) return CPU_STOP_INTERRUPT;
    mark(c);
  }
  tell_all(c, me);
  return CPU_GOING;
}

static void release(cpu_comparison *c) {
  for (size_t i = 0; i < c->state->count; i++) mw_free(c->varies[i]);
  mw_free(c->varies);
  mw_free(c->before);
  mw_free(c->own);
  mw_free(c->first);
  mw_free(c->arguments);
  cpu_state_close(c->state);
  mw_free(c);
}

mw_status cpu_compare_end(cpu_comparison *c, cpu_worker *me, mw_status status, mw_error *err) {
  if (status == MW_OK) {
    c->own = cpu_state_keep(c->state);
    c->device->base.compared.launches++;
    if (compare(c, me) == CPU_STOP_INTERRUPT) status = mw_fail(err, MW_INTERRUPTED, "interrupted");
    cpu_state_put(c->state, c->own);
  }
  release(c);
  return status;
}
