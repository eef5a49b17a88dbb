/* expat's events, with namespaces: reads the markup and converts nothing, so it does less than a decoder does.
 * The answer is written from the same events: elements by their local names, attributes and text. */
#include "protocol.h"

#include <expat.h>

static const struct work *the_work;
static long events;

static void on_start(void *out, const XML_Char *name, const XML_Char **attributes) {
  (void)out, (void)name, (void)attributes;
  events++;
}

static void on_end(void *out, const XML_Char *name) {
  (void)out, (void)name;
  events++;
}

static void on_text(void *out, const XML_Char *text, int length) {
  (void)out, (void)text, (void)length;
  events++;
}

static const char *engine_prepare(const struct work *work) {
  if (strcmp(work->task, "decode")) return UNABLE;
  the_work = work;
  return NULL;
}

static void engine_clear(void) { the_work = NULL; }

static const char *parse_all(XML_StartElementHandler start, XML_EndElementHandler end, XML_CharacterDataHandler text, FILE *out) {
  size_t i;
  const char *error = NULL;
  XML_Parser parser = XML_ParserCreateNS(NULL, ' ');
  if (!parser) return "no parser";
  for (i = 0; i < the_work->count && !error; i++) {
    char *copy = NULL;
    size_t length = 0;
    FILE *to = out ? open_memstream(&copy, &length) : NULL;
    if (i) XML_ParserReset(parser, NULL);
    XML_SetUserData(parser, to);
    XML_SetElementHandler(parser, start, end);
    XML_SetCharacterDataHandler(parser, text);
    if (XML_Parse(parser, the_work->text[i], (int)the_work->length[i], 1) != XML_STATUS_OK) error = "not well-formed";
    if (to) {
      fclose(to);
      if (!error) protocol_put_message(out, copy, length);
      free(copy);
    }
  }
  XML_ParserFree(parser);
  return error;
}

static const char *engine_run(void) {
  events = 0;
  return parse_all(on_start, on_end, on_text, NULL);
}

static const char *local(const char *name) {
  const char *space = strrchr(name, ' ');
  return space ? space + 1 : name;
}

static void escape(FILE *out, const char *text, size_t length) {
  size_t i;
  for (i = 0; i < length; i++) {
    switch (text[i]) {
      case '<': fputs("&lt;", out); break;
      case '>': fputs("&gt;", out); break;
      case '&': fputs("&amp;", out); break;
      case '"': fputs("&quot;", out); break;
      default: fputc(text[i], out);
    }
  }
}

static void write_start(void *out, const XML_Char *name, const XML_Char **attributes) {
  fprintf(out, "<%s", local(name));
  for (; *attributes; attributes += 2) {
    fprintf(out, " %s=\"", local(attributes[0]));
    escape(out, attributes[1], strlen(attributes[1]));
    fputc('"', out);
  }
  fputc('>', out);
}

static void write_end(void *out, const XML_Char *name) { fprintf(out, "</%s>", local(name)); }

static void write_text(void *out, const XML_Char *text, int length) { escape(out, text, (size_t)length); }

static const char *engine_answer(FILE *out) {
  protocol_put_messages(out);
  return parse_all(write_start, write_end, write_text, out);
}
