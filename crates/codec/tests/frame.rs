//! The text around an array, put together with rows, is the text of the message.

use std::sync::Arc;

use bsoap_codec::frame::{Frame, FrameError};
use bsoap_codec::plan::{ElementId, LeafKind};
use bsoap_codec::{Plan, Record, Value, build, encode};
use bsoap_datatypes::Datatype;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

/// `{string? note, {double item*}? values, {{int x, {double v} inner} p*} points, {{string s} t*, double item*}* texts}`
fn plan() -> (Arc<Plan>, ElementId) {
    let mut schema = Schema::new();
    let item = schema.field("item", Datatype::Double, MANY);
    let values = schema.structure(vec![item]);
    let v = schema.field("v", Datatype::Double, ONCE);
    let inner = schema.structure(vec![v]);
    let p = vec![
        schema.field("x", Datatype::Int, ONCE),
        schema.child("inner", inner, ONCE),
    ];
    let p = schema.structure(p);
    let p = schema.child("p", p, MANY);
    let points = schema.structure(vec![p]);
    let s = schema.field("s", Datatype::String, ONCE);
    let t = schema.structure(vec![s]);
    let texts = vec![
        schema.child("t", t, MANY),
        schema.field("item", Datatype::Double, MANY),
    ];
    let texts = schema.structure(texts);
    let root = vec![
        schema.field("note", Datatype::String, OPTIONAL),
        schema.child("values", values, OPTIONAL),
        schema.child("points", points, ONCE),
        schema.child("texts", texts, MANY),
    ];
    let root = schema.structure(root);
    let root = schema.element_in("urn:x", "root", root);
    (schema.finish(), root)
}

fn record(json: &str) -> Record {
    let (plan, root) = plan();
    let value: Value = serde_json::from_str(json).expect("JSON");
    build(&plan, root, &value).unwrap_or_else(|error| panic!("{error}"))
}

fn text(json: &str) -> String {
    let mut out = Vec::new();
    encode(&record(json), &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

/// The text of a message with rows of these lexical forms.
fn assembled(frame: &Frame, rows: &[&[&str]]) -> String {
    let mut out = frame.before().to_vec();
    for row in rows {
        out.extend_from_slice(frame.first());
        assert_eq!(row.len(), frame.cells().len());
        for (number, cell) in row.iter().zip(frame.cells()) {
            out.extend_from_slice(&cell.before);
            out.extend_from_slice(number.as_bytes());
        }
        out.extend_from_slice(frame.last());
    }
    out.extend_from_slice(frame.after());
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn a_frame_with_rows_is_the_message() {
    let message = |values: &str, points: &str| {
        format!(
            r#"{{"note": "<&>", "values": {{"item": [{values}]}}, "points": {{"p": [{points}]}}, "texts": [{{"t": [{{"s": "a"}}]}}]}}"#
        )
    };
    let point = r#"{"x": -7, "inner": {"v": 2.5}}"#;
    // Whatever rows the Record has, they are left out.
    for given in ["", "1", "1, 2, 3"] {
        let frame = Frame::around(&record(&message(given, point)), "values.item").expect("a frame");
        assert_eq!(frame.first(), b"<item>");
        assert_eq!(frame.last(), b"</item>");
        assert_eq!(frame.row_width(), "<item></item>".len() + 24);
        for rows in ["", "1.5", "1.5, -3", "1.5, -3, 7"] {
            let rows: Vec<&str> = rows.split(", ").filter(|row| !row.is_empty()).collect();
            let cells: Vec<&[&str]> = rows.iter().map(std::slice::from_ref).collect();
            assert_eq!(
                assembled(&frame, &cells),
                text(&message(&rows.join(","), point))
            );
        }
    }
    let frame = Frame::around(&record(&message("1", "")), "p").expect("a frame");
    assert_eq!(frame.cells()[0].width(), 11);
    assert!(matches!(frame.cells()[0].kind, LeafKind::Signed { .. }));
    assert_eq!(frame.cells()[1].kind, LeafKind::Double);
    for count in 0..3 {
        let points = vec![point; count].join(",");
        let rows = vec![&["-7", "2.5"][..]; count];
        assert_eq!(assembled(&frame, &rows), text(&message("1", &points)));
    }
}

#[test]
fn what_is_not_one_array_of_numbers_has_no_frame() {
    let full = record(
        r#"{"values": {"item": [1]}, "points": {"p": []}, "texts": [{"t": [{"s": "a"}], "item": []}]}"#,
    );
    let error = |path: &str| Frame::around(&full, path).expect_err("no frame");
    assert_eq!(error("nothing"), FrameError::NotFound("nothing".into()));
    assert_eq!(error("values"), FrameError::NotFound("values".into()));
    assert_eq!(
        error("x.values.item"),
        FrameError::NotFound("x.values.item".into())
    );
    assert_eq!(error("item"), FrameError::Ambiguous("item".into()));
    assert_eq!(error("t"), FrameError::NotNumbers("t".into()));
    assert_eq!(error("texts"), FrameError::NotNumbers("texts".into()));
    for path in ["values.item", "root.values.item", "texts.item"] {
        assert!(Frame::around(&full, path).is_ok(), "{path}");
    }
    let sparse = record(r#"{"points": {"p": []}}"#);
    let error = Frame::around(&sparse, "values.item").expect_err("values is not there");
    assert_eq!(
        error.to_string(),
        "the message has no array values.item; the elements around it must be there"
    );
}
