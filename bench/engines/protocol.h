/* The protocol of external benchmark engines, the engine's side. See bench/README.md.
 *
 * An engine is a program that reads a line of JSON from standard input and answers with one:
 *
 *   {"do":"prepare","task":"decode","shape":"int","values":100,"text":"/tmp/x/text"}   {"ok":true}
 *   {"do":"answer","file":"/tmp/x/answer"}                                             {"ok":true}
 *   {"do":"run","times":21}                                                            {"ns":123456,"cpu_ns":123400}
 *
 * For the task "send", "prepare" also has "port", on loopback, where one reads and discards, and "turns", such as "0 1 2 1": the
 * messages to be sent in turn, one each time. After each, with the clock stopped, the engine sends the 8 bytes "\0drain?\0" and waits
 * for one byte. "answer" has "port" too, where one keeps what is sent: the engine sends all turns twice in the same way and
 * closes the connection; it writes no result.
 *
 * or {"unable":"why"} if it does not do such work, or {"error":"what"}. The file `text` holds the messages, each
 * after its length (4 bytes, little-endian). `answer` does the work once and writes the result: a byte S and slots of 8
 * bytes for numbers, or a byte M and messages in the form of `text`. `run` does the work that many times and says how much time it
 * took on the wall and on a processor.
 *
 * Include this file and define the four functions declared at its end.
 */
#ifndef BSOAP_BENCH_PROTOCOL_H
#define BSOAP_BENCH_PROTOCOL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is to be done. */
struct work {
  char task[16];
  char shape[16];
  char turns[16384];
  long values;
  long port; /* of who reads and discards; in engine_answer, of who keeps what is sent */
  size_t count; /* of messages */
  char **text;  /* each ends with a NUL that is not counted */
  size_t *length;
};

/* Makes ready; NULL, or why not. May return UNABLE. */
static const char *engine_prepare(const struct work *work);
/* Does the work once; NULL, or what went wrong. */
static const char *engine_run(void);
/* Does the work once and writes the result. */
static const char *engine_answer(FILE *out);
/* Does away with what engine_prepare made. */
static void engine_clear(void);

/* Stops the clock in the middle of engine_run, and lets it run again. */
static void protocol_pause(void);
static void protocol_resume(void);

static const char UNABLE[] = "this engine does not do such work";

/* What the answer consists of: slots or messages. To be said first. */
static void protocol_put_slots(FILE *out) { fputc('S', out); }
static void protocol_put_messages(FILE *out) { fputc('M', out); }

static void protocol_put_message(FILE *out, const char *text, size_t length) {
  unsigned char head[4] = {(unsigned char)length, (unsigned char)(length >> 8), (unsigned char)(length >> 16), (unsigned char)(length >> 24)};
  fwrite(head, 1, 4, out);
  fwrite(text, 1, length, out);
}

static void protocol_put_slot(FILE *out, const void *slot) { fwrite(slot, 1, 8, out); }

/* The text of a field of a flat JSON object; our side writes no escapes. */
static int protocol_field(const char *line, const char *name, char *out, size_t room) {
  char key[64];
  const char *at, *end;
  snprintf(key, sizeof key, "\"%s\":", name);
  at = strstr(line, key);
  if (!at) return 0;
  at += strlen(key);
  end = *at == '"' ? strchr(++at, '"') : at + strcspn(at, ",}");
  if (!end || (size_t)(end - at) >= room) return 0;
  memcpy(out, at, (size_t)(end - at));
  out[end - at] = 0;
  return 1;
}

static void protocol_forget(struct work *work) {
  size_t i;
  for (i = 0; i < work->count; i++) free(work->text[i]);
  free(work->text);
  free(work->length);
  memset(work, 0, sizeof *work);
}

static const char *protocol_load(struct work *work, const char *path) {
  FILE *in = fopen(path, "rb");
  unsigned char head[4];
  size_t room = 0;
  if (!in) return "the text cannot be opened";
  while (fread(head, 1, 4, in) == 4) {
    size_t length = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    char *text = malloc(length + 1);
    if (work->count == room) {
      room = room ? 2 * room : 16;
      work->text = realloc(work->text, room * sizeof *work->text);
      work->length = realloc(work->length, room * sizeof *work->length);
    }
    if (!text || !work->text || !work->length) return "out of memory";
    work->text[work->count] = text;
    work->length[work->count++] = length;
    if (fread(text, 1, length, in) != length) return "the text ends early";
    text[length] = 0;
  }
  fclose(in);
  return NULL;
}

static const char *protocol_prepare(struct work *work, const char *line) {
  char path[4096], values[32];
  const char *error;
  engine_clear();
  protocol_forget(work);
  if (!protocol_field(line, "task", work->task, sizeof work->task) || !protocol_field(line, "shape", work->shape, sizeof work->shape) ||
      !protocol_field(line, "values", values, sizeof values) || !protocol_field(line, "text", path, sizeof path))
    return "a field is missing";
  work->values = atol(values);
  if (protocol_field(line, "port", values, sizeof values)) work->port = atol(values);
  protocol_field(line, "turns", work->turns, sizeof work->turns);
  error = protocol_load(work, path);
  return error ? error : engine_prepare(work);
}

/* Nanoseconds on the wall and on a processor. An engine may stop the clock in the middle of its work. */
static long long protocol_wall, protocol_cpu;

static void protocol_clock(int sign) {
  struct timespec wall, cpu;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  clock_gettime(CLOCK_MONOTONIC, &wall);
  protocol_wall += sign * (wall.tv_sec * 1000000000LL + wall.tv_nsec);
  protocol_cpu += sign * (cpu.tv_sec * 1000000000LL + cpu.tv_nsec);
}

static void protocol_resume(void) { protocol_clock(-1); }
static void protocol_pause(void) { protocol_clock(1); }

static void protocol_reply(const char *error) {
  if (!error) puts("{\"ok\":true}");
  else printf("{\"%s\":\"%s\"}\n", error == UNABLE ? "unable" : "error", error);
}

int main(void) {
  static char line[32768], command[16], value[4096];
  struct work work;
  memset(&work, 0, sizeof work);
  while (fgets(line, sizeof line, stdin)) {
    if (!protocol_field(line, "do", command, sizeof command)) protocol_reply("not a command");
    else if (!strcmp(command, "prepare")) protocol_reply(protocol_prepare(&work, line));
    else if (!strcmp(command, "answer")) {
      char port[32];
      FILE *out = protocol_field(line, "file", value, sizeof value) ? fopen(value, "wb") : NULL;
      const char *error;
      if (protocol_field(line, "port", port, sizeof port)) work.port = atol(port);
      error = out ? engine_answer(out) : "the answer cannot be written";
      if (out) fclose(out);
      protocol_reply(error);
    } else if (!strcmp(command, "run")) {
      const char *error = NULL;
      long times = protocol_field(line, "times", value, sizeof value) ? atol(value) : 1;
      protocol_wall = protocol_cpu = 0;
      protocol_resume();
      while (times-- > 0 && !error) error = engine_run();
      protocol_pause();
      if (error) protocol_reply(error);
      else printf("{\"ns\":%lld,\"cpu_ns\":%lld}\n", protocol_wall, protocol_cpu);
    } else protocol_reply("not a command");
    fflush(stdout);
  }
  return 0;
}

#endif
