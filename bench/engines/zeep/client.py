"""zeep as a client of `rpc`: calls a server with the values of given messages, in turn.

Reads requests and writes answers on standard input and output, a line of JSON each:
prepare (wsdl, service, address, text), answer, run (times).
"""

import json
import struct
import sys
import time

import requests
import zeep
from lxml import etree
from zeep.helpers import serialize_object


class Caller:
    def __init__(self, request):
        session = requests.Session()
        # Nobody compresses what stays on one machine.
        session.headers["Accept-Encoding"] = "identity"
        self.client = zeep.Client(request["wsdl"], transport=zeep.Transport(session=session))
        self.service = self.client.create_service(request["binding"], request["address"])
        self.arguments = [self.arguments_of(message) for message in messages(request["text"])]
        self.next = 0

    def arguments_of(self, message):
        """The operation's name, and what a message says as arguments."""
        (element,) = etree.fromstring(message).find("{*}Body")
        value = self.client.get_element(element.tag).parse(element, self.client.wsdl.types)
        return etree.QName(element).localname, serialize_object(value, dict)

    def call(self):
        operation, arguments = self.arguments[self.next % len(self.arguments)]
        self.next += 1
        return arguments, self.service[operation](**arguments)

    def answer(self):
        for _ in self.arguments:
            arguments, answer = self.call()
            answer = serialize_object(answer, dict)
            # An element with one child comes back as that child.
            if answer != arguments and [answer] != list(arguments.values()):
                return {"right": False}
        return {"right": True}

    def run(self, times):
        calls = []
        cpu = time.process_time_ns()
        start = time.perf_counter_ns()
        for _ in range(times):
            before = time.perf_counter_ns()
            self.call()
            calls.append(time.perf_counter_ns() - before)
        return {"ns": time.perf_counter_ns() - start, "cpu_ns": time.process_time_ns() - cpu, "calls": calls}


def messages(path):
    with open(path, "rb") as file:
        while length := file.read(4):
            yield file.read(struct.unpack("<I", length)[0])


def main():
    caller = None
    for line in sys.stdin:
        request = json.loads(line)
        match request["do"]:
            case "prepare":
                caller = Caller(request)
                answer = {}
            case "answer":
                answer = caller.answer()
            case "run":
                answer = caller.run(request["times"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
