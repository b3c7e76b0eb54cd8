#pragma once
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

/// Has the cache line of an address fetched, while the caller goes on with something else.
static inline void hpeer_prefetch(const void *address) { __builtin_prefetch(address, 1); }

/// What `level_buf` of a stream at level 1 should have, in bytes: a macro that Swift cannot read.
enum { hpeer_deflate_buffer_size = ISAL_DEF_LVL1_DEFAULT };
