//! Why a Rust value could not be converted with serde.

use std::fmt;

/// Why a Rust value could not be converted from or to a message with serde, and where in the value.
///
/// ```
/// use bsoap_codec::Value;
/// use serde::Deserialize;
///
/// #[derive(Debug, Deserialize)]
/// struct Order { items: Vec<Item> }
/// #[derive(Debug, Deserialize)]
/// struct Item { count: u32 }
///
/// let value = Value::from_json_str(r#"{"items":[{"count":2},{"count":"many"}]}"#)?;
/// let error = value.deserialize_as::<Order>().unwrap_err();
/// assert_eq!(error.path(), "items[1].count");
/// assert!(error.to_string().starts_with("items[1].count: invalid type: string \"many\""));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct SerdeError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    message: String,
    /// The steps of the path, the innermost first.
    steps: Vec<String>,
}

impl SerdeError {
    /// The same error, inside the member of an object.
    pub(crate) fn inside(mut self, key: &str) -> Self {
        self.0.steps.push(key.to_owned());
        self
    }

    /// The same error, inside an item of an array.
    pub(crate) fn inside_item(mut self, index: usize) -> Self {
        self.0.steps.push(format!("[{index}]"));
        self
    }

    /// Where the value is, such as `items[1].count`, counted from 0. Empty if it is the whole value.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in self.0.steps.iter().rev() {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(step);
        }
        path
    }

    fn new(message: impl fmt::Display) -> Self {
        Self(Box::new(Inner {
            message: message.to_string(),
            steps: Vec::new(),
        }))
    }
}

impl fmt::Display for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.steps.is_empty() {
            write!(f, "{}: ", self.path())?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for SerdeError {}

impl serde::de::Error for SerdeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message)
    }
}

impl serde::ser::Error for SerdeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message)
    }
}
