#pragma once
// System calls that Swift cannot import, because their C declarations take any number of arguments or need _GNU_SOURCE.
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

extern long syscall(long number, ...);

/// prctl(PR_SET_DUMPABLE, 0): no core dump, no ptrace(2) and no /proc/PID/mem for others of the same user.
static inline int linux_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// Whether users or groups of their own have rights to a file (acl(5)), so that the mode's bits of the group are the most
/// that any of them has.
static inline int linux_has_access_control_list(const char *path) {
  return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

/// mallopt(3): blocks of 256 KiB and more go back to the system when they are freed, and two heaps are enough.
static inline void linux_return_large_blocks(void) {
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
  mallopt(M_ARENA_MAX, 2);
}

/// renameat2(2) with RENAME_EXCHANGE: both names exist at every instant, also across a crash.
static inline int linux_exchange(const char *first, const char *second) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, 2u);
}

/// syncfs(2).
static inline int linux_synchronise_file_system(int descriptor) { return (int)syscall(SYS_syncfs, descriptor); }
