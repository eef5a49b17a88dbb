"""The server of `rpc` as users of the Python package write it. Answers with what it was sent.

python server.py WSDL: prints its address; ends with its input.
"""

import os
import sys

import bsoap


def serve(path):
    service = bsoap.Service(path)

    @service.operation
    def doubles(item):
        return {"item": item}

    @service.operation
    def ints(item):
        return {"item": item}

    @service.operation
    def order(request):
        return request

    return service


def wait_for_input():
    sys.stdin.read()
    os._exit(0)


def main():
    with serve(sys.argv[1]).start() as running:
        print(running.url.split("/")[2], flush=True)
        wait_for_input()


if __name__ == "__main__":
    main()
