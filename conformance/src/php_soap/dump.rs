//! What PHP's `var_dump` prints.
//!
//! ```text
//! object(stdClass)#5 (2) {
//!   ["str"]=>
//!   string(3) "str"
//!   ["int"]=>
//!   int(5)
//! }
//! ```

use serde_json::{Map, Number, Value};

/// The value that was dumped.
pub(super) fn read(text: &str) -> Option<Value> {
    // A value under construction for each brace that is open, with the key it will have above.
    let mut open: Vec<(Option<String>, Value)> = Vec::new();
    let mut key: Option<String> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix("]=>"))
        {
            let name = name.split(':').next().unwrap_or(name);
            key = Some(name.trim_matches('"').to_owned());
            continue;
        }
        let done = match line {
            "}" => open.pop()?,
            _ if line.starts_with("object(") && line.ends_with('{') => {
                open.push((key.take(), Value::Object(Map::new())));
                continue;
            }
            _ if line.starts_with("array(") && line.ends_with('{') => {
                open.push((key.take(), Value::Array(Vec::new())));
                continue;
            }
            _ => (key.take(), scalar(line)?),
        };
        match (open.last_mut(), done) {
            (None, (_, value)) => return Some(value),
            (Some((_, Value::Array(values))), (_, value)) => values.push(value),
            (Some((_, Value::Object(members))), (key, value)) => {
                members.insert(key?, value);
            }
            _ => return None,
        }
    }
    None
}

fn scalar(line: &str) -> Option<Value> {
    if line == "NULL" {
        return Some(Value::Null);
    }
    let (kind, rest) = line.split_once('(')?;
    let inner = rest.strip_suffix(')');
    match kind {
        "int" => Some(inner?.parse::<i64>().ok()?.into()),
        "float" => Some(Number::from_f64(inner?.parse().ok()?)?.into()),
        "bool" => Some((inner? == "true").into()),
        "string" => {
            let (_, text) = rest.split_once(") \"")?;
            Some(text.strip_suffix('"')?.into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dumps_nest() {
        let dump = "object(stdClass)#%d (2) {\n  [\"a\"]=>\n  array(2) {\n    [0]=>\n    int(1)\n    [1]=>\n    string(3) \"x\"y\"\n  }\n  [\"b\"]=>\n  NULL\n}\n";
        assert_eq!(read(dump), Some(json!({"a": [1, "x\"y"], "b": null})));
        assert_eq!(read("float(1.5)"), Some(json!(1.5)));
        assert_eq!(read("object(x) {"), None);
    }
}
