<?php
// A mesh service of PHP's SoapServer, SOAP 1.1 and 1.2 by the request. BSOAP_MESH_WSDL names its WSDL.
//
//   BSOAP_MESH_WSDL=mesh.wsdl php -S 127.0.0.1:PORT php_server.php

require __DIR__ . "/numbers_of_a_mesh.php";

class Mesh
{
    private static function items(object $array): array
    {
        return $array->item ?? [];
    }

    public function echoDoubles($all)
    {
        return ["values" => ["item" => self::items($all->values)]];
    }

    public function echoInts($all)
    {
        return ["values" => ["item" => self::items($all->values)]];
    }

    public function echoMesh($all)
    {
        return ["objects" => ["item" => self::items($all->objects)]];
    }

    public function sumDoubles($all)
    {
        return ["sum" => array_sum(self::items($all->values))];
    }

    public function sumInts($all)
    {
        return ["sum" => array_sum(self::items($all->values))];
    }

    public function jacobiStep($all)
    {
        $field = self::items($all->field);
        if ($all->rows * $all->columns !== count($field)) {
            $shape = ["expected" => $all->rows * $all->columns, "found" => count($field)];
            throw new SoapFault("Client", "the field has another shape", null, $shape, "badShape");
        }
        [$new, $residual] = jacobi($all->rows, $all->columns, $field);
        return ["field" => ["item" => $new], "residual" => $residual];
    }
}

ini_set("precision", "17");
ini_set("serialize_precision", "-1");
$version = str_contains($_SERVER["HTTP_CONTENT_TYPE"] ?? "", "application/soap+xml") ? SOAP_1_2 : SOAP_1_1;
$server = new SoapServer(getenv("BSOAP_MESH_WSDL"), ["soap_version" => $version, "cache_wsdl" => WSDL_CACHE_NONE,
    "features" => SOAP_SINGLE_ELEMENT_ARRAYS]);
$server->setClass(Mesh::class);
$server->handle();
