/* The mesh service as gSOAP serves it: a peer for bsoap's client.
 *
 * Built by the test from what gSOAP's own tools make of examples/mesh/mesh.wsdl:
 *   wsdl2h -c -s -o mesh.h mesh.wsdl && soapcpp2 -c -S -x -L mesh.h
 *   cc gsoap_server.c soapC.c soapServer.c -lgsoap -lm
 * Nothing of gSOAP is kept here.
 */
#include <math.h>
#include <string.h>

#include "soapH.h"
#include "MeshSoap11.nsmap"
#include "gsoap_serving.h"

typedef struct ns1__ArrayOfDouble Doubles;

int __ns1__echoDoubles(struct soap *soap, struct _ns1__echoDoubles *in, struct _ns1__echoDoublesResponse *out)
{
    (void)soap;
    out->values = in->values;
    return SOAP_OK;
}

int __ns1__echoInts(struct soap *soap, struct _ns1__echoInts *in, struct _ns1__echoIntsResponse *out)
{
    (void)soap;
    out->values = in->values;
    return SOAP_OK;
}

int __ns1__echoMesh(struct soap *soap, struct _ns1__echoMesh *in, struct _ns1__echoMeshResponse *out)
{
    (void)soap;
    out->objects = in->objects;
    return SOAP_OK;
}

int __ns1__sumDoubles(struct soap *soap, struct _ns1__sumDoubles *in, struct _ns1__sumDoublesResponse *out)
{
    (void)soap;
    out->sum = 0;
    for (int i = 0; i < in->values->__sizeitem; i++)
        out->sum += in->values->item[i];
    return SOAP_OK;
}

int __ns1__sumInts(struct soap *soap, struct _ns1__sumInts *in, struct _ns1__sumIntsResponse *out)
{
    (void)soap;
    out->sum = 0;
    for (int i = 0; i < in->values->__sizeitem; i++)
        out->sum += in->values->item[i];
    return SOAP_OK;
}

static int bad_shape(struct soap *soap, LONG64 expected, LONG64 found)
{
    struct _ns1__badShape *bad = soap_malloc(soap, sizeof *bad);
    bad->expected = expected;
    bad->found = found;
    soap_sender_fault(soap, "the field does not have rows times columns values", NULL);
    struct SOAP_ENV__Detail *detail = soap_malloc(soap, sizeof *detail);
    memset(detail, 0, sizeof *detail);
    detail->ns1__badShape = bad;
    if (soap->version == 2)
        soap->fault->SOAP_ENV__Detail = detail;
    else
        soap->fault->detail = detail;
    return SOAP_FAULT;
}

int __ns1__jacobiStep(struct soap *soap, struct _ns1__jacobiStep *in, struct _ns1__jacobiStepResponse *out)
{
    LONG64 expected = (LONG64)in->rows * in->columns;
    if (expected != in->field->__sizeitem)
        return bad_shape(soap, expected, in->field->__sizeitem);
    size_t bytes = (size_t)expected * sizeof(double), columns = (size_t)in->columns;
    const double *old = in->field->item;
    double *new = soap_malloc(soap, bytes ? bytes : 1);
    if (bytes)
        memcpy(new, old, bytes);
    out->residual = 0;
    for (int r = 1; r + 1 < in->rows; r++)
        for (int c = 1; c + 1 < in->columns; c++) {
            size_t i = (size_t)r * columns + (size_t)c;
            new[i] = 0.25 * (old[i - columns] + old[i + columns] + old[i - 1] + old[i + 1]);
            out->residual = fmax(out->residual, fabs(new[i] - old[i]));
        }
    out->field = soap_malloc(soap, sizeof(Doubles));
    out->field->__sizeitem = in->field->__sizeitem;
    out->field->item = new;
    return SOAP_OK;
}

/* The same operations through the SOAP 1.2 port. */
#define TWIN(name)                                                                                         \
    int __ns1__##name##_(struct soap *soap, struct _ns1__##name *in, struct _ns1__##name##Response *out) \
    {                                                                                                      \
        return __ns1__##name(soap, in, out);                                                               \
    }
TWIN(echoDoubles)
TWIN(echoInts)
TWIN(echoMesh)
TWIN(sumDoubles)
TWIN(sumInts)
TWIN(jacobiStep)

int main(void)
{
    return serve(soap_new1(SOAP_IO_KEEPALIVE));
}
