"""An inventory of cameras: asks many ONVIF devices at once, with asyncio and a UsernameToken.

    python examples/python/onvif.py --demo 12
    python examples/python/onvif.py --user admin --password secret http://192.168.0.51/onvif/device_service …

The WSDL is ONVIF's devicemgmt.wsdl (``--wsdl``). With ``--demo`` the cameras are a local service of this program.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import datetime
import hashlib
import os
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import bsoap

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("BSOAP_CORPUS", ROOT.parent / "shared/corpus"))


class Camera(NamedTuple):
    address: str
    model: str
    firmware: str
    serial: str
    clock: datetime.timedelta | None
    problem: str | None = None


async def ask(client: bsoap.AsyncClient, address: str) -> Camera:
    """What one camera says about itself."""
    try:
        # One client for all: the address is given per call.
        device, clock = await asyncio.gather(
            client.call("GetDeviceInformation", endpoint=address, timeout=5),
            client.call("GetSystemDateAndTime", endpoint=address, timeout=5),
        )
    except bsoap.Fault as fault:
        return Camera(address, "", "", "", None, f"refused: {fault}")
    except bsoap.TransportError as error:
        return Camera(address, "", "", "", None, "no answer in time" if error.is_timeout else "not reachable")
    except bsoap.Error as error:
        return Camera(address, "", "", "", None, str(error).splitlines()[0])
    now = clock.SystemDateAndTime.UTCDateTime
    ahead = None
    if now is not None:
        day, hour = now.Date, now.Time
        shown = datetime.datetime(
            day.Year, day.Month, day.Day, hour.Hour, hour.Minute, hour.Second, tzinfo=datetime.UTC
        )
        ahead = shown - datetime.datetime.now(datetime.UTC)
    return Camera(address, f"{device.Manufacturer} {device.Model}", device.FirmwareVersion, device.SerialNumber, ahead)


async def inventory(wsdl: Path, addresses: list[str], user: str, password: str, at_once: int = 50) -> list[Camera]:
    token = bsoap.UsernameToken(user, password, digest=True, nonce=True)
    client = bsoap.AsyncClient(wsdl, wsse=token, retries=1)
    limit = asyncio.Semaphore(at_once)

    async def one(address: str) -> Camera:
        async with limit:
            return await ask(client, address)

    return await asyncio.gather(*map(one, addresses))


def report(cameras: list[Camera]) -> str:
    lines = []
    for camera in cameras:
        if camera.problem:
            lines.append(f"{camera.address:45} {camera.problem}")
            continue
        late = (
            ""
            if camera.clock is None or abs(camera.clock.total_seconds()) < 60
            else f"  clock {camera.clock.total_seconds():+.0f} s"
        )
        lines.append(f"{camera.address:45} {camera.model:22} {camera.firmware:8} {camera.serial}{late}")
    return "\n".join(lines)


# The cameras of --demo.

ANSWER = (
    '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope" xmlns:d="http://www.onvif.org/ver10/device/wsdl"'
    ' xmlns:t="http://www.onvif.org/ver10/schema"><e:Body>{}</e:Body></e:Envelope>'
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        number = int(self.path.strip("/") or 0)
        status = 200
        if not _is_allowed(text, "secret" if number % 7 else "other"):
            status = 400
            body = (
                "<e:Fault><e:Code><e:Value>e:Sender</e:Value></e:Code>"
                '<e:Reason><e:Text xml:lang="en">Sender not Authorized</e:Text></e:Reason></e:Fault>'
            )
        elif "GetDeviceInformation" in text:
            body = (
                "<d:GetDeviceInformationResponse><d:Manufacturer>Example</d:Manufacturer>"
                f"<d:Model>Dome {100 + number}</d:Model><d:FirmwareVersion>2.{number % 4}</d:FirmwareVersion>"
                f"<d:SerialNumber>SN{number:05}</d:SerialNumber><d:HardwareId>1</d:HardwareId></d:GetDeviceInformationResponse>"
            )
        else:
            now = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=number == 3)
            body = (
                "<d:GetSystemDateAndTimeResponse><d:SystemDateAndTime><t:DateTimeType>NTP</t:DateTimeType>"
                "<t:DaylightSavings>false</t:DaylightSavings><t:UTCDateTime>"
                f"<t:Time><t:Hour>{now.hour}</t:Hour><t:Minute>{now.minute}</t:Minute><t:Second>{now.second}</t:Second></t:Time>"
                f"<t:Date><t:Year>{now.year}</t:Year><t:Month>{now.month}</t:Month><t:Day>{now.day}</t:Day></t:Date>"
                "</t:UTCDateTime></d:SystemDateAndTime></d:GetSystemDateAndTimeResponse>"
            )
        data = ANSWER.format(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/soap+xml; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _is_allowed(text: str, password: str) -> bool:
    """Whether the digest of a UsernameToken is right: SHA-1 of nonce, time and password."""
    found = [re.search(rf"<(?:\w+:)?{name}\b[^>]*>([^<]*)<", text) for name in ("Nonce", "Created", "Password")]
    if None in found:
        return False
    nonce, created, digest = (match[1] for match in found if match)
    made = hashlib.sha1(base64.b64decode(nonce) + created.encode() + password.encode()).digest()
    return base64.b64encode(made).decode() == digest


@contextlib.contextmanager
def cameras(count: int) -> Iterator[list[str]]:
    """The addresses of cameras that run meanwhile, and of one that does not."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield [f"http://127.0.0.1:{server.server_port}/{number}" for number in range(1, count + 1)] + [
            "http://127.0.0.1:9/"
        ]
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("addresses", nargs="*", help="the device services of the cameras")
    parser.add_argument("--demo", type=int, metavar="COUNT", help="asks so many cameras of a local service")
    parser.add_argument("--wsdl", type=Path, default=CORPUS / "onvif/devicemgmt.wsdl")
    parser.add_argument("--user", default="admin")
    parser.add_argument("--password", default="secret")
    options = parser.parse_args()
    with cameras(options.demo) if options.demo else contextlib.nullcontext(options.addresses) as addresses:
        began = time.perf_counter()
        found = asyncio.run(inventory(options.wsdl, addresses, options.user, options.password))
        took = time.perf_counter() - began
    print(report(found))
    answered = sum(camera.problem is None for camera in found)
    print(f"{answered} of {len(found)} cameras in {took:.2f} s")


if __name__ == "__main__":
    main()
