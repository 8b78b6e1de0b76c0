/* SPDX-License-Identifier: MIT
 *
 * The list of what is refused; see refusals.h. */
#include "core/compile/refusals.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/source/declaration.h"

enum { HEAD = 2 }; /* status and what it is, as characters */

static const char *text_next(const mw_refusals *all, size_t *at) {
  const char *text = all->at + *at;
  const char *end = *at < all->size ? memchr(text, 0, all->size - *at) : NULL;
  if (!end) return NULL;
  *at += (size_t)(end - text) + 1;
  return text;
}

bool mw_refusals_next(const mw_refusals *all, size_t *at, mw_refusal *out) {
  if (!all->at || *at + HEAD > all->size) return false;
  out->status = (mw_status)(all->at[*at] - '0');
  out->what = (mw_refused)all->at[*at + 1];
  *at += HEAD;
  out->name = text_next(all, at);
  out->text = text_next(all, at);
  out->log = text_next(all, at);
  return out->log != NULL;
}

static bool find(const mw_refusals *all, const mw_token *name, mw_refusal *out) {
  for (size_t at = 0; mw_refusals_next(all, &at, out);)
    if (mw_token_is(name, out->name)) return true;
  return false;
}

void mw_refusals_add(mw_refusals *all, const mw_refusal *one) {
  mw_refusal there;
  const mw_token name = mw_bare_name(one->name);
  if (find(all, &name, &there)) return;
  mw_text text = {0};
  if (all->at) mw_text_add(&text, all->at, all->size);
  mw_text_format(&text, "%c%c", '0' + (int)one->status, (int)one->what);
  mw_text_add(&text, one->name, strlen(one->name) + 1);
  mw_text_add(&text, one->text, strlen(one->text) + 1);
  mw_text_add(&text, one->log, strlen(one->log) + 1);
  mw_free(all->at);
  *all = (mw_refusals){text.at, text.size};
}

bool mw_refusals_copy(mw_refusals *all, const char *bytes, size_t size) {
  *all = (mw_refusals){size ? mw_malloc(size) : NULL, size};
  if (size) memcpy(all->at, bytes, size);
  mw_refusal one;
  size_t at = 0;
  while (mw_refusals_next(all, &at, &one)) {
  }
  return at == size;
}

void mw_refusals_free(mw_refusals *all) {
  mw_free(all->at);
  *all = (mw_refusals){0};
}

mw_status mw_refusals_check(const mw_refusals *all, const char *name, mw_error *error) {
  mw_refusal one;
  const mw_token bare = mw_bare_name(name);
  if (!find(all, &bare, &one)) return MW_OK;
  mw_error_log(error, *one.log ? mw_strdup(one.log) : NULL);
  return mw_fail(error, one.status, "%s", one.text);
}

size_t mw_refusals_count(const mw_refusals *all) {
  mw_refusal one;
  size_t count = 0;
  for (size_t at = 0; mw_refusals_next(all, &at, &one);) count++;
  return count;
}
