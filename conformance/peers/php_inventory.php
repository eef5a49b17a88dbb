<?php
// PHP's side of rpc/encoded messages.
//
//   BSOAP_INVENTORY_WSDL=inventory.wsdl php -S 127.0.0.1:PORT php_inventory.php    serves
//   BSOAP_INVENTORY_WSDL=inventory.wsdl php php_inventory.php ADDRESS              calls a service and checks the answers

class Inventory
{
    public function echoItem($item)
    {
        return $item;
    }

    public function echoItems($items)
    {
        return $items;
    }

    public function echoDoubles($values)
    {
        return $values;
    }

    public function refuse($reason)
    {
        throw new SoapFault("Client", $reason, null, (object) ["code" => 7]);
    }
}

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
    $bolt = ["name" => "bolt Łódź & <co>", "count" => -7, "price" => "12345678901234567890.125", "made" => "2023-11-14T22:13:20.5Z"];
    $bolt = (object) ($bolt + ["note" => null]);
    $nut = ["name" => "nut", "count" => 2147483647, "price" => "0.1", "made" => "2024-02-29T00:00:00+01:00", "note" => ""];
    $nut = (object) ($nut + ["related" => $bolt]);
    $bolt->related = $nut;
    $found = $client->echoItem($bolt);
    same($found->related->related === $found, true, "echoItem: the cycle");
    foreach (["name", "count", "price", "note"] as $member) {
        same($found->$member, $bolt->$member, "echoItem $member");
    }
    same([$found->made, $found->related->made], [$bolt->made, $nut->made], "echoItem made");
    same($found->related->note, "", "echoItem: an empty note");
    $items = $client->echoItems([$nut, $bolt, $nut]);
    same($items[0] === $items[2] && $items[1]->related === $items[0], true, "echoItems: what is shared");
    same(count($items), 3, "echoItems");
    $values = array_map(fn($i) => (1.0 + $i / 3.0) * 2.0 ** ($i % 600 - 300), range(0, 99999));
    same($client->echoDoubles($values), $values, "echoDoubles");
    same($client->echoDoubles([]), [], "echoDoubles of none");
    try {
        $client->refuse("no ü");
        same(false, true, "refuse: no fault");
    } catch (SoapFault $fault) {
        same($fault->faultstring, "no ü", "refuse");
        same((int) ($fault->detail->problem->code ?? $fault->detail->code ?? 0), 7, "refuse: the detail");
    }
}

ini_set("precision", "17");
ini_set("serialize_precision", "-1");
$options = ["cache_wsdl" => WSDL_CACHE_NONE, "features" => SOAP_SINGLE_ELEMENT_ARRAYS];
$wsdl = getenv("BSOAP_INVENTORY_WSDL");
if (PHP_SAPI === "cli") {
    check(new SoapClient($wsdl, $options + ["location" => $argv[1]]));
    check(new SoapClient($wsdl, $options + ["location" => $argv[1], "compression" => SOAP_COMPRESSION_ACCEPT | SOAP_COMPRESSION_GZIP]));
} else {
    $server = new SoapServer($wsdl, $options);
    $server->setClass(Inventory::class);
    $server->handle();
}
