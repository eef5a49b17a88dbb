/* libxml2's SAX2 events, or its tree (-DTREE), or its pull reader (-DREADER): reads the markup and converts nothing, so it does less
 * than a decoder does.
 * The answer is written by libxml2's own tree writer from the same text, to show that it reads it right. */
#include "protocol.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlreader.h>

static const struct work *the_work;
static xmlSAXHandler handler;
static long events;

static void on_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces, const xmlChar **declared,
                     int attributes, int defaulted, const xmlChar **list) {
  (void)context, (void)name, (void)prefix, (void)uri, (void)namespaces, (void)declared, (void)attributes, (void)defaulted, (void)list;
  events++;
}

static void on_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  (void)context, (void)name, (void)prefix, (void)uri;
  events++;
}

static void on_text(void *context, const xmlChar *text, int length) {
  (void)context, (void)text, (void)length;
  events++;
}

static const char *engine_prepare(const struct work *work) {
  if (strcmp(work->task, "decode")) return UNABLE;
  the_work = work;
  memset(&handler, 0, sizeof handler);
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = on_start;
  handler.endElementNs = on_end;
  handler.characters = on_text;
  return NULL;
}

static void engine_clear(void) { the_work = NULL; }

#if defined(TREE)
static const char *engine_run(void) {
  size_t i;
  for (i = 0; i < the_work->count; i++) {
    xmlDocPtr document = xmlReadMemory(the_work->text[i], (int)the_work->length[i], NULL, NULL, XML_PARSE_NOENT | XML_PARSE_HUGE | XML_PARSE_NONET);
    if (!document) return "not well-formed";
    xmlFreeDoc(document);
  }
  return NULL;
}
#elif defined(READER)
static const char *engine_run(void) {
  size_t i;
  xmlTextReaderPtr reader = NULL;
  events = 0;
  for (i = 0; i < the_work->count; i++) {
    int more;
    if (!reader) reader = xmlReaderForMemory(the_work->text[i], (int)the_work->length[i], NULL, NULL, XML_PARSE_NOENT | XML_PARSE_HUGE | XML_PARSE_NONET);
    else if (xmlReaderNewMemory(reader, the_work->text[i], (int)the_work->length[i], NULL, NULL, XML_PARSE_NOENT | XML_PARSE_HUGE | XML_PARSE_NONET)) return "no reader";
    while ((more = xmlTextReaderRead(reader)) == 1) events++;
    if (more) return "not well-formed";
  }
  xmlFreeTextReader(reader);
  return events ? NULL : "no events";
}
#else
static const char *engine_run(void) {
  size_t i;
  events = 0;
  for (i = 0; i < the_work->count; i++) {
    xmlParserCtxtPtr parser = xmlCreateMemoryParserCtxt(the_work->text[i], (int)the_work->length[i]);
    int right;
    if (!parser) return "no parser";
    xmlCtxtUseOptions(parser, XML_PARSE_NOENT | XML_PARSE_HUGE | XML_PARSE_NONET);
    memcpy(parser->sax, &handler, sizeof handler);
    right = xmlParseDocument(parser) == 0;
    xmlFreeParserCtxt(parser);
    if (!right) return "not well-formed";
  }
  return events ? NULL : "no events";
}
#endif

static const char *engine_answer(FILE *out) {
  size_t i;
  const char *error = engine_run();
  protocol_put_messages(out);
  for (i = 0; i < the_work->count && !error; i++) {
    xmlDocPtr document = xmlReadMemory(the_work->text[i], (int)the_work->length[i], NULL, NULL, XML_PARSE_NOENT | XML_PARSE_HUGE | XML_PARSE_NONET);
    xmlChar *text = NULL;
    int length = 0;
    if (!document) return "not well-formed";
    xmlDocDumpMemoryEnc(document, &text, &length, "UTF-8");
    protocol_put_message(out, (const char *)text, (size_t)length);
    xmlFree(text);
    xmlFreeDoc(document);
  }
  return error;
}
