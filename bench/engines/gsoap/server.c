/* The server of `rpc` as gSOAP's users write it, from what its tools make of bench.wsdl. Answers with what it was sent.
 *
 * A thread for each connection. Prints its address; ends with its input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "soapH.h"
#include "Bench.nsmap"

#ifdef BEST
/* Answers are kept until their length is known: less processor time than chunks, or than writing them twice (the default). */
#define MODE (SOAP_XML_TREE | SOAP_IO_STORE)
#else
#define MODE 0
#endif

#define ECHO(name)                                                                                        \
  int __ns1__##name(struct soap *soap, struct _ns1__##name *in, struct __ns1__##name##Response *out) { \
    (void)soap;                                                                                           \
    out->ns1__##name = in;                                                                                \
    return SOAP_OK;                                                                                       \
  }
ECHO(doubles)
ECHO(ints)
ECHO(mesh)
ECHO(samples)
ECHO(strings)
ECHO(reading)
ECHO(order)

/* After each call: frees what it allocated. */
static int free_call(struct soap *soap) {
  soap_destroy(soap);
  soap_end(soap);
  return SOAP_OK;
}

static void *serve(void *connection) {
  struct soap *soap = connection;
  soap_serve(soap);
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
  return NULL;
}

static void *wait_for_input(void *unused) {
  while (getchar() != EOF) {
    /* Nothing is said here; the end is what is waited for. */
  }
  exit(0);
  return unused;
}

int main(void) {
  struct soap *soap = soap_new1(SOAP_C_UTFSTRING | SOAP_IO_KEEPALIVE | MODE);
  struct sockaddr_in own;
  socklen_t length = sizeof own;
  pthread_t thread;
  soap->max_keep_alive = 0; /* no limit */
  soap->fserveloop = free_call;
  if (!soap_valid_socket(soap_bind(soap, "127.0.0.1", 0, 100))) return 1;
  if (getsockname(soap->master, (struct sockaddr *)&own, &length)) return 1;
  if (pthread_create(&thread, NULL, wait_for_input, NULL)) return 1;
  printf("127.0.0.1:%d\n", ntohs(own.sin_port));
  fflush(stdout);
  while (soap_valid_socket(soap_accept(soap))) {
    struct soap *connection = soap_copy(soap);
    if (!connection || pthread_create(&thread, NULL, serve, connection)) return 1;
    pthread_detach(thread);
  }
  return 1;
}
