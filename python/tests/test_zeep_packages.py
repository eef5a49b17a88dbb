"""Packages of PyPI that depend on zeep, unmodified, with bsoap.zeep in its place.

Each runs in a process of its own, with zeep made impossible to import. `BSOAP_ZEEP_PACKAGES` names a folder that keeps what was installed.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from zeep_servers import corpus, serve

pytest.importorskip("lxml")
pytest.importorskip("requests")

PRELUDE = """
import os, sys, warnings
warnings.simplefilter("error", RuntimeWarning)
from bsoap import zeep as ours
ours.install()
import zeep
assert zeep is ours
URL = os.environ.get("URL", "")
"""


def installed(*names: str, needs: tuple[str, ...] = ()) -> pathlib.Path:
    """A folder with packages, installed without zeep."""
    base = pathlib.Path(
        os.environ.get("BSOAP_ZEEP_PACKAGES", pathlib.Path(tempfile.gettempdir(), "bsoap-zeep-packages"))
    )
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = base / f"{version}-{'-'.join(names)}".replace("=", "-")
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--target",
            str(folder),
        ]
        for arguments in ([*pip, "--no-deps", *names], [*pip, *needs] if needs else None):
            if arguments is None:
                continue
            try:
                done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
            except subprocess.TimeoutExpired:
                pytest.skip(f"{names} cannot be installed in time")
            if done.returncode:
                pytest.skip(f"{names} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
        (folder / "done").touch()
    return folder


def run(code: str, packages: pathlib.Path, **environment: Any) -> str:
    paths = [str(packages), str(pathlib.Path(__file__).parents[1])]
    variables = {name: str(value) for name, value in environment.items()}
    cleared = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(code)],
            env={**cleared, "PYTHONPATH": os.pathsep.join(paths), "XDG_CACHE_HOME": home, "HOME": home, **variables},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SERVICE = """<wsdl:service name="{name}"><wsdl:port name="{name}Port" binding="{binding}">
<soap:address location="http://127.0.0.1/onvif/{path}"/></wsdl:port></wsdl:service></wsdl:definitions>"""

PROFILE = {
    "@token": "main",
    "@fixed": True,
    "Name": "Main stream",
    "VideoEncoderConfiguration": {
        "@token": "enc",
        "Name": "H264",
        "UseCount": 1,
        "Encoding": "H264",
        "Resolution": {"Width": 1920, "Height": 1080},
        "Quality": 5.5,
        "Multicast": {"Address": {"Type": "IPv4", "IPv4Address": "0.0.0.0"}, "Port": 0, "TTL": 1, "AutoStart": False},
        "SessionTimeout": "PT60S",
    },
}

DATE = {
    "SystemDateAndTime": {
        "DateTimeType": "NTP",
        "DaylightSavings": False,
        "UTCDateTime": {"Time": {"Hour": 10, "Minute": 20, "Second": 30}, "Date": {"Year": 2024, "Month": 5, "Day": 6}},
    }
}


@pytest.fixture(scope="module")
def camera() -> Iterator[tuple[str, pathlib.Path]]:
    """The device and media services of a camera, from the WSDLs of ONVIF with addresses added."""
    with tempfile.TemporaryDirectory() as folder:
        wsdls = pathlib.Path(folder, "wsdl")
        shutil.copytree(corpus() / "onvif", wsdls)
        served = pathlib.Path(folder, "served")
        shutil.copytree(wsdls, served)
        for file, name, binding, path in (
            ("devicemgmt.wsdl", "Device", "tds:DeviceBinding", "device_service"),
            ("media.wsdl", "Media", "trt:MediaBinding", "media"),
        ):
            text = (served / file).read_text()
            end = text.rindex("</wsdl:definitions>")
            (served / file).write_text(text[:end] + SERVICE.format(name=name, binding=binding, path=path))
        media_answers = {
            "GetProfiles": {"Profiles": [PROFILE, {**PROFILE, "@token": "sub", "Name": "Sub stream"}]},
            "GetStreamUri": {
                "MediaUri": {
                    "Uri": "rtsp://127.0.0.1/main",
                    "InvalidAfterConnect": False,
                    "InvalidAfterReboot": True,
                    "Timeout": "PT0S",
                }
            },
        }
        with serve(served / "media.wsdl", media_answers) as media:
            answers = {
                "GetCapabilities": {
                    "Capabilities": {
                        "Media": {
                            "XAddr": media,
                            "StreamingCapabilities": {"RTPMulticast": False, "RTP_TCP": True, "RTP_RTSP_TCP": True},
                        }
                    }
                },
                "GetServices": {
                    "Service": [
                        {
                            "Namespace": "http://www.onvif.org/ver10/media/wsdl",
                            "XAddr": media,
                            "Version": {"Major": 2, "Minor": 60},
                        }
                    ]
                },
                "GetDeviceInformation": {
                    "Manufacturer": "bsoap",
                    "Model": "C1",
                    "FirmwareVersion": "1.0",
                    "SerialNumber": "7",
                    "HardwareId": "h",
                },
                "GetSystemDateAndTime": DATE,
                "GetHostname": {"HostnameInformation": {"FromDHCP": False, "Name": "camera"}},
                "SetHostname": {},
                "GetUsers": {"@fault": {"code": "Sender", "reason": "not authorized"}},
            }
            with serve(served / "devicemgmt.wsdl", answers) as device:
                yield device, wsdls


def test_onvif_zeep_controls_a_camera(camera: tuple[str, pathlib.Path]) -> None:
    url, wsdls = camera
    run(
        """
        from urllib.parse import urlparse
        from onvif import ONVIFCamera, ONVIFError
        at = urlparse(URL)
        camera = ONVIFCamera(at.hostname, at.port, "admin", "secret", os.environ["WSDLS"], adjust_time=True)
        info = camera.devicemgmt.GetDeviceInformation()
        assert (info.Manufacturer, info["Model"]) == ("bsoap", "C1"), info
        assert camera.devicemgmt.GetHostname().Name == "camera"
        assert camera.devicemgmt.SetHostname({"Name": "other"}) is None
        date = camera.devicemgmt.GetSystemDateAndTime()
        assert (date.UTCDateTime.Date.Year, date.UTCDateTime.Time.Hour, date.LocalDateTime) == (2024, 10, None)
        media = camera.create_media_service()
        profiles = media.GetProfiles()
        assert [profile.token for profile in profiles] == ["main", "sub"]
        encoder = profiles[0].VideoEncoderConfiguration
        assert (encoder.Resolution.Width, encoder.Quality, encoder.Encoding) == (1920, 5.5, "H264")
        request = media.create_type("GetStreamUri")
        request.ProfileToken = profiles[0].token
        request.StreamSetup = {"Stream": "RTP-Unicast", "Transport": {"Protocol": "RTSP"}}
        answer = media.GetStreamUri(request)
        assert answer.Uri == "rtsp://127.0.0.1/main"
        assert camera.to_dict(answer)["InvalidAfterReboot"] is True
        try:
            camera.devicemgmt.GetUsers()
        except ONVIFError as error:
            assert "not authorized" in str(error), error
        else:
            raise AssertionError("no fault")
        """,
        installed("onvif-zeep==0.2.12"),
        URL=url,
        WSDLS=wsdls,
    )


def test_onvif_zeep_async_controls_a_camera(camera: tuple[str, pathlib.Path]) -> None:
    url, _ = camera
    run(
        """
        import asyncio
        from urllib.parse import urlparse
        from onvif import ONVIFCamera
        at = urlparse(URL)

        async def main():
            camera = ONVIFCamera(at.hostname, at.port, "admin", "secret")
            await camera.update_xaddrs()
            device = await camera.create_devicemgmt_service()
            info = await device.GetDeviceInformation()
            assert (info.Manufacturer, info["Model"]) == ("bsoap", "C1"), info
            media = await camera.create_media_service()
            profiles = await media.GetProfiles()
            assert [profile.token for profile in profiles] == ["main", "sub"]
            request = media.create_type("GetStreamUri")
            request.ProfileToken = "main"
            request.StreamSetup = {"Stream": "RTP-Unicast", "Transport": {"Protocol": "RTSP"}}
            assert (await media.GetStreamUri(request)).Uri == "rtsp://127.0.0.1/main"
            date = await device.GetSystemDateAndTime()
            assert date.UTCDateTime.Time.Minute == 20
            try:
                await device.GetUsers()
            except zeep.exceptions.Fault as fault:
                assert fault.message == "not authorized", fault
            else:
                raise AssertionError("no fault")
            await camera.close()

        asyncio.run(main())
        """,
        installed("onvif-zeep-async==4.3.0", needs=("aiohttp", "ciso8601", "yarl", "isodate", "httpx")),
        URL=url,
    )


def test_python_stdnum_asks_for_the_validity_of_a_vat_number() -> None:
    wsdl = corpus() / "ruby-savon-wasabi-nori/savon/wsdl/vies.xml"
    answer = {
        "countryCode": "BE",
        "vatNumber": "0555445",
        "requestDate": "2024-05-06+02:00",
        "valid": True,
        "name": "A company",
        "address": "A street",
    }
    with serve(wsdl, {"checkVat": answer}) as url:
        run(
            """
            import datetime
            from stdnum.eu import vat
            vat.vies_wsdl = URL + "?wsdl"
            found = vat.check_vies("BE 555445")
            assert found["valid"] is True and found.name == "A company", found
            assert found.requestDate == datetime.date(2024, 5, 6), found
            """,
            installed("python-stdnum==2.2"),
            URL=url,
        )


def test_simple_salesforce_administrates_metadata() -> None:
    folder = installed("simple-salesforce==1.12.10", needs=("more-itertools", "pyjwt", "cryptography"))
    answers = {
        "describeMetadata": {
            "result": {
                "organizationNamespace": "",
                "partialSaveAllowed": True,
                "testRequired": False,
                "metadataObjects": [
                    {
                        "directoryName": "objects",
                        "inFolder": False,
                        "metaFile": False,
                        "suffix": "object",
                        "xmlName": "CustomObject",
                        "childXmlNames": ["CustomField", "Index"],
                    }
                ],
            }
        },
        "createMetadata": {"result": [{"fullName": "Thing__c", "success": True}]},
        "deleteMetadata": {
            "result": [
                {
                    "fullName": "Thing__c",
                    "success": False,
                    "errors": [{"message": "no such thing", "statusCode": "INVALID_CROSS_REFERENCE_KEY"}],
                }
            ]
        },
        "readMetadata": {
            "result": {
                "records": [
                    {"@type": "CustomObject", "fullName": "Thing__c", "label": "Thing", "pluralLabel": "Things"}
                ]
            }
        },
        "listMetadata": {"result": []},
    }
    with serve(folder / "simple_salesforce/metadata.wsdl", answers) as url:
        run(
            """
            import requests
            from simple_salesforce.metadata import SfdcMetadataApi
            api = SfdcMetadataApi(requests.Session(), "session", "instance", URL, {}, "59.0")
            described = api.describe_metadata()
            assert described.metadataObjects[0].xmlName == "CustomObject", described
            assert described.metadataObjects[0].childXmlNames == ["CustomField", "Index"]
            thing = api.CustomObject(
                fullName="Thing__c",
                label="Thing",
                pluralLabel="Things",
                nameField=api.CustomField(label="Name", type="Text"),
                deploymentStatus="Deployed",
                sharingModel="Read",
            )
            assert api.CustomObject.create(thing) is None
            read = api.CustomObject.read("Thing__c")
            assert (read.fullName, read.label, read.pluralLabel) == ("Thing__c", "Thing", "Things"), read
            assert type(read).__name__ == "CustomObject"
            try:
                api.CustomObject.delete("Thing__c")
            except Exception as error:
                assert "no such thing" in str(error), error
            else:
                raise AssertionError("no error")
            """,
            folder,
            URL=url,
        )
