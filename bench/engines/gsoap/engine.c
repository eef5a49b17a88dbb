/* gSOAP as a benchmark engine. Built at benchmark time from what its soapcpp2 makes of bench.h; nothing of gSOAP is kept
 * here, and it runs as a process of its own.
 *
 *   gsoap        the installed library as its stubs use it: graph analysis, and a first pass to count Content-Length
 *   gsoap:best   compiled with -DBEST: SOAP_XML_TREE, one pass; over a connection HTTP chunked, so that no length is counted
 */
#include "protocol.h"

#include "soapH.h"

#include "b.nsmap"

static struct soap *soap;
static const struct work *the_work;

/* Text comes and goes through memory: one memcpy in, one out. */
static const char *in_text;
static size_t in_left;
static char *out_text;
static size_t out_length, out_room;
/* Where each encoded message ends. */
static size_t *out_ends;

/* gSOAP's own, for connections. */
static size_t (*usual_receive)(struct soap *, char *, size_t);
static int (*usual_transmit)(struct soap *, const char *, size_t);

static size_t receive(struct soap *context, char *buffer, size_t room) {
  size_t length = in_left < room ? in_left : room;
  (void)context;
  memcpy(buffer, in_text, length);
  in_text += length;
  in_left -= length;
  return length;
}

static int transmit(struct soap *context, const char *text, size_t length) {
  (void)context;
  if (out_length + length > out_room) {
    out_room = 2 * (out_length + length);
    out_text = realloc(out_text, out_room);
    if (!out_text) return SOAP_EOM;
  }
  memcpy(out_text + out_length, text, length);
  out_length += length;
  return SOAP_OK;
}

/* Over a connection (task send): where to, and the messages to be sent in turn. */
static char endpoint[64];
static long turns[4096];
static size_t turn_count, next_turn;

/* One shape: how its message is read and written. `value` points to its structure. */
struct shape {
  const char *name;
  size_t size;
  int (*get)(void *value);
  void (*mark)(const void *value);
  int (*put)(const void *value);
};

#define SHAPE(type)                                                                                                 \
  static int get_##type(void *value) {                                                                              \
    soap_default_b__##type(soap, (struct b__##type *)value);                                                        \
    return soap_get_b__##type(soap, (struct b__##type *)value, "b:" #type, NULL) == NULL;                            \
  }                                                                                                                 \
  static void mark_##type(const void *value) { soap_serialize_b__##type(soap, (const struct b__##type *)value); }     \
  static int put_##type(const void *value) { return soap_put_b__##type(soap, (const struct b__##type *)value, "b:" #type, NULL); }

SHAPE(doubles)
SHAPE(ints)
SHAPE(mesh)
SHAPE(strings)
SHAPE(reading)
SHAPE(order)

#define ROW(name, type) {name, sizeof(struct b__##type), get_##type, mark_##type, put_##type}

static const struct shape shapes[] = {ROW("dhard", doubles), ROW("dunit", doubles),  ROW("dsmall", doubles), ROW("int", ints),
                                      ROW("mio", mesh),      ROW("string", strings), ROW("small", reading),  ROW("order", order)};
static const struct shape *shape;
/* A structure for each message, in a row. */
static char *values;

static const char *failed(void) {
  static char text[512];
  char *c;
  soap_sprint_fault(soap, text, sizeof text);
  for (c = text; *c; c++)
    if (*c == '"' || *c == '\n' || *c == '\\' || *c == '\r') *c = ' ';
  return text;
}

static const char *decode(void) {
  size_t i;
  soap_destroy(soap);
  soap_end(soap);
  for (i = 0; i < the_work->count; i++) {
    in_text = the_work->text[i];
    in_left = the_work->length[i];
    if (soap_begin_recv(soap) || soap_envelope_begin_in(soap) || soap_recv_header(soap) || soap_body_begin_in(soap) ||
        shape->get(values + i * shape->size) || soap_body_end_in(soap) || soap_envelope_end_in(soap) || soap_end_recv(soap))
      return failed();
  }
  return NULL;
}

static int put_envelope(const void *value) {
  return soap_envelope_begin_out(soap) || soap_putheader(soap) || soap_body_begin_out(soap) || shape->put(value) || soap_body_end_out(soap) ||
         soap_envelope_end_out(soap);
}

static const char *encode(void) {
  size_t i;
  out_length = 0;
  for (i = 0; i < the_work->count; i++) {
    const void *value = values + i * shape->size;
    soap->encodingStyle = NULL;
#ifdef BEST
    if (soap_begin_send(soap) || put_envelope(value) || soap_end_send(soap)) return failed();
#else
    soap_serializeheader(soap);
    shape->mark(value);
    if (soap_begin_count(soap)) return failed();
    if ((soap->mode & SOAP_IO_LENGTH) && put_envelope(value)) return failed();
    if (soap_end_count(soap) || soap_begin_send(soap) || put_envelope(value) || soap_end_send(soap)) return failed();
#endif
    out_ends[i] = out_length;
  }
  return NULL;
}

/* What a stub does to send a request; its connection is kept. */
static const char *send_one(const void *value) {
  soap_begin(soap);
  soap->encodingStyle = NULL;
#ifndef BEST
  soap_serializeheader(soap);
  shape->mark(value);
#endif
  if (soap_begin_count(soap)) return failed();
  if ((soap->mode & SOAP_IO_LENGTH) && put_envelope(value)) return failed();
  if (soap_end_count(soap) || soap_connect(soap, endpoint, "") || put_envelope(value) || soap_end_send(soap)) return failed();
  return NULL;
}

/* Until the other end has read everything. */
static const char *drain(void) {
  char answer;
  if (send(soap->socket, "\0drain?\0", 8, 0) != 8 || recv(soap->socket, &answer, 1, 0) != 1) return "the connection broke";
  return NULL;
}

static const char *send_next(void) {
  const char *error = send_one(values + turns[next_turn] * shape->size);
  next_turn = (next_turn + 1) % turn_count;
  if (error) return error;
  protocol_pause();
  error = drain();
  protocol_resume();
  return error;
}

static const char *read_turns(const char *text) {
  char *end;
  for (turn_count = next_turn = 0; *text && turn_count < sizeof turns / sizeof *turns; text = end) {
    turns[turn_count] = strtol(text, &end, 10);
    if (end == text || turns[turn_count] < 0 || (size_t)turns[turn_count] >= the_work->count) return "no such message";
    turn_count++;
  }
  return turn_count ? NULL : "nothing is to be sent";
}

static int is_sending(void) { return !strcmp(the_work->task, "send"); }

/* From now on to a connection. */
static const char *prepare_sending(const struct work *work) {
  soap_mode mode = SOAP_C_UTFSTRING | SOAP_IO_KEEPALIVE;
#ifdef BEST
  mode |= SOAP_XML_TREE | SOAP_IO_CHUNK;
#endif
  soap_set_mode(soap, mode);
  soap->frecv = usual_receive;
  soap->fsend = usual_transmit;
  snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%ld/bench", work->port);
  return read_turns(work->turns);
}

/* To one who keeps it, the stream twice. */
static const char *send_answer(long port) {
  const char *error = NULL;
  char kept[sizeof endpoint];
  size_t i;
  strcpy(kept, endpoint);
  snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%ld/bench", port);
  for (i = 0; i < 2 * turn_count && !error; i++) error = send_next();
  soap->keep_alive = 0;
  soap_closesock(soap);
  strcpy(endpoint, kept);
  return error;
}

static void engine_clear(void) {
  free(values);
  free(out_ends);
  values = NULL;
  out_ends = NULL;
  if (soap) {
    soap_destroy(soap);
    soap_end(soap);
    soap_free(soap);
    soap = NULL;
  }
}

static const char *engine_prepare(const struct work *work) {
  const char *error;
  size_t i;
  the_work = work;
  shape = NULL;
  for (i = 0; i < sizeof shapes / sizeof *shapes; i++)
    if (!strcmp(shapes[i].name, work->shape)) shape = &shapes[i];
  if (!shape || (strcmp(work->task, "decode") && strcmp(work->task, "encode") && !is_sending())) return UNABLE;
#ifdef BEST
  soap = soap_new1(SOAP_XML_TREE | SOAP_C_UTFSTRING);
#else
  soap = soap_new1(SOAP_C_UTFSTRING);
#endif
  soap_set_namespaces(soap, namespaces);
  usual_receive = soap->frecv;
  usual_transmit = soap->fsend;
  soap->frecv = receive;
  soap->fsend = transmit;
  values = calloc(work->count + 1, shape->size);
  out_ends = calloc(work->count + 1, sizeof *out_ends);
  if (!values || !out_ends) return "out of memory";
  /* What is to be encoded is first decoded. */
  error = decode();
  return error || !is_sending() ? error : prepare_sending(work);
}

static const char *engine_run(void) {
  if (is_sending()) return send_next();
  return strcmp(the_work->task, "encode") ? decode() : encode();
}

static void write_messages(FILE *out) {
  size_t i, start = 0;
  protocol_put_messages(out);
  for (i = 0; i < the_work->count; i++) {
    protocol_put_message(out, out_text + start, out_ends[i] - start);
    start = out_ends[i];
  }
}

static const char *write_slots(FILE *out) {
  long i;
  const struct b__doubles *doubles = (const void *)values;
  const struct b__ints *ints = (const void *)values;
  const struct b__mesh *mesh = (const void *)values;
  protocol_put_slots(out);
  if (*the_work->shape == 'd') {
    for (i = 0; i < doubles->__sizeitem; i++) protocol_put_slot(out, &doubles->item[i]);
  } else if (!strcmp(the_work->shape, "int")) {
    for (i = 0; i < ints->__sizeitem; i++) {
      int64_t slot = ints->item[i];
      protocol_put_slot(out, &slot);
    }
  } else {
    for (i = 0; i < mesh->__sizeitem; i++) {
      int64_t x = mesh->item[i].x, y = mesh->item[i].y;
      protocol_put_slot(out, &x);
      protocol_put_slot(out, &y);
      protocol_put_slot(out, &mesh->item[i].value);
    }
  }
  return NULL;
}

static const char *engine_answer(FILE *out) {
  const char *error = is_sending() ? send_answer(the_work->port) : engine_run();
  const char *name = the_work->shape;
  if (is_sending()) return error;
  if (error) return error;
  if (!strcmp(the_work->task, "decode") && (*name == 'd' || !strcmp(name, "int") || !strcmp(name, "mio"))) return write_slots(out);
  /* Strings and documents are compared as text, written again from what was decoded. */
  if (!strcmp(the_work->task, "decode")) error = encode();
  if (!error) write_messages(out);
  return error;
}
