// node-soap calls a mesh service: every operation, both versions of SOAP, and the declared fault.
//
//   node node_client.js WSDL ADDRESS_11 ADDRESS_12
//
// Prints one line and exits with 0 when all answers are right. Finds the package `soap` by NODE_PATH.

const assert = require("node:assert/strict");
const soap = require("soap");
const mesh = require("./numbers_of_a_mesh.js");

async function check(client) {
  // Each call's result is [value, envelope, …].
  const call = async (operation, values) => (await client[operation + "Async"](values))[0];
  const doubles = mesh.hardDoubles(500);
  assert.deepEqual((await call("echoDoubles", { values: { item: doubles } })).values.item, doubles);
  assert.deepEqual((await call("echoInts", { values: { item: mesh.ints } })).values.item, mesh.ints);
  const objects = doubles.slice(0, 50).map((value, i) => ({ x: i, y: 7 - i, value }));
  assert.deepEqual((await call("echoMesh", { objects: { item: objects } })).objects.item, objects);
  assert.equal((await call("sumDoubles", { values: { item: [1.5, 2.25, -0.75] } })).sum, 3);
  // An xsd:long is a text in node-soap: it can be larger than a number of JavaScript holds.
  assert.equal(Number((await call("sumInts", { values: { item: mesh.ints } })).sum), mesh.sum(mesh.ints));

  const field = Array(20).fill(0).fill(1, 0, 5);
  const step = await call("jacobiStep", { rows: 4, columns: 5, field: { item: field } });
  assert.deepEqual(step, mesh.jacobi(4, 5, field));
  const wrong = call("jacobiStep", { rows: 3, columns: 3, field: { item: [1] } });
  await assert.rejects(wrong, (error) => {
    const fault = error.root.Envelope.Body.Fault;
    const { badShape } = fault.detail ?? fault.Detail;
    assert.deepEqual([Number(badShape.expected), Number(badShape.found)], [9, 1]);
    return true;
  });
}

async function main(wsdl, ...addresses) {
  for (const [address, forceSoap12Headers] of [[addresses[0], false], [addresses[1], true]]) {
    const client = await soap.createClientAsync(wsdl, { forceSoap12Headers }, address);
    const port = client.MeshService[forceSoap12Headers ? "MeshSoap12" : "MeshSoap11"];
    for (const [name, method] of Object.entries(port)) {
      // By the port: the client itself calls that of the WSDL's first port.
      client[name + "Async"] = (values) =>
        new Promise((resolve, reject) => {
          method(values, (error, ...answer) => (error ? reject(error) : resolve(answer)));
        });
    }
    await check(client);
  }
  console.log("node-soap and the service agree");
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error.body ?? "", error.stack ?? error);
  process.exit(1);
});
