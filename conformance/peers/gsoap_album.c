/* gSOAP's side of MTOM: a server, or a client that checks the answers itself.
 *
 *   album                     serves on a free port of the loopback and prints it; ends when its input is closed
 *   album ADDRESS ADDRESS12   calls every operation of a service, by SOAP 1.1 and 1.2; exits with 0 when all answers are right
 *
 * Built by the test from what gSOAP's own tools make of testdata/album.wsdl:
 *   wsdl2h -c -s -o album.h album.wsdl && soapcpp2 -c -x -L album.h
 *   cc gsoap_album.c soapC.c soapClient.c soapServer.c -lgsoap -lm
 * Nothing of gSOAP is kept here.
 */
#include <stdio.h>
#include <string.h>

#include "soapH.h"
#include "Album.nsmap"
#include "gsoap_serving.h"

typedef struct ns1__Page Page;
typedef struct xsd__base64Binary Photo;

int __ns1__echo(struct soap *soap, Page *in, Page *out)
{
    (void)soap;
    *out = *in;
    return SOAP_OK;
}

int __ns1__refuse(struct soap *soap, struct _ns1__refuse *in, struct _ns1__refuseResponse *out)
{
    (void)out;
    soap_sender_fault(soap, in->reason, NULL);
    struct _ns1__problem *problem = soap_malloc(soap, sizeof *problem);
    problem->size = in->photo.__size;
    struct SOAP_ENV__Detail *detail = soap_malloc(soap, sizeof *detail);
    memset(detail, 0, sizeof *detail);
    detail->ns1__problem = problem;
    if (soap->version == 2)
        soap->fault->SOAP_ENV__Detail = detail;
    else
        soap->fault->detail = detail;
    return SOAP_FAULT;
}

/* The same operations through the SOAP 1.2 port. */
int __ns1__echo_(struct soap *soap, Page *in, Page *out)
{
    return __ns1__echo(soap, in, out);
}

int __ns1__refuse_(struct soap *soap, struct _ns1__refuse *in, struct _ns1__refuseResponse *out)
{
    return __ns1__refuse(soap, in, out);
}

/* Clients write the Envelope of the first row. The table that soapcpp2 wrote begins with that of SOAP 1.2. */
static const struct Namespace namespaces11[] = {
    {"SOAP-ENV", "http://schemas.xmlsoap.org/soap/envelope/", NULL, NULL},
    {"SOAP-ENC", "http://schemas.xmlsoap.org/soap/encoding/", NULL, NULL},
    {"xsi", "http://www.w3.org/2001/XMLSchema-instance", NULL, NULL},
    {"xsd", "http://www.w3.org/2001/XMLSchema", NULL, NULL},
    {"ns1", "urn:bsoap:album", NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

static int wrong(struct soap *soap, const char *what)
{
    fprintf(stderr, "SOAP 1.%d: %s\n", soap->version, what);
    if (soap->error)
        soap_print_fault(soap, stderr);
    return 1;
}

/* A value that is sent as an attachment: it has a media type. */
static Photo photo(struct soap *soap, int size)
{
    Photo photo = {soap_malloc(soap, size ? size : 1), size, NULL, "image/png", NULL};
    for (int i = 0; i < size; i++)
        photo.__ptr[i] = (unsigned char)(i * 7 + i / 251);
    return photo;
}

/* Shorter values come as base64 text. */
enum { threshold = 4096 };

static int check_photo(struct soap *soap, const Photo *found, int size)
{
    Photo expected = photo(soap, size);
    if (found->__size != size || (size && memcmp(found->__ptr, expected.__ptr, size)))
        return wrong(soap, "echo: other octets");
    if (size >= threshold && (!found->type || strcmp(found->type, "image/png")))
        return wrong(soap, "echo: a photo that is no attachment, or has another media type");
    return 0;
}

typedef int Echo(struct soap *, const char *, const char *, Page *, Page *);
typedef int Refuse(struct soap *, const char *, const char *, struct _ns1__refuse *, struct _ns1__refuseResponse *);

static int check(struct soap *soap, const char *address, Echo *echo, Refuse *refuse)
{
    const int sizes[] = {0, 10, 5000, 3000000};
    for (int count = 0; count <= 4; count++) {
        Photo photos[4];
        for (int i = 0; i < count; i++)
            photos[i] = photo(soap, sizes[i]);
        Page page = {"\305\201\303\263d\305\272 & <co>", 1700000000, "12345678901234567890.125", NULL, count, photos}, found;
        if (echo(soap, address, NULL, &page, &found))
            return wrong(soap, "echo");
        if (strcmp(found.title, page.title) || found.taken != page.taken || strcmp(found.price, page.price) || found.note)
            return wrong(soap, "echo: other values");
        if (found.__sizephoto != count)
            return wrong(soap, "echo: another number of photos");
        for (int i = 0; i < count; i++)
            if (check_photo(soap, &found.photo[i], sizes[i]))
                return 1;
    }

    struct _ns1__refuse refused = {"no \303\274", photo(soap, 100000)};
    struct _ns1__refuseResponse nothing;
    if (!refuse(soap, address, NULL, &refused, &nothing))
        return wrong(soap, "refuse: no fault");
    const char **reason = soap_faultstring(soap);
    if (!reason || !*reason || strcmp(*reason, refused.reason))
        return wrong(soap, "refuse: another reason");
    struct SOAP_ENV__Detail *detail = soap->version == 2 ? soap->fault->SOAP_ENV__Detail : soap->fault->detail;
    if (!detail || !detail->ns1__problem || detail->ns1__problem->size != 100000)
        return wrong(soap, "refuse: another detail");
    return 0;
}

int main(int count, char **arguments)
{
    const soap_mode mode = SOAP_ENC_MTOM | SOAP_C_UTFSTRING | SOAP_IO_KEEPALIVE;
    if (count < 3)
        return serve(soap_new1(mode));
    const soap_mode modes[] = {mode, mode | SOAP_IO_CHUNK};
    for (int i = 0; i < 2; i++) {
        struct soap *soap = soap_new1(modes[i]);
        soap_set_namespaces(soap, namespaces11);
        if (check(soap, arguments[1], soap_call___ns1__echo, soap_call___ns1__refuse))
            return 1;
        soap_set_namespaces(soap, namespaces);
        if (check(soap, arguments[2], soap_call___ns1__echo_, soap_call___ns1__refuse_))
            return 1;
        soap_destroy(soap);
        soap_end(soap);
        soap_free(soap);
    }
    return 0;
}
