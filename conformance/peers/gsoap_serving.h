/* The serving loop of gSOAP's servers here. Include it after what soapcpp2 wrote ("soapH.h").
 *
 * Serves keep-alive connections one after the other on a free port of the loopback, prints the port, and ends when its input is
 * closed.
 */
#ifndef GSOAP_SERVING_H
#define GSOAP_SERVING_H

#include <poll.h>
#include <stdio.h>

static int input_closed(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char byte;
    return poll(&input, 1, 0) > 0 && fread(&byte, 1, 1, stdin) == 0;
}

static int serve(struct soap *soap)
{
    soap->accept_timeout = 1;
    soap->recv_timeout = 5;
    soap->send_timeout = 5;
    soap->max_keep_alive = 1000000;
    soap->bind_flags = SO_REUSEADDR;
    if (!soap_valid_socket(soap_bind(soap, "127.0.0.1", 0, 16)))
        return 1;
    struct sockaddr_in own;
    socklen_t length = sizeof own;
    if (getsockname(soap->master, (struct sockaddr *)&own, &length) != 0)
        return 1;
    printf("%d\n", ntohs(own.sin_port));
    fflush(stdout);
    while (!input_closed())
        if (soap_valid_socket(soap_accept(soap))) {
            soap_serve(soap);
            soap_destroy(soap);
            soap_end(soap);
        }
    return 0;
}

#endif
