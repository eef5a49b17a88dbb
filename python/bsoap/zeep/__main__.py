"""``python -m bsoap.zeep service.wsdl`` describes a WSDL as ``python -m zeep`` does."""

from __future__ import annotations

import argparse

from . import Client


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bsoap.zeep", description=__doc__)
    parser.add_argument("wsdl_file", help="path or URL of the WSDL")
    Client(parser.parse_args().wsdl_file).wsdl.dump()


if __name__ == "__main__":
    main()
