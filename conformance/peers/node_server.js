// A mesh service of node-soap, SOAP 1.1.
//
//   node node_server.js WSDL
//
// Prints its port, and ends with its input. Finds the package `soap` by NODE_PATH.

const fs = require("node:fs");
const http = require("node:http");
const soap = require("soap");
const mesh = require("./numbers_of_a_mesh.js");

/** What may repeat: node-soap gives a value that occurs once without an array. */
const items = (array) => (array?.item === undefined ? [] : [].concat(array.item));

const port = {
  echoDoubles: ({ values }) => ({ values: { item: items(values) } }),
  echoInts: ({ values }) => ({ values: { item: items(values) } }),
  echoMesh: ({ objects }) => ({ objects: { item: items(objects) } }),
  sumDoubles: ({ values }) => ({ sum: mesh.sum(items(values)) }),
  sumInts: ({ values }) => ({ sum: mesh.sum(items(values)) }),
  jacobiStep: ({ rows, columns, field }) => {
    const values = items(field);
    if (rows * columns === values.length) return mesh.jacobi(rows, columns, values);
    throw {
      Fault: {
        faultcode: "soap:Client",
        faultstring: "the field has another shape",
        detail: { "tns:badShape": { expected: rows * columns, found: values.length } },
      },
    };
  },
};

const server = http.createServer();
server.listen(0, "127.0.0.1", () => {
  soap.listen(server, "/mesh", { MeshService: { MeshSoap11: port } }, fs.readFileSync(process.argv[2], "utf8"));
  console.log(server.address().port);
});
process.stdin.resume().on("end", () => process.exit(0));
