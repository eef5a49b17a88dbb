// The messages of the benchmarks, as gSOAP's soapcpp2 wants them described.
//gsoap b schema namespace: urn:bsoap:bench
//gsoap b schema elementForm: unqualified
//gsoap b schema attributeForm: unqualified

enum xsd__boolean { xsd__boolean__false, xsd__boolean__true };
struct xsd__base64Binary { unsigned char *__ptr; int __size; };

struct b__doubles { int __sizeitem; double *item; };
struct b__ints { int __sizeitem; int *item; };
struct b__object { int x; int y; double value; };
struct b__mesh { int __sizeitem; struct b__object *item; };
struct b__strings { int __sizeitem; char **item; };

struct b__reading {
  char *station 1; char *sensor 1; char *time 1; LONG64 sequence 1; double latitude 1; double longitude 1;
  double altitude 1; double value 1; char *unit 1; int quality 1;
};

struct b__customer { LONG64 number 1; char *name 1; char *email 0; char *vat 0; };
struct b__address {
  char *name 1; char *street 1; int house 1; char *city 1; char *postcode 1; char *country 1;
  double *latitude 0; double *longitude 0;
};
struct b__line {
  @int number 1; char *sku 1; char *description 1; int quantity 1; char *price 1; double weight 1; double *discount 0;
  double taxRate 1; enum xsd__boolean inStock 1; char *due 0;
};
struct b__totals { char *net 1; char *tax 1; char *gross 1; double weight 1; unsigned int parcels 1; double *discount 0; };
struct b__payment { char *method 1; char *reference 0; char *due 1; struct xsd__base64Binary signature 1; };
struct b__order {
  @LONG64 id 1; @char *currency 1;
  char *number 1; char *placed 1; int priority 1; enum xsd__boolean express 1; char *note 0;
  struct b__customer customer 1; struct b__address billing 1; struct b__address *shipping 0;
  int __sizeline; struct b__line *line; struct b__totals totals 1; struct b__payment payment 1;
};
