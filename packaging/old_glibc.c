// What g++ 12's static libraries ask of glibc and version 2.28 does not have. Linked into the
// package's binaries alone, which run with any glibc from 2.28 on; hidden, so that it serves no one
// else.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#pragma GCC visibility push(hidden)

// glibc 2.32 sets it while there is one thread, for which libstdc++ then counts references without
// atomics. Never: always right.
char __libc_single_threaded = 0;

// glibc 2.36; std::random_device asks for it.
unsigned arc4random(void) {
  unsigned value;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
    if (errno != EINTR) abort();
  }
  return value;
}

static long long nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// glibc 2.30; std::condition_variable::wait_for asks for it. The condition's own clock is the
// wall's: when that was moved meanwhile, the wait is repeated for what remains on the wanted clock.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  const long long end = until->tv_sec * 1000000000LL + until->tv_nsec;
  for (;;) {
    const long long remains = end - nanoseconds(clock);
    const long long wall = nanoseconds(CLOCK_REALTIME) + (remains > 0 ? remains : 0);
    const struct timespec deadline = {wall / 1000000000LL, wall % 1000000000LL};
    const int result = pthread_cond_timedwait(condition, mutex, &deadline);
    if (result != ETIMEDOUT || nanoseconds(clock) >= end) return result;
  }
}
