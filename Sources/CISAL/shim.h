#pragma once
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

/// Has the cache line of an address fetched, while the caller goes on with something else.
static inline void hpeer_prefetch(const void *address) { __builtin_prefetch(address, 1); }
