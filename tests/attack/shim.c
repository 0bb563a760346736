/* Stands between a command and the disk, in tests (LD_PRELOAD): counts the calls by which files below a folder are
 * changed (or read), and at one of them ends the process or lets the call fail.
 *
 * ATTACK_ROOT  the folder
 * ATTACK_KIND  w: calls that change files; r: calls that read them
 * ATTACK_AT    number of the call, from 1; 0 for none
 * ATTACK_DO    0: kill; else the errno that the call fails with
 * ATTACK_FULL  set: so do all later ones but those that make room, as on a disk that is full
 * ATTACK_LOG   a file to which a line is written for each call that changes files: what, and which file; beside it
 *              lies what each rename replaces, under the name that its line ends with
 * ATTACK_COUNT a file that is told the number of calls at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char root[PATH_MAX], log_path[PATH_MAX], kind = 'w';
static long at;
static int what, full, log_fd = -1;
static atomic_long calls;

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("ATTACK_ROOT");
  if (text) strncpy(root, text, sizeof root - 1);
  if ((text = getenv("ATTACK_KIND"))) kind = text[0];
  if ((text = getenv("ATTACK_AT"))) at = atol(text);
  if ((text = getenv("ATTACK_DO"))) what = atoi(text);
  full = getenv("ATTACK_FULL") != NULL;
  if ((text = getenv("ATTACK_LOG"))) {
    strncpy(log_path, text, sizeof log_path - 1);
    log_fd = syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("ATTACK_COUNT");
  if (!path || !root[0]) return;
  char text[32];
  int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
  int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd >= 0) { syscall(SYS_write, fd, text, length); syscall(SYS_close, fd); }
}

static int below(const char *path) {
  size_t length = strlen(root);
  return length && path && strncmp(path, root, length) == 0;
}

static int of_fd(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return below(path);
}

/* Whether the call is to fail. What it was about to do has not been done when the process ends here. */
static int fails(char of, const char *call, const char *path, const char *other) {
  if (of != kind) return 0;
  long now = atomic_fetch_add(&calls, 1) + 1;
  int makes_room = !strcmp(call, "unlink") || !strcmp(call, "rmdir");
  if (now == at || (full && at && now > at && !makes_room)) {
    if (what == 0) { syscall(SYS_kill, getpid(), SIGKILL); for (;;) pause(); }
    errno = what;
    return 1;
  }
  if (log_fd >= 0) {
    char line[3 * PATH_MAX + 32];
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", call, path, other);
    syscall(SYS_write, log_fd, line, length);
  }
  return 0;
}

#define NEXT(name) ({ static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name); next; })

static int opens(const char *path, int flags) {
  if (!below(path)) return 0;
  if (flags & (O_CREAT | O_TRUNC)) return fails('w', "open", path, flags & O_TRUNC ? "truncate" : "");
  return (flags & O_DIRECTORY) ? 0 : fails('r', "open", path, "");
}

#define OPEN(name)                                              \
  int name(const char *path, int flags, ...) {                  \
    va_list rest; va_start(rest, flags);                        \
    mode_t mode = (flags & O_CREAT) ? va_arg(rest, int) : 0;    \
    va_end(rest);                                               \
    if (opens(path, flags)) return -1;                          \
    return NEXT(name)(path, flags, mode);                       \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                            \
  int name(int dir, const char *path, int flags, ...) {         \
    va_list rest; va_start(rest, flags);                        \
    mode_t mode = (flags & O_CREAT) ? va_arg(rest, int) : 0;    \
    va_end(rest);                                               \
    if (opens(path, flags)) return -1;                          \
    return NEXT(name)(dir, path, flags, mode);                  \
  }
OPENAT(openat)
OPENAT(openat64)

#define ON_FD(of, call, fd) \
  char path[PATH_MAX]; if (root[0] && of_fd(fd, path) && fails(of, call, path, "")) return -1;

ssize_t write(int fd, const void *bytes, size_t count) {
  ON_FD('w', "write", fd)
  return NEXT(write)(fd, bytes, count);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  ON_FD('w', "write", fd)
  return NEXT(writev)(fd, parts, count);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t place) {
  ON_FD('w', "write", fd)
  return NEXT(pwrite64)(fd, bytes, count, place);
}
int ftruncate64(int fd, off64_t length) {
  ON_FD('w', "write", fd)
  return NEXT(ftruncate64)(fd, length);
}
int fsync(int fd) {
  ON_FD('w', "sync", fd)
  return NEXT(fsync)(fd);
}
int fdatasync(int fd) {
  ON_FD('w', "sync", fd)
  return NEXT(fdatasync)(fd);
}
ssize_t read(int fd, void *bytes, size_t count) {
  ON_FD('r', "read", fd)
  return NEXT(read)(fd, bytes, count);
}
ssize_t pread64(int fd, void *bytes, size_t count, off64_t place) {
  ON_FD('r', "read", fd)
  return NEXT(pread64)(fd, bytes, count, place);
}
int rename(const char *from, const char *to) {
  static atomic_long renames;
  if (below(to)) {
    char kept[PATH_MAX + 32], both[2 * PATH_MAX + 32];
    snprintf(kept, sizeof kept, "%s.%ld", log_path, atomic_fetch_add(&renames, 1));
    snprintf(both, sizeof both, "%s\t%s", to, kept);
    if (fails('w', "rename", from, both)) return -1;
    if (log_fd >= 0) link(to, kept);
  }
  return NEXT(rename)(from, to);
}
int unlink(const char *path) {
  if (below(path) && fails('w', "unlink", path, "")) return -1;
  return NEXT(unlink)(path);
}
int unlinkat(int dir, const char *path, int flags) {
  char full[PATH_MAX];
  if (root[0] && of_fd(dir, full) && fails('w', "unlink", full, path)) return -1;
  return NEXT(unlinkat)(dir, path, flags);
}
int rmdir(const char *path) {
  if (below(path) && fails('w', "rmdir", path, "")) return -1;
  return NEXT(rmdir)(path);
}
int mkdir(const char *path, mode_t mode) {
  if (below(path) && fails('w', "mkdir", path, "")) return -1;
  return NEXT(mkdir)(path, mode);
}
