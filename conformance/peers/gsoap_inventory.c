/* gSOAP's side of rpc/encoded messages: a server, or a client that checks the answers itself.
 *
 *   inventory            serves on a free port of the loopback and prints it; ends when its input is closed
 *   inventory ADDRESS    calls every operation of a service; exits with 0 when all answers are right
 *
 * Built by the test from what gSOAP's own tools make of testdata/inventory.wsdl:
 *   wsdl2h -c -s -o inventory.h inventory.wsdl && soapcpp2 -c -x -L inventory.h
 *   cc gsoap_inventory.c soapC.c soapClient.c soapServer.c -lgsoap -lm
 * Nothing of gSOAP is kept here.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "soapH.h"
#include "Inventory.nsmap"
#include "gsoap_serving.h"

typedef struct ns1__Item Item;

int ns1__echoItem(struct soap *soap, Item *item, struct ns1__echoItemResponse *out)
{
    (void)soap;
    out->return_ = item;
    return SOAP_OK;
}

int ns1__echoItems(struct soap *soap, struct ArrayOfItem *items, struct ns1__echoItemsResponse *out)
{
    (void)soap;
    out->return_ = items;
    return SOAP_OK;
}

int ns1__echoDoubles(struct soap *soap, struct ArrayOfDouble *values, struct ns1__echoDoublesResponse *out)
{
    (void)soap;
    out->return_ = values;
    return SOAP_OK;
}

int ns1__refuse(struct soap *soap, char *reason, enum xsd__boolean *answer)
{
    (void)answer;
    return soap_sender_fault(soap, reason, "<p:problem xmlns:p=\"urn:problems\"><p:code>7</p:code></p:problem>");
}

static int wrong(struct soap *soap, const char *what)
{
    fprintf(stderr, "%s\n", what);
    if (soap->error)
        soap_print_fault(soap, stderr);
    return 1;
}

static int check(struct soap *soap, const char *address)
{
    Item bolt = {"bolt \305\201\303\263d\305\272 & <co>", -7, "12345678901234567890.125", 1700000000, NULL, NULL};
    Item nut = {"nut", 2147483647, "0.1", 0, "", &bolt};
    bolt.related = &nut;
    struct ns1__echoItemResponse one;
    if (soap_call_ns1__echoItem(soap, address, NULL, &bolt, &one))
        return wrong(soap, "echoItem");
    Item *found = one.return_;
    if (!found || !found->related || found->related->related != found)
        return wrong(soap, "echoItem: the cycle is lost");
    if (strcmp(found->name, bolt.name) || found->count != -7 || strcmp(found->price, bolt.price) || found->made != bolt.made)
        return wrong(soap, "echoItem: other values");
    if (found->note || !found->related->note || *found->related->note)
        return wrong(soap, "echoItem: nil and empty are not the same");

    Item *both[3] = {&nut, &bolt, &nut};
    struct ArrayOfItem items = {both, 3};
    struct ns1__echoItemsResponse several;
    if (soap_call_ns1__echoItems(soap, address, NULL, &items, &several))
        return wrong(soap, "echoItems");
    Item **list = several.return_->__ptr;
    if (several.return_->__size != 3 || list[0] != list[2] || list[1]->related != list[0] || strcmp(list[0]->name, "nut"))
        return wrong(soap, "echoItems: what was shared is not");

    struct ArrayOfDouble values = {soap_malloc(soap, 100000 * sizeof(double)), 100000};
    for (int i = 0; i < values.__size; i++)
        values.__ptr[i] = ldexp(1.0 + i / 3.0, i % 600 - 300);
    struct ns1__echoDoublesResponse numbers;
    if (soap_call_ns1__echoDoubles(soap, address, NULL, &values, &numbers))
        return wrong(soap, "echoDoubles");
    if (numbers.return_->__size != values.__size || memcmp(numbers.return_->__ptr, values.__ptr, values.__size * sizeof(double)))
        return wrong(soap, "echoDoubles: other values");

    enum xsd__boolean answer;
    if (!soap_call_ns1__refuse(soap, address, NULL, "no \303\274", &answer))
        return wrong(soap, "refuse: no fault");
    const char **reason = soap_faultstring(soap), **detail = soap_faultdetail(soap);
    if (!reason || !*reason || strcmp(*reason, "no \303\274") || !detail || !*detail || !strstr(*detail, "7"))
        return wrong(soap, "refuse: another fault");
    return 0;
}

int main(int count, char **arguments)
{
    if (count < 2)
        return serve(soap_new1(SOAP_C_UTFSTRING | SOAP_IO_KEEPALIVE));
    soap_mode modes[] = {SOAP_C_UTFSTRING | SOAP_IO_KEEPALIVE, SOAP_C_UTFSTRING | SOAP_IO_CHUNK | SOAP_XML_GRAPH};
    for (int i = 0; i < 2; i++) {
        struct soap *soap = soap_new1(modes[i]);
        if (check(soap, arguments[1]))
            return 1;
        soap_destroy(soap);
        soap_end(soap);
        soap_free(soap);
    }
    return 0;
}
