/* SPDX-License-Identifier: MIT
 *
 * What one Lua state keeps: the bytes the collector cannot see, and the callbacks that streams have reached. A stream
 * may reach a callback on any thread; the Lua function runs on the script's own, in bind_poll, which every synchronising
 * method calls. The queue is counted, since a stream may outlive the state. */
#include "core/bind/bind.h"

#include <pthread.h>
#include <string.h>

typedef struct pending { /* a callback that a stream has still to reach, then one in the queue */
  bind_queue *queue;
  int function;       /* registry reference */
  order_clock *clock; /* what ended before */
  struct pending *next;
} pending;

struct bind_queue {
  pthread_mutex_t lock;
  pending *first, **end; /* in the order the streams reached them */
  atomic_int holders;
};

static const char host_key = 'h';

static void queue_drop(bind_queue *queue) {
  if (atomic_fetch_sub(&queue->holders, 1) != 1) return;
  pthread_mutex_destroy(&queue->lock);
  for (pending *next, *event = queue->first; event; event = next) {
    next = event->next;
    mw_free(event->clock);
    mw_free(event);
  }
  mw_free(queue);
}

/* The debug library lets a script call it with anything. */
static int host_collect(lua_State *L) {
  bind_host *host = bind_host_of(L);
  if (host == lua_touserdata(L, 1) && host->queue) {
    queue_drop(host->queue);
    host->queue = NULL;
  }
  return 0;
}

static bind_host *host_create(lua_State *L) {
  bind_host *host = lua_newuserdatauv(L, sizeof *host, 0);
  memset(host, 0, sizeof *host);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, host_collect);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  host->queue = mw_calloc(1, sizeof *host->queue);
  atomic_init(&host->queue->holders, 1);
  host->queue->end = &host->queue->first;
  pthread_mutex_init(&host->queue->lock, NULL);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &host_key);
  return host;
}

bind_host *bind_host_of(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &host_key);
  bind_host *host = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return host ? host : host_create(L);
}

static void fire(void *data) {
  pending *event = data;
  bind_queue *queue = event->queue;
  pthread_mutex_lock(&queue->lock);
  *queue->end = event;
  queue->end = &event->next;
  pthread_mutex_unlock(&queue->lock);
  queue_drop(queue);
}

mw_status bind_callback(lua_State *L, mw_stream *stream, int function_index) {
  bind_queue *queue = bind_host_of(L)->queue;
  if (!queue) bind_fail(L, MW_INVALID, "callback: the Lua state is being closed, nothing would call it");
  lua_pushvalue(L, function_index);
  const int function = luaL_ref(L, LUA_REGISTRYINDEX);
  pending *event = mw_malloc(sizeof *event);
  *event = (pending){queue, function, NULL, NULL};
  order_record(stream, &event->clock);
  atomic_fetch_add(&queue->holders, 1);
  mw_status status = stream->device->backend->stream_callback(stream, (mw_callback){fire, event}, &bind_error);
  if (status == MW_OK) return status;
  luaL_unref(L, LUA_REGISTRYINDEX, event->function);
  mw_free(event->clock);
  mw_free(event);
  queue_drop(queue);
  return status;
}

static pending *take(bind_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  pending *event = queue->first;
  if (event) queue->first = event->next;
  if (!queue->first) queue->end = &queue->first;
  pthread_mutex_unlock(&queue->lock);
  return event;
}

int bind_poll(lua_State *L) {
  const bind_host *host = bind_host_of(L);
  int ran = 0;
  for (pending *event; host->queue && (event = take(host->queue)); ran++) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, event->function);
    luaL_unref(L, LUA_REGISTRYINDEX, event->function);
    order_reached(event->clock);
    mw_free(event->clock);
    mw_free(event);
    lua_call(L, 0, 0);
  }
  return ran;
}
