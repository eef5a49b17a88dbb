//! Scenarios of a stream: what changes from message to message, as the third part of a case's name says it.
//!
//! | name | what happens |
//! |---|---|
//! | `content` | nothing changes |
//! | `dirty25` | 25 % of the values, scattered at random, change; their lexical forms keep their lengths |
//! | `dirty25/any` | the same, lengths as they come |
//! | `dirty25/block` | the same with lengths kept, the values next to each other |
//! | `grow` | all values grow from one character to the most their type can have (24 for a double) |
//! | `grow25/mid` | 25 % of the values grow from an intermediate width (18 for a double) to the most |
//! | `shrink` | all values shrink from the most to one character |
//! | `ones` | all values change, from one character to one character |
//! | `append`, `insert-front`, `insert-middle` | ten elements come and go |
//! | `strings1` | 1 % of the strings (at least one) change their length |
//! | `optional` | an optional element comes and goes |
//! | `unlike` | nothing is in common |
//! | `overlay` | an array is sent that need not be in memory as text |
//! | `P25/T100` | 25 % of the values, around the centre of each of 100 partitions, are others of the same lengths |
//! | `P25/scattered` | the same share, single values at random places |
//! | `P100` | all values are others of the same lengths |
//! | `P25/T100/shifted` … | the same three with lengths as they come |
//! | `leaf`, `leaves10` | one leaf of a document changes, or 10 % of its leaves; a leaf is an element without children |
//! | `insert-front1`, `delete-front1` | an element comes before the first one, or the first one goes; any number up to 100 |
//! | `window4`, `window4/middle` | four elements go at the front or in the middle, and four come at the end; 64 messages |
//! | `answers`, `requests`, `polls` | recorded messages: all answers of a session, all requests, a run of answers to one command |
//!
//! `/8k`, `/32k` and the like at the end set the size of a template's chunks.

/// A scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scenario {
    pub(crate) change: Change,
    /// The size of chunks, if the name says one.
    pub(crate) chunk: Option<usize>,
}

/// What changes from message to message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    Dirty {
        percent: usize,
        kind: Kind,
    },
    Grow {
        percent: usize,
        from: Size,
    },
    Shrink,
    Ones,
    /// Where the elements come and go, as a share of the array's length in percent.
    Insert {
        percent: usize,
    },
    Strings {
        percent: usize,
    },
    Optional,
    Unlike,
    Overlay,
    /// Wholly other values, a share of them.
    Other {
        percent: usize,
        place: Place,
        lengths: Lengths,
    },
    /// One leaf of a document.
    Leaf,
    /// A share of a document's leaves.
    Leaves {
        percent: usize,
    },
    /// How many elements come before the first.
    Arrive(usize),
    /// The first elements go.
    Leave(usize),
    /// Elements go at the front or in the middle, and as many come at the end.
    Window {
        count: usize,
        is_middle: bool,
    },
    Recorded(Recorded),
}

/// Where values change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Around the centre of each of this number of equal partitions.
    Partitions(usize),
    /// Single values, anywhere.
    Scattered,
}

/// How long the lexical forms of other values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lengths {
    Kept,
    AsTheyCome,
}

/// Which messages of a recorded session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    Answers,
    Requests,
    /// The longest run of answers to one command.
    Polls,
}

/// How other values are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Scattered; lexical forms keep their lengths.
    Same,
    /// Scattered; lexical forms are as long as they happen to be.
    Any,
    /// Next to each other; lexical forms keep their lengths.
    Block,
}

/// How long lexical forms are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// One character.
    One,
    /// 18 for a double, 9 for an integer, 36 for a mesh interface object.
    Middle,
    /// The most that the type can have: 24, 11, 46.
    Most,
}

impl Scenario {
    /// A scenario by name.
    ///
    /// # Errors
    /// There is none of that name.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        let (change, chunk) = name
            .rsplit_once('/')
            .and_then(|(change, size)| {
                let size: usize = size.strip_suffix('k')?.parse().ok()?;
                Some((change, Some(size << 10)))
            })
            .unwrap_or((name, None));
        let change = Change::parse(change)
            .ok_or_else(|| format!("there is no scenario of the name {name}"))?;
        Ok(Self { change, chunk })
    }
}

impl Change {
    fn parse(name: &str) -> Option<Self> {
        let (word, kind) = name.split_once('/').unwrap_or((name, ""));
        if let Some(percent) = word.strip_prefix('P') {
            return Self::other(percent, kind);
        }
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let percent = match &word[letters.len()..] {
            "" => None,
            digits => Some(digits.parse().ok().filter(|percent| *percent <= 100)?),
        };
        Some(match (letters, percent, kind) {
            ("content" | "identical", None, "") => Self::None,
            ("dirty", Some(percent), "") => Self::dirty(percent, Kind::Same),
            ("dirty", Some(percent), "any") => Self::dirty(percent, Kind::Any),
            ("dirty", Some(percent), "block") => Self::dirty(percent, Kind::Block),
            ("grow", percent, "") => Self::grow(percent, Size::One),
            ("grow", percent, "mid") => Self::grow(percent, Size::Middle),
            ("shrink", None, "") => Self::Shrink,
            ("ones", None, "") => Self::Ones,
            ("insert-front", None, "") => Self::Insert { percent: 0 },
            ("insert-middle", None, "") => Self::Insert { percent: 50 },
            ("append", None, "") => Self::Insert { percent: 100 },
            ("strings", Some(percent), "") => Self::Strings { percent },
            ("optional", None, "") => Self::Optional,
            ("unlike" | "none-alike", None, "") => Self::Unlike,
            ("overlay", None, "") => Self::Overlay,
            ("leaf", None, "") => Self::Leaf,
            ("leaves", Some(percent), "") => Self::Leaves { percent },
            ("insert-front", Some(count), "") => Self::Arrive(count),
            ("delete-front", Some(count), "") => Self::Leave(count),
            ("window", Some(count), "" | "middle") => Self::Window {
                count,
                is_middle: kind == "middle",
            },
            ("answers", None, "") => Self::Recorded(Recorded::Answers),
            ("requests", None, "") => Self::Recorded(Recorded::Requests),
            ("polls", None, "") => Self::Recorded(Recorded::Polls),
            _ => return None,
        })
    }

    /// What follows the share: `T100`, `scattered` or nothing, and whether lengths are kept.
    fn other(percent: &str, rest: &str) -> Option<Self> {
        let percent = percent.parse().ok().filter(|percent| *percent <= 100)?;
        let (place, lengths) = match rest.strip_suffix("shifted") {
            Some(place) => (place.trim_end_matches('/'), Lengths::AsTheyCome),
            None => (rest, Lengths::Kept),
        };
        let place = match place.strip_prefix('T') {
            Some(count) => Place::Partitions(count.parse().ok().filter(|count| *count > 0)?),
            None if place == "scattered" => Place::Scattered,
            None if place.is_empty() && percent == 100 => Place::Partitions(1),
            None => return None,
        };
        Some(Self::Other {
            percent,
            place,
            lengths,
        })
    }

    fn dirty(percent: usize, kind: Kind) -> Self {
        Self::Dirty { percent, kind }
    }

    fn grow(percent: Option<usize>, from: Size) -> Self {
        Self::Grow {
            percent: percent.unwrap_or(100),
            from,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_read_from_its_name() {
        let read = |name| Scenario::parse(name).unwrap();
        assert_eq!(
            read("dirty25/any").change,
            Change::Dirty {
                percent: 25,
                kind: Kind::Any
            }
        );
        assert_eq!(
            read("grow50/mid/32k"),
            Scenario {
                change: Change::Grow {
                    percent: 50,
                    from: Size::Middle
                },
                chunk: Some(32768)
            }
        );
        assert_eq!(read("strings1").change, Change::Strings { percent: 1 });
        let other = |percent, place, lengths| Change::Other {
            percent,
            place,
            lengths,
        };
        for (name, change) in [
            ("P25/T100", other(25, Place::Partitions(100), Lengths::Kept)),
            (
                "P75/T1/shifted",
                other(75, Place::Partitions(1), Lengths::AsTheyCome),
            ),
            ("P25/scattered", other(25, Place::Scattered, Lengths::Kept)),
            (
                "P100/shifted",
                other(100, Place::Partitions(1), Lengths::AsTheyCome),
            ),
            ("insert-front10", Change::Arrive(10)),
            ("insert-front", Change::Insert { percent: 0 }),
            ("delete-front1", Change::Leave(1)),
            ("leaves10", Change::Leaves { percent: 10 }),
            ("polls", Change::Recorded(Recorded::Polls)),
        ] {
            assert_eq!(read(name).change, change, "{name}");
        }
        for unknown in [
            "dirty",
            "dirty101",
            "dirty25/some",
            "grow/k",
            "content5",
            "",
            "P25",
            "P101/T1",
            "P25/T0",
            "P25/T1/moved",
            "leaf5",
        ] {
            assert!(Scenario::parse(unknown).is_err(), "{unknown}");
        }
    }
}
