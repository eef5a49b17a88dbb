"""Deviations of messages from the WSDL: which are accepted in which mode, and what is said of them."""

import bsoap
import pytest
from bsoap import codec
from conftest import ROOT

SURVEY = bsoap.Wsdl(ROOT / "examples/survey/survey.wsdl")
ENVELOPE = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>{}</s:Body></s:Envelope>'
MOVED = '<surveyResponse xmlns="urn:survey"><sample><value>3</value><id>7</id></sample></surveyResponse>'
OTHER_NAMESPACE = "<surveyResponse><sample><id>7</id></sample></surveyResponse>"
UNKNOWN = '<surveyResponse xmlns="urn:survey"><sample><id>7</id><more>5</more></sample></surveyResponse>'


def message(body):
    return ENVELOPE.format(body).encode()


@pytest.mark.parametrize("differential", [True, False])
@pytest.mark.parametrize(
    ("body", "deviation"),
    [(MOVED, "moves it to its place"), (OTHER_NAMESPACE, "reads it as that element"), (UNKNOWN, "skips it")],
)
def test_codecs_do_in_lenient_mode_what_errors_of_other_modes_say(body, deviation, differential):
    for mode in ("strict", "default"):
        with pytest.raises(bsoap.DecodeError, match=f"lenient mode {deviation}"):
            codec.Decoder(SURVEY, mode=mode, differential=differential).answer("survey", message(body))
    decoder = codec.Decoder(SURVEY, mode="lenient", differential=differential)
    for _ in range(3):
        answer = decoder.answer("survey", message(body))
        assert answer.value.sample[0].id == 7
        assert len(answer.warnings) >= 1
        plain = decoder.answer(
            "survey", message('<surveyResponse xmlns="urn:survey"><sample><id>8</id></sample></surveyResponse>')
        )
        assert plain.value.sample[0].id == 8 and plain.warnings == []


def test_requests_and_archives_are_read_leniently_too(tmp_path):
    request = MOVED.replace("surveyResponse", "survey")
    assert codec.decode_request(SURVEY, message(request), mode="lenient").value.sample[0].id == 7
    for number in range(4):
        (tmp_path / f"{number}.xml").write_bytes(message(MOVED))
    table = bsoap.read_messages(sorted(tmp_path.iterdir()), SURVEY, rows="sample", operation="survey", mode="lenient")
    assert table["id"].to_list() == [7] * 4
