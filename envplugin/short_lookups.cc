// SPDX-License-Identifier: Apache-2.0
#include "envplugin/short_lookups.h"

#include <netinet/in.h>
#include <resolv.h>

namespace nccl_tune::envplugin {

ShortLookups::ShortLookups() {
  // Before the thread's first look-up its options are not read yet.
  if ((_res.options & RES_INIT) == 0 && res_init() != 0) return;
  changed_ = true;
  retrans_ = _res.retrans;
  retry_ = _res.retry;
  _res.retrans = 1;
  _res.retry = 1;
}

ShortLookups::~ShortLookups() {
  if (!changed_) return;
  _res.retrans = retrans_;
  _res.retry = retry_;
}

}  // namespace nccl_tune::envplugin
