// hiccup: the machine's own floor for send-time accuracy. A spinning thread that does nothing but
// read the clock; prints how late it would have been on a grid of <rate> per second, and how much
// time was stolen from it (gaps above 20 us between two readings). No generator on this machine can
// be more punctual than this, so the numbers are quoted beside every open-loop result.
//
//   cc -O2 -o hiccup hiccup.c && taskset -c 0 ./hiccup 10000 5
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GAP_NS = 20000 };

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  double rate = argc > 1 ? atof(argv[1]) : 10000, secs = argc > 2 ? atof(argv[2]) : 5;
  size_t n = rate * secs, k = 0;
  if (!n) return 2;
  uint64_t *late = malloc(n * sizeof *late);
  if (!late) return 3;
  uint64_t start = now_ns(), previous = start, stolen = 0, gaps = 0;
  double step = 1e9 / rate;
  while (k < n) {
    uint64_t t = now_ns();
    if (t - previous > GAP_NS) { stolen += t - previous; gaps++; }
    previous = t;
    while (k < n) { // after a gap several instants are due at once: each is late by its own amount
      uint64_t due = start + (uint64_t)(k * step);
      if (t < due) break;
      late[k++] = t - due;
    }
  }
  qsort(late, n, sizeof *late, ascending);
  printf("{\"stolen_pct\":%.2f,\"gaps_over_20us\":%lu,\"late_us\":{\"p50\":%.2f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.0f}}\n",
         stolen / (secs * 1e7), (unsigned long)gaps, late[n / 2] / 1e3, late[n * 99 / 100] / 1e3,
         late[(size_t)(n * 0.999)] / 1e3, late[n - 1] / 1e3);
  free(late);
  return 0;
}
