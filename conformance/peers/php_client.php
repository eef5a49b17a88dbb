<?php
// PHP's SoapClient calls a mesh service: every operation, both versions of SOAP, and the declared fault.
//
//   php php_client.php WSDL ADDRESS_11 ADDRESS_12
//
// Prints one line and exits with 0 when all answers are right.

require __DIR__ . "/numbers_of_a_mesh.php";

function same($found, $expected, string $what): void
{
    if ($found !== $expected) {
        $text = fn($value) => substr(var_export($value, true), 0, 1000);
        fwrite(STDERR, "$what: {$text($found)} is not {$text($expected)}\n");
        exit(1);
    }
}

function check(SoapClient $client): void
{
    $doubles = hard_doubles(500);
    same(bits($client->echoDoubles(["values" => ["item" => $doubles]])->values->item), bits($doubles), "echoDoubles");
    same($client->echoInts(["values" => ["item" => ints()]])->values->item, ints(), "echoInts");
    $objects = array_map(fn($i) => ["x" => $i, "y" => -$i, "value" => $doubles[$i]], range(0, 49));
    $answer = $client->echoMesh(["objects" => ["item" => $objects]])->objects->item;
    same(array_map(fn($object) => (array) $object, $answer), $objects, "echoMesh");
    same($client->sumDoubles(["values" => ["item" => [1.5, 2.25, -0.75]]])->sum, 3.0, "sumDoubles");
    same($client->sumInts(["values" => ["item" => ints()]])->sum, array_sum(ints()), "sumInts");

    $field = [...array_fill(0, 5, 1.0), ...array_fill(0, 15, 0.0)];
    $step = $client->jacobiStep(["rows" => 4, "columns" => 5, "field" => ["item" => $field]]);
    same([$step->field->item, $step->residual], jacobi(4, 5, $field), "jacobiStep");
    try {
        $client->jacobiStep(["rows" => 3, "columns" => 3, "field" => ["item" => [1.0]]]);
        same("an answer", "a fault", "a field of the wrong shape");
    } catch (SoapFault $fault) {
        $shape = (array) $fault->detail->badShape;
        same([(int) $shape["expected"], (int) $shape["found"]], [9, 1], "badShape");
    }
}

ini_set("precision", "17");
ini_set("serialize_precision", "-1");
[, $wsdl, $address11, $address12] = $argv;
foreach ([SOAP_1_1 => $address11, SOAP_1_2 => $address12] as $version => $address) {
    check(new SoapClient($wsdl, ["soap_version" => $version, "location" => $address, "cache_wsdl" => WSDL_CACHE_NONE,
        "features" => SOAP_SINGLE_ELEMENT_ARRAYS]));
}
echo "PHP and the service agree\n";
