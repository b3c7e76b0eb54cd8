// Ends or stops a process, or fills its disk, at a chosen one of its writes. Loaded with LD_PRELOAD; FaultyWrites.swift says
// what the variables mean.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum mode { NONE, BEFORE, AFTER, TORN, FULL, HOLD };

static const char *root, *condition;
static size_t root_length;
static bool on_sockets, on_commits;
// The thread has begun the frame at whose end it dies or stops: its page comes next.
static __thread bool ends_frame;
static enum mode mode;
static long target, calls;
static int log_fd = -1;

__attribute__((constructor)) static void prepare(void) {
  const char *text;
  if ((root = getenv("FAULT_ROOT"))) root_length = strlen(root);
  condition = getenv("FAULT_WHILE");
  on_sockets = getenv("FAULT_SOCKETS") != NULL;
  on_commits = getenv("FAULT_COMMITS") != NULL;
  if ((text = getenv("FAULT_AT"))) target = atol(text);
  if ((text = getenv("FAULT_MODE")))
    mode = !strcmp(text, "before") ? BEFORE : !strcmp(text, "after") ? AFTER : !strcmp(text, "torn") ? TORN
           : !strcmp(text, "hold") ? HOLD : FULL;
  if ((text = getenv("FAULT_LOG"))) log_fd = open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static bool is_under_root(const char *path) {
  return root && !strncmp(path, root, root_length) && path[root_length] == '/';
}

static bool is_ours(int fd, char path[PATH_MAX]) {
  if (fd == log_fd) return false;
  if (on_sockets) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    strcpy(path, "socket");
    return !getsockname(fd, (struct sockaddr *)&address, &length) &&
           (address.ss_family == AF_INET || address.ss_family == AF_INET6);
  }
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return false;
  path[length] = 0;
  return is_under_root(path);
}

// Until it is sent SIGCONT. To this thread, so that it does not go on before the process has stopped.
static void hold(void) { raise(SIGSTOP); }

__attribute__((noreturn)) static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// The header of a frame that ends a transaction in SQLite's write-ahead log: bytes 4 to 7 are not zero.
static bool is_commit(const char *path, const void *bytes, size_t length) {
  size_t end = strlen(path);
  if (end < 4 || strcmp(path + end - 4, "-wal") || length != 24 || !bytes) return false;
  const unsigned char *b = bytes;
  return b[4] | b[5] | b[6] | b[7];
}

// Counts a call and returns what is to happen to it.
static enum mode next(const char *name, const char *path, const void *bytes, size_t length) {
  if (condition && access(condition, F_OK)) return NONE;
  if (ends_frame) {
    ends_frame = false;
    return mode;
  }
  if (on_commits && !is_commit(path, bytes, length)) return NONE;
  long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (log_fd >= 0) {
    const char *file = strrchr(path, '/');
    char line[256];
    int size = snprintf(line, sizeof line, "%ld %s %.100s %zu %d\n", number, name, file ? file + 1 : path, length,
                        is_commit(path, bytes, length));
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    real(log_fd, line, size);
  }
  if (!target) return NONE;
  if (mode == FULL) return number >= target ? FULL : NONE;
  if (mode == HOLD ? number < target : number != target) return NONE;
  if (mode == BEFORE) die();
  if (on_commits && (mode == AFTER || mode == HOLD)) {
    ends_frame = true;
    return NONE;
  }
  return mode;
}

#define REAL(name) typeof(name) *real = (typeof(name) *)dlsym(RTLD_NEXT, #name)

// A write of bytes: TORN leaves the first half of them behind.
#define WRITING(name, bytes, length, whole, half)                                                                      \
  char path[PATH_MAX];                                                                                                 \
  if (!is_ours(fd, path)) return whole;                                                                                \
  switch (next(name, path, bytes, length)) {                                                                           \
    case FULL: errno = ENOSPC; return -1;                                                                              \
    case AFTER: (void)!whole; die();                                                                                   \
    case TORN: (void)!half; die();                                                                                     \
    case HOLD: {                                                                                                       \
      ssize_t result = whole;                                                                                          \
      hold();                                                                                                          \
      return result;                                                                                                   \
    }                                                                                                                  \
    default: return whole;                                                                                             \
  }

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(write);
  WRITING("write", bytes, length, real(fd, bytes, length), real(fd, bytes, length / 2))
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  REAL(pwrite);
  WRITING("pwrite", bytes, length, real(fd, bytes, length, offset), real(fd, bytes, length / 2, offset))
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  REAL(pwrite64);
  WRITING("pwrite", bytes, length, real(fd, bytes, length, offset), real(fd, bytes, length / 2, offset))
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  WRITING("writev", NULL, count, real(fd, parts, count), real(fd, parts, 1))
}

// Calls that happen or do not. They go on working when the disk is full.
#define STEP(name, path, call)                                                                                         \
  switch (next(name, path, NULL, 0)) {                                                                                 \
    case AFTER: case TORN: (void)!call; die();                                                                         \
    case HOLD: {                                                                                                       \
      int result = call;                                                                                               \
      hold();                                                                                                          \
      return result;                                                                                                   \
    }                                                                                                                  \
    default: return call;                                                                                              \
  }

#define ON_DESCRIPTOR(name, call)                                                                                      \
  char path[PATH_MAX];                                                                                                 \
  if (on_sockets || !is_ours(fd, path)) return call;                                                                   \
  STEP(name, path, call)

int fsync(int fd) { REAL(fsync); ON_DESCRIPTOR("fsync", real(fd)) }
int fdatasync(int fd) { REAL(fdatasync); ON_DESCRIPTOR("fdatasync", real(fd)) }
int ftruncate(int fd, off_t length) { REAL(ftruncate); ON_DESCRIPTOR("ftruncate", real(fd, length)) }
int ftruncate64(int fd, off64_t length) { REAL(ftruncate64); ON_DESCRIPTOR("ftruncate", real(fd, length)) }

#define ON_PATH(name, path, call)                                                                                      \
  if (on_sockets || !is_under_root(path)) return call;                                                                 \
  STEP(name, path, call)

int unlink(const char *path) { REAL(unlink); ON_PATH("unlink", path, real(path)) }
int rename(const char *from, const char *to) { REAL(rename); ON_PATH("rename", to, real(from, to)) }

// A directory entry needs room, too.
int mkdir(const char *path, mode_t bits) {
  REAL(mkdir);
  if (on_sockets || !is_under_root(path)) return real(path, bits);
  switch (next("mkdir", path, NULL, 0)) {
    case FULL: errno = ENOSPC; return -1;
    case AFTER: case TORN: (void)!real(path, bits); die();
    default: return real(path, bits);
  }
}

// SQLite waits for a lock by sleeping a number of times; a hundredth of the time is enough for a test.
static bool is_hurried(void) { return getenv("FAULT_HURRY") != NULL; }

int usleep(useconds_t microseconds) {
  REAL(usleep);
  return real(is_hurried() ? microseconds / 100 : microseconds);
}

int nanosleep(const struct timespec *time, struct timespec *left) {
  REAL(nanosleep);
  if (!is_hurried()) return real(time, left);
  struct timespec shorter = {.tv_sec = 0, .tv_nsec = time->tv_sec * 10000000 + time->tv_nsec / 100};
  return real(&shorter, left);
}
