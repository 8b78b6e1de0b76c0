/* SPDX-License-Identifier: MIT
 *
 * The CUDA backend on the fake driver of tests/mock: devices, freeing, launches and captures, by the
 * driver's calls; what is lost, what is interrupted. The rest: tests/cuda/mock_spec.lua, over the same driver. */
#include "core/backend/refs.h"
#include "tests/c/cuda_fixture.h"

/* ---- devices --------------------------------------------------------------------------------------------------- */

static void probes_and_opens(void **state) {
  (void)state;
  mw_probe probe;
  mw_device *other;
  cuda->probe(&probe);
  assert_int_equal(probe.devices, 2);
  REJECTED(MW_NO_DEVICE, "the driver counts 2", mw_device_open(cuda, "7", &other, &err));
  REJECTED(MW_NO_DEVICE, "no such device: cuda:x", mw_device_open(cuda, "x", &other, &err));
  REJECTED(MW_NO_DEVICE, "there are sm_75 sm_80", mw_device_open(cuda, "sm_12", &other, &err));
  assert_string_equal(device->info.id, "cuda:0");
  assert_string_equal(device->info.arch, "sm_90");
  assert_string_equal(device->info.uuid, "GPU-abababab-abab-abab-abab-abababababab");
  assert_true(device->info.peak_bandwidth > 4.9e12 && device->info.peak_bandwidth < 4.92e12);
  assert_false(device->info.pageable_access);
  setenv("MOCK_CUDA_PAGEABLE", "1", 1);
  OK(mw_device_open(cuda, "1", &other, &err));
  unsetenv("MOCK_CUDA_PAGEABLE");
  assert_true(other->info.pageable_access);
  mw_device_release(other);
}

static void two_devices(void **state) {
  (void)state;
  mw_device *other;
  mw_buffer *there;
  OK(mw_device_open(cuda, "1", &other, &err));
  OK(cuda->alloc(other->main, 64, MW_SPACE_DEVICE, MW_U8, &there, &err));
  mw_buffer *here = alloc(64, MW_SPACE_DEVICE);
  uint32_t seven = 7, got = 0;
  OK(cuda->fill(other->main, (mw_place){.buffer = there}, &seven, 4, 16, &err));
  OK(cuda->copy(device->main, (mw_place){.buffer = here}, (mw_place){.buffer = there}, 64, &err));
  OK(cuda->copy(device->main, (mw_place){.host = &got}, (mw_place){.buffer = here, .offset = 60}, 4, &err));
  assert_int_equal(got, 7);
  assert_true(calls("cuMemcpyPeerAsync") > 0);
  OK(cuda->copy(device->main, (mw_place){.buffer = here}, (mw_place){.buffer = there}, 64, &err));
  assert_int_equal(calls("cuMemPoolSetAccess"), 2); /* once for each direction */
  assert_int_equal(calls("cuCtxEnablePeerAccess"), 2);
  mw_buffer *pinned = alloc(64, MW_SPACE_PINNED); /* one device's, used by the other: its end waits for both */
  OK(cuda->copy(other->main, (mw_place){.buffer = there}, (mw_place){.buffer = pinned}, 64, &err));
  mw_buffer_use(pinned, other->main);
  int asked = calls("cuStreamQuery");
  mw_buffer_release(pinned);
  assert_true(calls("cuStreamQuery") >= asked + 2);
  mw_buffer_release(here);
  mw_buffer_release(there);
  mw_device_release(other);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void streams_and_freeing(void **state) {
  (void)state;
  mw_stream *a, *b;
  OK(cuda->stream_create(device, true, 0, &a, &err));
  OK(cuda->stream_create(device, false, -1, &b, &err));
  mw_buffer *x = alloc(256, MW_SPACE_DEVICE), *y = NULL, *pinned = alloc(64, MW_SPACE_PINNED);
  OK(cuda->alloc(a, 256, MW_SPACE_DEVICE, MW_U8, &y, &err));
  mw_buffer_use(x, b);
  mw_buffer_use(pinned, b);
  int waits = calls("cuStreamWaitEvent");
  mw_buffer_release(x);
  assert_int_equal(calls("cuStreamWaitEvent"), waits + 1); /* for b only: a is ordered by the default stream */
  mw_buffer_release(pinned);
  cuda->stream_destroy(a);
  assert_ptr_equal(y->stream, device->main);
  assert_true(y->multi_stream);
  mw_buffer_release(y);
  OK(cuda->stream_synchronize(b, &err));
  OK(cuda->stream_query(b, &err));
  OK(cuda->synchronize(device, &err));
  cuda->stream_destroy(b);
}

/* ---- launches -------------------------------------------------------------------------------------------------- */

static void launches(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_module *m = compile(device, source_text, NULL);
  mw_buffer *x = alloc(64, MW_SPACE_DEVICE);
  fill_call call;
  prepare_fill(&call, kernel(m, "fill"), x, 2.5f);
  OK(cuda->launch(device->main, &call.launch, &err));
  uint64_t before = mw_allocations();
  int driver_calls = calls("cuLaunchKernel"), contexts = calls("cuCtxSetCurrent");
  for (int i = 0; i < 100; i++) OK(cuda->launch(device->main, &call.launch, &err));
  assert_int_equal(mw_allocations(), before);
  assert_int_equal(calls("cuLaunchKernel"), driver_calls + 100);
  assert_int_equal(calls("cuCtxSetCurrent"), contexts);
  assert_true(read_float(x, 15) == 2.5f);
  assert_string_equal(last_kernel(), "_Z4fillPffi");
  call.launch.shared = 100 << 10;
  OK(cuda->launch(device->main, &call.launch, &err));
  OK(cuda->launch(device->main, &call.launch, &err));
  assert_int_equal(calls("cuFuncSetAttribute"), 1);
  call.launch.cooperative = true;
  OK(cuda->launch(device->main, &call.launch, &err));
  mw_buffer_release(x);
  cuda->unload(m);
}

static void lost_device(void **state) {
  (void)state;
  if (!have_nvrtc()) skip();
  mw_device *doomed;
  mw_event *event;
  OK(mw_device_open(cuda, "1", &doomed, &err));
  mw_module *m = compile(doomed, source_text, NULL);
  fill_call call;
  mw_kernel *k = kernel(m, "fill");
  mw_buffer *x;
  OK(cuda->alloc(doomed->main, 64, MW_SPACE_PAGEABLE, MW_U8, &x, &err));
  prepare_fill(&call, k, x, 1);
  OK(cuda->launch(doomed->main, &call.launch, &err));
  setenv("MOCK_CUDA_FAIL", "cuStreamQuery:700:1", 1);
  REJECTED(MW_LOST,
           "device cuda:1 is lost for this process since cuStreamQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700): an "
           "earlier kernel ('fill' was the last launched) accessed memory outside its arrays; start a new process",
           cuda->synchronize(doomed, &err));
  REJECTED(MW_LOST, "is lost for this process since cuStreamQuery", cuda->launch(doomed->main, &call.launch, &err));
  REJECTED(MW_LOST, "is lost", cuda->event_create(doomed, true, &event, &err));
  int released = calls("cuDevicePrimaryCtxRelease_v2");
  mw_buffer_release(x);
  cuda->unload(m);
  mw_device_release(doomed);
  unsetenv("MOCK_CUDA_FAIL");
  assert_int_equal(calls("cuDevicePrimaryCtxRelease_v2"), released); /* it might wait for ever */
  for (size_t i = 0; i < KINDS; i++) {                               /* what it leaves is the driver's to clean up */
    bool by_device = strcmp(kinds[i], "event") == 0 || strcmp(kinds[i], "context") == 0;
    before_test[i] = live(kinds[i]) - by_device; /* of this test's own device, which is closed next */
  }
}

static void interrupted(void **state) {
  (void)state;
  mw_module *m = have_nvrtc() ? compile(device, source_text, NULL) : NULL;
  mw_buffer *pinned = alloc(64, MW_SPACE_PINNED);
  setenv("MOCK_CUDA_HANG", "1", 1);
  atomic_store(&mw_interrupted, true);
  REJECTED(MW_INTERRUPTED, "interrupted while waiting for cuda:0", cuda->synchronize(device, &err));
  atomic_store(&mw_interrupted, false);
  mw_buffer_release(pinned); /* no release waits for what was interrupted: these two stay */
  if (m) cuda->unload(m);
  stays("pinned");
  if (m) stays("module");
  unsetenv("MOCK_CUDA_HANG");
  OK(cuda->synchronize(device, &err));
}

/* ---- graphs ---------------------------------------------------------------------------------------------------- */

static void refused_in_a_capture(void **state) {
  (void)state;
  mw_buffer *x = alloc(64, MW_SPACE_DEVICE), *dropped = alloc(64, MW_SPACE_DEVICE), *none;
  mw_buffer *plain = alloc(64, MW_SPACE_PAGEABLE);
  mw_stream *s;
  OK(cuda->stream_create(device, true, 0, &s, &err));
  OK(cuda->capture_begin(s, &err));
  assert_true(s->capturing);
  REJECTED(MW_INVALID, "cannot be made while a graph is captured",
           cuda->alloc(device->main, 64, MW_SPACE_DEVICE, MW_U8, &none, &err));
  REJECTED(MW_INVALID, "use a pinned array",
           cuda->copy(s, (mw_place){.buffer = x}, (mw_place){.buffer = plain}, 4, &err));
  mw_buffer_release(dropped); /* given back when the capture ends */
  OK(cuda->capture_end(s, NULL, &err));
  cuda->stream_destroy(s);
  mw_buffer_release(x);
  mw_buffer_release(plain);
}

static mw_event *mark(mw_stream *stream) {
  mw_event *event;
  OK(cuda->event_create(device, true, &event, &err));
  OK(cuda->event_record(event, stream, &err));
  return event;
}

static void not_joined_back(void **state) {
  (void)state;
  mw_buffer *x = alloc(64, MW_SPACE_DEVICE);
  mw_stream *s, *joined;
  mw_graph *g;
  uint32_t zero = 0;
  OK(cuda->stream_create(device, false, 0, &s, &err));
  OK(cuda->stream_create(device, false, 0, &joined, &err));
  for (int wanted = 0; wanted < 2; wanted++) {
    OK(cuda->capture_begin(s, &err));
    mw_event *fork = mark(s);
    OK(cuda->stream_wait(joined, fork, &err));
    OK(cuda->fill(joined, (mw_place){.buffer = x}, &zero, 4, 16, &err));
    if (wanted)
      REJECTED(MW_INVALID, "was not joined back", cuda->capture_end(s, &g, &err));
    else
      OK(cuda->capture_end(s, NULL, &err));
    assert_false(s->capturing || joined->capturing);
    cuda->event_destroy(fork);
  }
  cuda->stream_destroy(s);
  cuda->stream_destroy(joined);
  mw_buffer_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(probes_and_opens), TEST(two_devices), TEST(streams_and_freeing),  TEST(launches),
      TEST(lost_device),      TEST(interrupted), TEST(refused_in_a_capture), TEST(not_joined_back)};
  return RUN(tests);
}
