// rawserver: a deliberately minimal HTTP/1.1 target for load-generator benchmarks. One thread, epoll
// edge-triggered, no allocation per request, answers picked by the first byte of the path: it should
// never be what limits the generator. Loopback only. (For behaviour that is commanded and proved,
// there is testbed/ruler; this one is only fast.)
//
//   cc -O2 -o rawserver rawserver.c
//   taskset -c 1 ./rawserver [-p port] [-b bigbytes] [-t tsfile] [-e sse_seconds] [-m hold|grpc]
//
//   Prints one line, `listening on 127.0.0.1:PORT` (-p 0, the default: a free port), and ends
//   when its parent does.
//
//   GET /        200, 76-byte body                      (the small-answer target)
//   GET /b...    200, bigbytes body (683481), sendfile  (the large-answer target)
//   GET /s...    200, text/event-stream, chunked: headers, then one 9-byte event now
//                and every sse_seconds; the connection stays open
//   GET /d<ms>   200, small body after <ms> milliseconds (one-millisecond grid)
//   GET /c...    200, 76-byte body in Transfer-Encoding: chunked
//   GET /x       counters as text (requests, accepted, open)
//   POST, PUT, PATCH: the same by path, after a body by Content-Length (head and body: 4 KiB together)
//
// A connection that begins with the preface of HTTP/2 speaks HTTP/2, with prior knowledge. Each of its requests gets the
// same response, whatever its headers, which are not read: 200 and 76 bytes. -m hold: the response never ends.
// -m grpc: a message of 32 bytes and grpc-status 0. The responses to all requests of one read share a write, as with
// nghttpd and Node. The windows of the client must be large.
//
// With -t:  SIGUSR1 writes the arrival time (CLOCK_MONOTONIC, ns, u64 little endian) of every request
//           since the last time to tsfile (atomic rename), then forgets them. SIGUSR2 forgets them.
// SIGTERM, SIGINT: leave.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAXFD = 200000, HEAD_MAX = 4096, STAMPS_MAX = 1 << 25, TICK_MS = 50 };

struct conn {
  uint8_t open, sse;
  uint32_t have;    // bytes of an unfinished request head, kept in keep
  char *keep;
  int64_t big_off;  // progress of a large answer; -1: none in flight
  uint64_t due;     // delayed answer: absolute ms; 0: none
  struct h2 *h2;    // a connection of HTTP/2
};

static struct conn *C;
static int ep, *delayed, n_delayed; // fds waiting for a delayed answer
static int big_fd;
static int64_t big_total;
static const char *stamps_file;
static uint64_t *stamps;
static size_t n_stamps;
static char small[512], chunked[512], sse_head[512];
enum { SMALL_BODY = 76 };
static size_t small_n, chunked_n, sse_head_n;
static const char EVENT[] = "9\r\ndata: x\n\n\r\n";
static uint64_t accepted, served;
static int64_t n_open;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void shut(int fd) {
  struct conn *c = &C[fd];
  if (!c->open) return;
  free(c->keep);
  free(c->h2);
  memset(c, 0, sizeof *c);
  n_open--;
  close(fd);
}

static void push_big(int fd) {
  struct conn *c = &C[fd];
  while (c->big_off >= 0 && c->big_off < big_total) {
    off_t at = c->big_off;
    ssize_t w = sendfile(fd, big_fd, &at, big_total - c->big_off);
    if (w < 0) { if (errno != EAGAIN) shut(fd); return; } // EAGAIN: EPOLLOUT goes on
    c->big_off += w;
  }
  c->big_off = -1;
}

// Answers one request; 0 when the connection is gone.
static int answer(int fd, const char *request, size_t n) {
  struct conn *c = &C[fd];
  const char *path = memchr(request, ' ', n); // "GET /k"
  char kind = path && path + 2 < request + n ? path[2] : ' ';
  const char *bytes = small;
  size_t len = small_n;
  char out[256], text[128];
  if (stamps_file && n_stamps < STAMPS_MAX) stamps[n_stamps++] = now_ns();
  served++;
  switch (kind) {
    case 'b': c->big_off = 0; push_big(fd); return C[fd].open;
    case 's': c->sse = 1; bytes = sse_head; len = sse_head_n; break;
    case 'c': bytes = chunked; len = chunked_n; break;
    case 'd': c->due = now_ns() / 1000000 + strtoul(path + 3, 0, 10); delayed[n_delayed++] = fd; return 1;
    case 'x': {
      int k = snprintf(text, sizeof text, "served %lu accepted %lu open %ld\n", (unsigned long)served,
                       (unsigned long)accepted, (long)n_open);
      len = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", k, text);
      bytes = out;
      break;
    }
  }
  // A generator that does not read its answers is cut off: buffering for it would measure us.
  if (send(fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len) { shut(fd); return 0; }
  return 1;
}

// Length of the body that follows a head. Only methods in P (POST, PUT, PATCH) are looked at, so that a GET pays nothing.
static size_t body_length(const char *head, size_t n) {
  static const char NAME[] = "\r\ncontent-length:";
  const char *end = head + n - sizeof NAME, *p = *head == 'P' ? head : end;
  for (; p < end && (p = memmem(p, end - p, "\r\n", 2)); p += 2)
    if (!strncasecmp(p, NAME, sizeof NAME - 1)) return strtoul(p + sizeof NAME - 1, 0, 10);
  return 0;
}

// HTTP/2. Frames are cut out of the bytes as they come; only those that are answered themselves are kept.
enum { DATA = 0, HEADERS = 1, SETTINGS = 4, PING = 6, WINDOW_UPDATE = 8 };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, FRAME_MAX = 9 + 256, OUT_MAX = 1 << 18, BLOCK_MAX = 160 };
static const char PREFACE[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
static const char *h2_mode = "";
static char first_block[BLOCK_MAX], later_block[8];
static size_t first_block_n, later_block_n;

struct h2 {
  uint8_t has_table;       // its first response has filled the client's table
  uint32_t skip, have;     // bytes of a frame that nobody reads; bytes of one that is kept
  uint32_t unacknowledged; // bytes of request bodies
  int64_t window;          // what the client lets us send
  size_t n, at;            // bytes in out, and how many of them were sent
  char frame[FRAME_MAX], out[OUT_MAX];
};

static void put_frame(struct h2 *h, int kind, int flags, uint32_t id, const void *payload, size_t n) {
  char head[9] = {n >> 16, n >> 8, n, kind, flags, id >> 24, id >> 16, id >> 8, id};
  memcpy(h->out + h->n, head, 9);
  memcpy(h->out + h->n + 9, payload, n);
  h->n += 9 + n;
}

// Sends what there is. 0 when the connection is gone; what the kernel does not take waits for EPOLLOUT.
static int push_h2(int fd) {
  struct h2 *h = C[fd].h2;
  while (h->at < h->n) {
    ssize_t w = send(fd, h->out + h->at, h->n - h->at, MSG_NOSIGNAL);
    if (w < 0 && errno == EAGAIN) return 1;
    if (w < 0) { shut(fd); return 0; }
    h->at += w;
  }
  h->at = h->n = 0;
  return 1;
}

// Answers one request; 0 when the connection is gone.
static int answer_h2(int fd, uint32_t id) {
  static const char MESSAGE[] = "\0\0\0\0\x20\x72\x1e" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; // field 14, a string of 30
  static const char TRAILERS[] = "\x00\x0bgrpc-status\x01" "0";
  struct h2 *h = C[fd].h2;
  int holds = *h2_mode == 'h', grpc = *h2_mode == 'g';
  const char *body = grpc ? MESSAGE : small + small_n - SMALL_BODY;
  size_t n = grpc ? sizeof MESSAGE - 1 : SMALL_BODY;
  if (stamps_file && n_stamps < STAMPS_MAX) stamps[n_stamps++] = now_ns();
  served++;
  if (h->n + 512 > OUT_MAX && (!push_h2(fd) || h->n)) { // a client that does not read is cut off
    if (C[fd].open) shut(fd);
    return 0;
  }
  if (h->has_table) put_frame(h, HEADERS, END_HEADERS, id, later_block, later_block_n);
  else put_frame(h, HEADERS, END_HEADERS, id, first_block, first_block_n);
  h->has_table = 1;
  if (holds) return 1;
  h->window -= n;
  if (h->window < 0) {
    fprintf(stderr, "the client's window is used up: this target does not wait for one\n");
    shut(fd);
    return 0;
  }
  put_frame(h, DATA, grpc ? 0 : END_STREAM, id, body, n);
  if (grpc) put_frame(h, HEADERS, END_HEADERS | END_STREAM, id, TRAILERS, sizeof TRAILERS - 1);
  return 1;
}

static uint32_t number(const char *at) {
  const unsigned char *b = (const unsigned char *)at;
  return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

// Takes a frame of which at least the head is there. Returns the bytes of it that are used up, 0 to wait for the rest of
// it, -1 when the connection is gone.
static int take_frame(int fd, const char *at, size_t n) {
  struct h2 *h = C[fd].h2;
  uint32_t len = number(at) >> 8, id = number(at + 5) & 0x7fffffff;
  int kind = at[3], flags = at[4];
  if (kind == SETTINGS || kind == PING || kind == WINDOW_UPDATE) {
    if (len > FRAME_MAX - 9) { shut(fd); return -1; }
    if (n < 9 + len) return 0;
    if (h->n + 512 > OUT_MAX) { shut(fd); return -1; }
    if (kind == PING && !(flags & ACK)) put_frame(h, PING, ACK, 0, at + 9, len);
    if (kind == SETTINGS && !(flags & ACK)) put_frame(h, SETTINGS, ACK, 0, "", 0);
    if (kind == WINDOW_UPDATE && !id && len == 4) h->window += number(at + 9) & 0x7fffffff;
    return 9 + len;
  }
  h->skip = len;
  if (kind == DATA && (h->unacknowledged += len) >= 1 << 14) {
    char more[4] = {h->unacknowledged >> 24, h->unacknowledged >> 16, h->unacknowledged >> 8, h->unacknowledged};
    h->unacknowledged = 0;
    if (h->n + 512 <= OUT_MAX) put_frame(h, WINDOW_UPDATE, 0, 0, more, 4);
  }
  if ((kind == HEADERS || kind == DATA) && (flags & END_STREAM) && !answer_h2(fd, id)) return -1;
  return 9;
}

// 0 when the connection is gone.
static int feed_h2(int fd, const char *at, size_t n) {
  struct h2 *h = C[fd].h2;
  while (n) {
    if (h->skip) {
      size_t part = n < h->skip ? n : h->skip;
      h->skip -= part, at += part, n -= part;
      continue;
    }
    if (!h->have && n >= 9) { // in the common case whole frames
      int used = take_frame(fd, at, n);
      if (used < 0) return 0;
      at += used, n -= used;
      if (used) continue;
    }
    // The beginning of a frame: a byte more each time, until it is one that can be taken.
    h->frame[h->have++] = *at++, n--;
    if (h->have < 9) continue;
    int used = take_frame(fd, h->frame, h->have);
    if (used < 0) return 0;
    if (used) h->have = 0;
  }
  return push_h2(fd);
}

static int begin_h2(int fd) {
  static const char MANY[] = "\0\3\0\0\x27\x10"; // SETTINGS_MAX_CONCURRENT_STREAMS 10,000
  struct h2 *h = C[fd].h2 = malloc(sizeof *h); // untouched pages of out cost nothing
  if (!h) { shut(fd); return 0; }
  memset(h, 0, offsetof(struct h2, frame));
  h->window = 65535;
  put_frame(h, SETTINGS, 0, 0, MANY, 6);
  return 1;
}

static void readable(int fd) {
  static char buf[65536];
  struct conn *c = &C[fd];
  for (;;) {
    if (c->h2) {
      ssize_t r = recv(fd, buf, sizeof buf, 0);
      if (r < 0 && errno == EAGAIN) return;
      if (r <= 0) { shut(fd); return; }
      if (!feed_h2(fd, buf, r) || (size_t)r < sizeof buf) return;
      continue;
    }
    size_t have = c->have;
    if (have) memcpy(buf, c->keep, have);
    ssize_t r = recv(fd, buf + have, sizeof buf - have, 0);
    if (r == 0) { shut(fd); return; }
    if (r < 0) { if (errno != EAGAIN) shut(fd); return; }
    size_t n = have + r, at = 0;
    c->have = 0;
    if (n >= sizeof PREFACE - 1 && !memcmp(buf, PREFACE, sizeof PREFACE - 1)) {
      at = sizeof PREFACE - 1;
      if (!begin_h2(fd) || !feed_h2(fd, buf + at, n - at)) return;
      continue;
    }
    while (at < n) { // in the common case exactly one request
      char *end = memmem(buf + at, n - at, "\r\n\r\n", 4);
      if (!end) break;
      size_t len = end + 4 - (buf + at);
      len += body_length(buf + at, len);
      if (len > n - at) break; // the rest of the body comes with a later edge
      if (!answer(fd, buf + at, len)) return;
      at += len;
    }
    if (at < n) {
      if (n - at > HEAD_MAX) { shut(fd); return; }
      if (!c->keep) c->keep = malloc(HEAD_MAX);
      if (!c->keep) { shut(fd); return; }
      memcpy(c->keep, buf + at, n - at);
      c->have = n - at;
    }
    if ((size_t)r < sizeof buf - have) return; // a short read drained it; the edge will come again
  }
}

static void dump_stamps(void) {
  char part[512];
  snprintf(part, sizeof part, "%s.part", stamps_file);
  int fd = open(part, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  size_t n = n_stamps * 8, at = 0;
  while (at < n) {
    ssize_t w = write(fd, (char *)stamps + at, n - at);
    if (w <= 0) break;
    at += w;
  }
  close(fd);
  rename(part, stamps_file);
  n_stamps = 0;
}

static void accept_all(int listener) {
  int fd, one = 1;
  while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
    if (fd >= MAXFD) { close(fd); continue; }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    memset(&C[fd], 0, sizeof C[fd]);
    C[fd].open = 1;
    C[fd].big_off = -1;
    accepted++;
    n_open++;
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP, .data.fd = fd};
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
  }
}

// Events are spread over their period: each tick serves one slice of the fds.
static void tick(int timer, int slices) {
  static int slice;
  uint64_t ticks;
  if (read(timer, &ticks, sizeof ticks) < 0) return;
  for (uint64_t q = 0; q < ticks && q < 4; q++) {
    for (int fd = slice; fd < MAXFD; fd += slices)
      if (C[fd].open && C[fd].sse && send(fd, EVENT, sizeof EVENT - 1, MSG_NOSIGNAL) < 0) shut(fd);
    slice = (slice + 1) % slices;
  }
}

static void answer_delayed(void) {
  uint64_t ms = now_ns() / 1000000;
  int kept = 0;
  for (int i = 0; i < n_delayed; i++) {
    int fd = delayed[i];
    if (!C[fd].open || !C[fd].due) continue;
    if (C[fd].due > ms) { delayed[kept++] = fd; continue; }
    C[fd].due = 0;
    if (send(fd, small, small_n, MSG_NOSIGNAL) < 0) shut(fd);
  }
  n_delayed = kept;
}

// The header blocks of HTTP/2: the first one of a connection inserts its fields into the client's table, so that the later
// ones are a byte for each.
static void prepare_h2(void) {
  static const struct { int index; const char *value; } FIELDS[] = {
      {31, "application/json"}, {54, "raw"}, {33, "Sat, 21 Nov 2026 00:00:00 GMT"}, {28, "76"}};
  int grpc = *h2_mode == 'g', count = grpc ? 3 : 4;
  first_block[first_block_n++] = later_block[later_block_n++] = (char)0x88; // :status 200
  for (int i = 0; i < count; i++) {
    const char *value = grpc && !i ? "application/grpc" : FIELDS[i].value;
    size_t n = strlen(value);
    first_block[first_block_n++] = (char)(0x40 | FIELDS[i].index);
    first_block[first_block_n++] = (char)n;
    memcpy(first_block + first_block_n, value, n);
    first_block_n += n;
    later_block[later_block_n++] = (char)(0x80 | (62 + count - 1 - i));
  }
}

// Prepares every answer once. Returns 0 when the memory file cannot be written.
static int prepare(void) {
  const char *body = "{\"id\":12345,\"name\":\"benchmark\",\"ok\":true,\"pad\":\"aaaaaaaaaaaaaaaaaaaaaaaaaa\"}";
  const char *head = "HTTP/1.1 200 OK\r\nServer: raw\r\nDate: Sat, 21 Nov 2026 00:00:00 GMT\r\n"
                     "Content-Type: %s\r\nConnection: keep-alive\r\n%s\r\n";
  const char *chunks = "Transfer-Encoding: chunked\r\n";
  char length[64], big_head[512], block[4096];
  size_t n = strlen(body);
  snprintf(length, sizeof length, "Content-Length: %zu\r\n", n);
  small_n = snprintf(small, sizeof small, head, "application/json", length);
  memcpy(small + small_n, body, n);
  small_n += n;
  chunked_n = snprintf(chunked, sizeof chunked, head, "application/json", chunks);
  chunked_n += snprintf(chunked + chunked_n, sizeof chunked - chunked_n, "%zx\r\n%s\r\n0\r\n\r\n", n, body);
  sse_head_n = snprintf(sse_head, sizeof sse_head, head, "text/event-stream", chunks);
  memcpy(sse_head + sse_head_n, EVENT, sizeof EVENT - 1);
  sse_head_n += sizeof EVENT - 1;
  snprintf(length, sizeof length, "Content-Length: %ld\r\n", (long)big_total);
  int k = snprintf(big_head, sizeof big_head, head, "application/octet-stream", length);
  big_fd = memfd_create("big", 0);
  if (big_fd < 0 || write(big_fd, big_head, k) != k) return 0;
  for (int i = 0; i < (int)sizeof block; i++) block[i] = 'a' + i % 26;
  for (int64_t left = big_total; left > 0;) {
    size_t part = left < (int64_t)sizeof block ? (size_t)left : sizeof block;
    if (write(big_fd, block, part) != (ssize_t)part) return 0;
    left -= part;
  }
  big_total += k;
  return 1;
}

static int listen_on(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof a;
  if (bind(fd, (void *)&a, sizeof a) || listen(fd, 16384) || getsockname(fd, (void *)&a, &n)) return -1;
  printf("listening on 127.0.0.1:%d\n", ntohs(a.sin_port));
  fflush(stdout);
  return fd;
}

static void watch(int fd) {
  struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
}

int main(int argc, char **argv) {
  int port = 0, option;
  double sse_seconds = 5;
  big_total = 683481;
  while ((option = getopt(argc, argv, "p:b:t:e:m:")) != -1) {
    if (option == 'p') port = atoi(optarg);
    else if (option == 'b') big_total = atoll(optarg);
    else if (option == 't') stamps_file = optarg;
    else if (option == 'e') sse_seconds = atof(optarg);
    else if (option == 'm') h2_mode = optarg;
    else return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM); // a bench that is killed leaves no server behind
  signal(SIGPIPE, SIG_IGN);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  C = calloc(MAXFD, sizeof *C);
  delayed = calloc(MAXFD, sizeof *delayed);
  stamps = mmap(0, STAMPS_MAX * 8ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!C || !delayed || stamps == MAP_FAILED || !prepare()) return 4;
  prepare_h2();

  ep = epoll_create1(0);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, 0); // before the line on stdout: nobody signals us earlier
  int signal_fd = signalfd(-1, &signals, SFD_NONBLOCK);
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct itimerspec every = {.it_value.tv_nsec = TICK_MS * 1000000, .it_interval.tv_nsec = TICK_MS * 1000000};
  timerfd_settime(timer, 0, &every, 0);
  int slices = (int)(sse_seconds * 1000 / TICK_MS);
  if (slices < 1) slices = 1;
  int listener = listen_on(port);
  if (listener < 0) { perror("bind"); return 1; }
  watch(listener);
  watch(signal_fd);
  watch(timer);

  static struct epoll_event E[512];
  for (;;) {
    int n = epoll_wait(ep, E, 512, n_delayed ? 1 : -1);
    for (int i = 0; i < n; i++) {
      int fd = E[i].data.fd;
      if (fd == listener) { accept_all(listener); continue; }
      if (fd == timer) { tick(timer, slices); continue; }
      if (fd == signal_fd) {
        struct signalfd_siginfo info;
        while (read(signal_fd, &info, sizeof info) == sizeof info) {
          if (info.ssi_signo == SIGUSR1) { if (stamps_file) dump_stamps(); }
          else if (info.ssi_signo == SIGUSR2) n_stamps = 0;
          else return 0;
        }
        continue;
      }
      if (!C[fd].open) continue;
      if (E[i].events & (EPOLLERR | EPOLLHUP)) { shut(fd); continue; }
      if ((E[i].events & EPOLLOUT) && C[fd].big_off >= 0) { push_big(fd); if (!C[fd].open) continue; }
      if ((E[i].events & EPOLLOUT) && C[fd].h2 && !push_h2(fd)) continue;
      if (E[i].events & (EPOLLIN | EPOLLRDHUP)) readable(fd);
    }
    if (n_delayed) answer_delayed();
  }
}
