"""Attachments: MTOM, SOAP with Attachments and swaRef, between our own client and service."""

import asyncio
import copy
import functools
import gzip
import io
import os
import shutil
import sys
import threading
import urllib.parse
import zipfile
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import bsoap
import pytest
from bsoap import codec
from conftest import ROOT

PHOTOS = ROOT / "examples/photos/photos.wsdl"


def octets(length):
    return bytes((at * 7 + at // 251) % 256 for at in range(min(length, 10_000))) * (length // 10_000 + 1)


def content(length):
    return octets(length)[:length]


def photos(**options):
    service = bsoap.Service(PHOTOS, **options)

    @service.operation
    def store(name, photo):
        return len(bytes(photo))

    @service.operation
    def echo(photo):
        return {"photo": photo}

    @service.operation
    def send(document, context):
        context.attach(context.attachment(document))
        return document

    return service


def temporary_files(folder):
    """The open files of this process in a folder that have no names, or not any more."""
    opened = Path("/proc/self/fd")
    if not opened.exists():
        pytest.skip("only Linux says which files are open")
    # That of the list itself is closed by now.
    numbers = [name for name in os.listdir(opened) if os.path.lexists(opened / name)]
    return [opened / name for name in numbers if os.readlink(opened / name).startswith(f"{folder}/")]


@pytest.fixture(scope="module")
def url():
    with photos().start("127.0.0.1:0") as running:
        yield running.url


def test_binary_values_are_sent_beside_the_message_and_are_read_like_files(url, tmp_path):
    file = tmp_path / "photo.png"
    file.write_bytes(content(3 << 20))
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, binary="file")
    with open(file, "rb") as opened:
        given = [
            content(100),
            content(100_000),
            file,
            opened,
            bsoap.Attachment(b"small", "text/plain"),
            bsoap.Attachment(file, content_type="image/png", content_id="photo@example.org"),
        ]
        answer = client.exchange("echo", {"photo": given})
    echoed = answer.value.photo
    assert all(isinstance(photo, bsoap.Attachment) for photo in echoed)
    large = content(3 << 20)
    assert [bytes(photo) for photo in echoed] == [content(100), content(100_000), large, large, b"small", large]
    assert [photo.size for photo in echoed[1:]] == [100_000, 3 << 20, 3 << 20, 5, 3 << 20]
    assert [photo.content_type for photo in answer.attachments] == ["application/octet-stream"] * 4
    assert "application/xop+xml" in answer.http_headers["content-type"]
    # Those of the threshold and longer.
    assert len(answer.attachments) == 4

    photo = echoed[2]
    assert (photo.read(10), photo.read(5), photo.tell()) == (large[:10], large[10:15], 15)
    assert photo.seek(-5, os.SEEK_END) == (3 << 20) - 5
    assert (photo.read(), photo.read(), photo.read(1)) == (large[-5:], b"", b"")
    photo.seek(2)
    assert photo.read(3) == large[2:5]
    saved = tmp_path / "saved"
    assert photo.save(saved) == len(large)
    assert saved.read_bytes() == large
    photo.seek(0)
    with open(tmp_path / "copied", "wb") as target:
        shutil.copyfileobj(photo, target)
    assert (tmp_path / "copied").read_bytes() == large
    assert "3145728 bytes" in repr(photo)


def test_without_mtom_files_are_base64_text(url, tmp_path):
    file = tmp_path / "photo"
    file.write_bytes(content(300_001))
    client = bsoap.Client(PHOTOS, endpoint=url)
    assert client.service.store("a", file) == 300_001
    assert client.service.store("a", io.BytesIO(content(1000))) == 1000
    assert client.service.store("a", bsoap.Attachment(b"12345")) == 5
    assert client.last_answer.attachments == []


def test_values_below_the_threshold_stay_in_the_message(url):
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, attachment_threshold=10, keep_envelopes=True)
    answer = client.exchange("echo", {"photo": [b"123456789", b"1234567890"]})
    assert answer.sent.count(b"Include") == 1
    assert answer.value.photo == [b"123456789", b"1234567890"]


def test_an_attachment_that_came_is_sent_on(url):
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, binary="file")
    echoed = client.call("echo", {"photo": [content(2 << 20)]})
    assert client.service.store("a", echoed.photo[0]) == 2 << 20
    assert client.call("echo", echoed).photo[0].read(4) == content(4)


def test_a_file_is_sent_from_where_it_is_and_a_pipe_to_its_end(url):
    class Pipe:
        def __init__(self):
            self.left = 100_000

        def read(self, size):
            size = min(size, self.left, 1000)
            self.left -= size
            return b"x" * size

    for mtom in (True, False):
        client = bsoap.Client(PHOTOS, endpoint=url, mtom=mtom)
        file = io.BytesIO(content(10_000))
        file.seek(4000)
        assert client.service.store("a", file) == 6000
        assert client.service.store("a", Pipe()) == 100_000


def test_what_cannot_be_sent_is_refused_with_the_reason(url, tmp_path):
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True)
    with pytest.raises(FileNotFoundError, match="missing") as caught:
        client.service.store("a", tmp_path / "missing")
    assert caught.value.filename == str(tmp_path / "missing")
    with pytest.raises(OSError, match="is not a file"):
        client.service.store("a", tmp_path)
    with pytest.raises(TypeError, match="binary mode"):
        client.service.store("a", io.StringIO("text"))
    with pytest.raises(TypeError, match="pathlib.Path"):
        bsoap.Attachment("photo.png")
    with pytest.raises(bsoap.EncodeError, match="name"):
        client.service.store(io.BytesIO(b"a name is no file"), b"")

    class Broken:
        def read(self, size):
            if size == 0:
                return b""
            raise RuntimeError("the disk is broken")

    with pytest.raises(bsoap.TransportError, match="the disk is broken"):
        client.service.store("a", Broken())
    with pytest.raises(ValueError, match="memory, directory"):
        bsoap.Client(PHOTOS, endpoint=url, attachments={"memroy": 1})


def test_documents_beside_the_message_are_found_by_their_uri_or_part(url):
    client = bsoap.Client(PHOTOS, endpoint=url)
    document = bsoap.Attachment(content(5000), "application/pdf", "a+b@example.org")
    answers = [
        client.exchange("send", {"document": document}),
        client.exchange("send", {"document": "cid:a+b@example.org"}, attachments=[document]),
    ]
    for answer in answers:
        received = answer.attachment(answer.value.document)
        assert (received.content_type, received.content_id) == ("application/pdf", "a+b@example.org")
        assert received.read() == content(5000)
    assert answers[0].attachment("other") is None
    with pytest.raises(bsoap.EncodeError, match="content id"):
        client.service.send(bsoap.Attachment(b"without an id"))

    service = bsoap.Service(PHOTOS)
    seen = []

    @service.operation
    def echo(photo, context):
        seen.append((context.attachment("body").read(), [part.content_type for part in context.attachments]))
        return {"photo": []}

    with service.start("127.0.0.1:0") as running:
        client = bsoap.Client(PHOTOS, endpoint=running.url)
        client.service.echo(_attachments={"body": bsoap.Attachment(b"by its part", "text/plain")})
    assert seen == [(b"by its part", ["text/plain"])]


def test_answers_with_attachments_can_be_refused_and_limited(url):
    request = {"photo": [content(100_000)]}
    with pytest.raises(bsoap.Error, match="multipart/related"):
        bsoap.Client(PHOTOS, endpoint=url, mtom=True, attachments=False).call("echo", request)
    small = bsoap.Client(PHOTOS, endpoint=url, mtom=True, attachments={"attachment_bytes": 50_000})
    with pytest.raises(bsoap.Error, match="50000"):
        small.call("echo", request)
    with photos(attachments=False).start("127.0.0.1:0") as running:
        with pytest.raises(bsoap.DecodeError, match="415.*send the message alone"):
            bsoap.Client(PHOTOS, endpoint=running.url, mtom=True).call("echo", request)


def test_long_attachments_are_in_temporary_files_which_are_deleted(url, tmp_path):
    limits = {"directory": tmp_path, "memory": 1000}
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, attachments=limits, binary="file")
    answer = client.exchange("echo", {"photo": [content(100_000)]})
    assert len(temporary_files(tmp_path)) == 1
    assert list(tmp_path.iterdir()) == []
    photo = answer.value.photo[0]
    client.last_answer = None
    del answer
    assert photo.read() == content(100_000)
    del photo
    assert temporary_files(tmp_path) == []


def test_asyncio_and_other_servers_have_attachments_too(tmp_path):
    service = bsoap.Service(PHOTOS, attachments={"memory": 1000})

    @service.operation
    async def echo(photo):
        await asyncio.sleep(0)
        return {"photo": [bytes(photo[0]), *photo[1:]]}

    async def called(url):
        client = bsoap.AsyncClient(PHOTOS, endpoint=url, mtom=True)
        file = tmp_path / "photo"
        file.write_bytes(content(200_000))
        with open(file, "rb") as opened:
            answer = await client.call("echo", {"photo": [content(8000), file, opened]})
        return [bytes(photo) for photo in answer.photo]

    with service.start("127.0.0.1:0") as running:
        assert asyncio.run(called(running.url)) == [content(8000), content(200_000), content(200_000)]


def test_under_wsgi_answers_with_temporary_files_are_whole(url):
    service = photos(attachments={"memory": 1000})

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_):
            pass

    with make_server("127.0.0.1", 0, service.wsgi, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        path = urllib.parse.urlparse(url).path
        client = bsoap.Client(PHOTOS, endpoint=f"http://127.0.0.1:{server.server_port}{path}", mtom=True)
        echoed = client.call("echo", {"photo": [content(300_000), content(5000)]})
        assert [bytes(photo) for photo in echoed.photo] == [content(300_000), content(5000)]
        server.shutdown()


def test_messages_without_a_package_have_the_octets_in_them(url, tmp_path):
    file = tmp_path / "photo"
    file.write_bytes(b"12345")
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True)
    assert b">MTIzNDU=<" in client.create_message("store", name="a", photo=file)
    template = codec.Template(PHOTOS, "store")
    assert b">MTIzNDU=<" in template.encode({"name": "a", "photo": io.BytesIO(b"12345")})


def test_tables_have_the_octets_of_attachments(url):
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, attachment_threshold=10)
    answer = client.exchange("echo", {"photo": [b"12", content(8000)]})
    table = answer.table("photo")
    pyarrow = pytest.importorskip("pyarrow")
    (column,) = pyarrow.table(table).to_pydict().values()
    assert column == [b"12", content(8000)]


def test_tables_have_no_more_octets_of_attachments_than_values(url):
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, max_response=100_000, binary="file")
    photo = content(60_000)
    assert len(client.exchange("echo", {"photo": [photo, b"inline"]}).table("photo")) == 2
    answer = client.exchange("echo", {"photo": [photo, photo]})
    for path in ("photo", None):
        with pytest.raises(bsoap.LimitError, match=r"/photo\[2\].*120000 bytes.*100000.*max_response=… accepts more"):
            answer.table(path)


def test_each_reference_to_one_attachment_counts():
    include = '<photo><x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:a"/></photo>'
    root = (
        '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><echoResponse xmlns="urn:bsoap:photos">'
        f"{include * 1000}</echoResponse></s:Body></s:Envelope>"
    )
    parts = [("root", "application/xop+xml", root.encode()), ("a", "image/png", content(100_000))]
    body = b"".join(
        f"--b\r\nContent-Type: {kind}\r\nContent-ID: <{name}>\r\n\r\n".encode() + octets + b"\r\n"
        for name, kind, octets in parts
    )
    kind = 'multipart/related; boundary=b; type="application/xop+xml"'
    client = bsoap.Client(PHOTOS, endpoint="http://127.0.0.1:9/", max_response=1 << 20)
    answer = client.read_answer("echo", body + b"--b--", content_type=kind)
    for read in (lambda: answer.value, lambda: answer.table("photo"), answer.table):
        with pytest.raises(bsoap.LimitError, match="1100000 bytes came beside the message"):
            read()


def test_objects_with_attachments_are_copied(url):
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, binary="file")
    echoed = client.call("echo", {"photo": [content(8000)]})
    copied = copy.deepcopy(echoed)
    assert bytes(copied.photo[0]) == content(8000)


@pytest.mark.parametrize("of_client", [True, False])
@pytest.mark.parametrize("of_service", [True, False])
@pytest.mark.parametrize("is_file", [True, False])
def test_a_program_does_not_depend_on_how_its_peer_sends(of_client, of_service, is_file):
    """One program, and peers that send in the message or beside it."""
    kinds = []
    service = bsoap.Service(PHOTOS, mtom=of_service or None, binary="file" if is_file else "bytes")

    @service.operation
    def store(name, photo):
        kinds.append(type(photo))
        return len(bytes(photo))

    @service.operation
    def echo(photo):
        kinds.extend(map(type, photo))
        return {"photo": photo}

    given = [b"", b"short", content(100_000), content(2 << 20)]
    with service.start("127.0.0.1:0") as running:
        client = bsoap.Client(PHOTOS, endpoint=running.url, mtom=of_client)
        assert [client.service.store("a", photo) for photo in given] == list(map(len, given))
        answer = client.exchange("echo", {"photo": given})
        assert ("multipart" in answer.http_headers["content-type"]) == (of_client or of_service)
        assert answer.value.photo == given
        files = client.call("echo", {"photo": given}, binary="file").photo
        assert [photo.read() for photo in files] == given
        assert all(isinstance(photo, bsoap.Attachment) for photo in files)
        files = client.service.echo(photo=given, _binary="file")
        assert [bytes(photo) for photo in files] == given
    assert set(kinds) == {bsoap.Attachment if is_file else bytes}


def test_a_function_may_have_files_where_others_have_bytes():
    service = bsoap.Service(PHOTOS)
    seen = []

    @service.operation(binary="file")
    async def store(name, photo: bsoap.Attachment):
        seen.append(photo)
        return photo.size

    @service.operation
    def echo(photo):
        seen.extend(photo)
        return {"photo": photo}

    with service.start("127.0.0.1:0") as running:
        for mtom in (True, False):
            client = bsoap.Client(PHOTOS, endpoint=running.url, mtom=mtom)
            assert client.service.store("a", content(9000)) == 9000
            client.service.echo([content(9000)])
    assert [type(photo) for photo in seen] == [bsoap.Attachment, bytes] * 2
    with pytest.raises(TypeError, match=r"'photo' is an Attachment.*operation\(binary=\"file\"\)"):
        bsoap.Service(PHOTOS).operation("store")(store)


def test_bytes_beside_a_message_are_limited_as_its_body_is(url, caplog):
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, max_response=100_000, binary="file")
    photo = content(60_000)
    answer = client.exchange("echo", {"photo": [photo, photo]}, binary="bytes")
    with pytest.raises(bsoap.LimitError, match=r"/Envelope/Body/.*/photo\[2\].*120000 bytes.*100000.*binary=\"file\""):
        _ = answer.value
    assert bytes(client.call("echo", {"photo": [photo, photo]}).photo[1]) == photo
    assert client.call("echo", {"photo": [photo]}, binary="bytes").photo == [photo]
    with photos(max_body=100_000).start("127.0.0.1:0") as running:
        with pytest.raises(bsoap.Fault, match="Sender|Client") as caught:
            bsoap.Client(PHOTOS, endpoint=running.url, mtom=True).service.store("a", content(200_000))
    assert "longer than the service takes" in caught.value.message
    assert 'binary="file"' in caplog.text


def test_what_is_gone_is_an_error_with_its_place(url, tmp_path):
    limits = {"directory": tmp_path, "memory": 1000}
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, attachments=limits)
    answer = client.exchange("echo", {"photo": [b"inline", content(100_000)]})
    (file,) = temporary_files(tmp_path)
    for length in (5000, 0):
        os.truncate(file, length)
        for read in (lambda: answer.value, lambda: answer.table("photo"), answer.table):
            with pytest.raises(OSError, match=r"value of /Envelope/Body/.*/photo\[2\] cannot be read"):
                read()


def test_an_attachment_is_a_binary_file():
    text = b"first line\nsecond\n\nlast without an end"
    for made in (bsoap.Attachment(text), bsoap.Attachment(io.BytesIO(text))):
        assert isinstance(made, io.BufferedIOBase)
        assert (made.readable(), made.seekable(), made.writable(), made.isatty()) == (True, True, False, False)
        assert list(made) == text.splitlines(keepends=True)
        assert made.readline() == b""
        made.seek(6)
        assert (made.readline(), made.readline(3), made.tell()) == (b"line\n", b"sec", 14)
        assert made.readlines(1) == [b"ond\n"]
        assert made.readlines() == [b"\n", b"last without an end"]
        made.seek(0)
        target = bytearray(8)
        assert made.readinto(target) == 8 and target == text[:8]
        assert made.readinto(memoryview(target)[:2]) == 2 and target[:2] == text[8:10]
        assert made.read1(5) == text[10:15] and made.read1() == text[15:]
        assert made.readinto(target) == 0
        with pytest.raises(TypeError, match="written to"):
            made.readinto(b"constant")
        for refused in (functools.partial(made.write, b""), made.truncate, made.fileno, made.detach):
            with pytest.raises(io.UnsupportedOperation):
                refused()


def test_attachments_of_several_answers_are_sent_in_one_message(url):
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, binary="file")
    received = [client.call("echo", {"photo": [content(length)]}).photo[0] for length in (5000, 6000)]
    assert received[0].content_id == received[1].content_id
    echoed = client.call("echo", {"photo": [bsoap.Attachment(b"new"), *received, b"inline"]}).photo
    assert [bytes(photo) for photo in echoed] == [b"new", content(5000), content(6000), b"inline"]


def test_media_types_are_kept_where_a_service_has_files():
    service = bsoap.Service(PHOTOS, binary="file")
    service.operation("echo")(lambda photo: {"photo": photo})
    photo = bsoap.Attachment(content(9000), "image/png", "photo@example.org")
    with service.start("127.0.0.1:0") as running:
        client = bsoap.Client(PHOTOS, endpoint=running.url, mtom=True, binary="file")
        (echoed,) = client.call("echo", {"photo": [photo]}).photo
    assert (echoed.content_type, echoed.content_id, bytes(echoed)) == ("image/png", "photo@example.org", content(9000))


def test_a_closed_attachment_is_read_no_more_but_sent(url):
    photo = bsoap.Attachment(b"octets")
    with photo as opened:
        assert opened is photo and not photo.closed
        assert photo.read(3) == b"oct"
    assert photo.closed
    photo.close()
    for refused in (photo.read, photo.readline, photo.tell, lambda: photo.seek(0), lambda: list(photo), photo.readable):
        with pytest.raises(ValueError, match="closed"):
            refused()
    assert bytes(photo) == b"octets"
    assert bsoap.Client(PHOTOS, endpoint=url, mtom=True).service.store("a", photo) == 6


def test_other_readers_of_files_read_attachments(url, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(50):
            archive.writestr(f"{number}.txt", content(2000 + number))
    limits = {"directory": tmp_path, "memory": 1000}
    client = bsoap.Client(PHOTOS, endpoint=url, mtom=True, attachments=limits, binary="file")
    given = [packed.getvalue(), gzip.compress(b"a\nb\n" * 1000), "käse\nbrot".encode()]
    packed, compressed, text = client.call("echo", {"photo": given}).photo
    with zipfile.ZipFile(packed) as archive:
        for number in reversed(range(50)):
            assert archive.read(f"{number}.txt") == content(2000 + number)
    assert gzip.open(compressed).readlines() == [b"a\n", b"b\n"] * 1000
    assert io.BufferedReader(packed).peek(2)[:2] == b"PK"
    assert io.TextIOWrapper(text, "utf-8").read() == "käse\nbrot"


def test_threads_read_an_attachment_without_harm():
    photo = bsoap.Attachment(content(1 << 20))
    problems = []

    def read():
        try:
            for _ in range(50):
                photo.seek(0)
                photo.read(1000)
                photo.readline()
                assert bytes(photo) == content(1 << 20)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert problems == []


@pytest.mark.parametrize("is_file", [True, False])
def test_threads_that_read_one_attachment_share_its_octets(is_file):
    numbers = b"".join(number.to_bytes(8, "big") for number in range(20_000))
    photo = bsoap.Attachment(io.BytesIO(numbers) if is_file else numbers)
    read = [[] for _ in range(4)]
    begin = threading.Barrier(4)

    def run(mine):
        begin.wait()
        while octets := photo.read(80):
            mine.append(octets)

    threads = [threading.Thread(target=run, args=(mine,)) for mine in read]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert b"".join(sorted(sum(read, []))) == numbers
    assert photo.tell() == len(numbers)


def test_an_attachment_that_is_closed_while_it_is_read_stays_closed():
    class Slow(io.BytesIO):
        is_slow = False

        def read(self, size=-1):
            if self.is_slow:
                reading.set()
                closed.wait(10)
            return super().read(size)

    file, reading, closed, octets = Slow(b"octets" * 100_000), threading.Event(), threading.Event(), []
    photo = bsoap.Attachment(file)
    before = sys.getrefcount(file)
    file.is_slow = True
    thread = threading.Thread(target=lambda: octets.append(photo.read(6)))
    thread.start()
    assert reading.wait(10)
    photo.close()
    closed.set()
    thread.join()
    assert octets == [b"octets"] and photo.closed
    with pytest.raises(ValueError, match="closed"):
        photo.read(1)
    # Nothing reads the file any more.
    assert sys.getrefcount(file) == before


def test_an_attachment_does_not_wait_for_itself():
    class Round(io.BytesIO):
        def read(self, size=-1):
            return photo.read(size) if photo else super().read(size)

    photo = None
    photo = bsoap.Attachment(Round(b"octets"))
    with pytest.raises(OSError, match="while it is being read by the same thread"):
        photo.read(1)
