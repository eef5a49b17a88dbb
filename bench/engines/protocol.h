/* The protocol of external benchmark engines, the engine's side. See bench/README.md.
 *
 * An engine is a program that reads a line of JSON from standard input and answers with one:
 *
 *   {"do":"prepare","task":"decode","shape":"int","values":100,"text":"/tmp/x/text"}   {"ok":true}
 *   {"do":"answer","file":"/tmp/x/answer"}                                             {"ok":true}
 *   {"do":"run","times":21}                                                            {"ns":123456}
 *
 * or {"unable":"why"} if it does not do such work, or {"error":"what"}. The file `text` holds the messages, each
 * after its length (4 bytes, little-endian). `answer` does the work once and writes the result: a byte S and slots of 8
 * bytes for numbers, or a byte M and messages in the form of `text`. `run` does the work that many times and says how much processor
 * time it took.
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
  long values;
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
  error = protocol_load(work, path);
  return error ? error : engine_prepare(work);
}

static void protocol_reply(const char *error) {
  if (!error) puts("{\"ok\":true}");
  else printf("{\"%s\":\"%s\"}\n", error == UNABLE ? "unable" : "error", error);
}

int main(void) {
  static char line[8192], command[16], value[4096];
  struct work work;
  memset(&work, 0, sizeof work);
  while (fgets(line, sizeof line, stdin)) {
    if (!protocol_field(line, "do", command, sizeof command)) protocol_reply("not a command");
    else if (!strcmp(command, "prepare")) protocol_reply(protocol_prepare(&work, line));
    else if (!strcmp(command, "answer")) {
      FILE *out = protocol_field(line, "file", value, sizeof value) ? fopen(value, "wb") : NULL;
      const char *error = out ? engine_answer(out) : "the answer cannot be written";
      if (out) fclose(out);
      protocol_reply(error);
    } else if (!strcmp(command, "run")) {
      struct timespec start, end;
      const char *error = NULL;
      long times = protocol_field(line, "times", value, sizeof value) ? atol(value) : 1;
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
      while (times-- > 0 && !error) error = engine_run();
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
      if (error) protocol_reply(error);
      else printf("{\"ns\":%lld}\n", (long long)(end.tv_sec - start.tv_sec) * 1000000000LL + (end.tv_nsec - start.tv_nsec));
    } else protocol_reply("not a command");
    fflush(stdout);
  }
  return 0;
}

#endif
