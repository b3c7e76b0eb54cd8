#pragma once
// System calls that Swift cannot import, because their C declarations take any number of arguments or need _GNU_SOURCE.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stddef.h>
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

/// close_range(2) from `first` on; -1 where the kernel lacks it.
static inline int linux_close_from(unsigned first) { return (int)syscall(SYS_close_range, first, ~0u, 0u); }

/// prctl(PR_SET_PDEATHSIG): this process is killed when the thread that started it ends.
static inline int linux_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, 9 /* SIGKILL */, 0, 0, 0); }

/// unshare(2): no network but an empty one, which takes a user namespace of one's own where one is not root. Refused for a
/// process of several threads, and where the system forbids it.
static inline int linux_leave_network(void) {
  if (syscall(SYS_unshare, CLONE_NEWNET) == 0) return 0;
  return (int)syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNET);
}

#if defined(__x86_64__)
#define LINUX_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define LINUX_AUDIT_ARCH AUDIT_ARCH_AARCH64
#endif

/// seccomp(2): from now on every call to the kernel fails but those to compute, to read and write what is open, and to end.
static inline int linux_allow_only_computing(void) {
#ifdef LINUX_AUDIT_ARCH
#define LINUX_ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LINUX_AUDIT_ARCH, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      LINUX_ALLOW(read), LINUX_ALLOW(write), LINUX_ALLOW(close), LINUX_ALLOW(lseek),
      LINUX_ALLOW(mmap), LINUX_ALLOW(munmap), LINUX_ALLOW(mremap), LINUX_ALLOW(mprotect),
      LINUX_ALLOW(brk), LINUX_ALLOW(madvise), LINUX_ALLOW(futex), LINUX_ALLOW(rt_sigaction),
      LINUX_ALLOW(rt_sigprocmask), LINUX_ALLOW(rt_sigreturn), LINUX_ALLOW(clock_gettime), LINUX_ALLOW(getrandom),
      LINUX_ALLOW(sched_yield), LINUX_ALLOW(exit), LINUX_ALLOW(exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
  };
#undef LINUX_ALLOW
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
#else
  return -1;
#endif
}
