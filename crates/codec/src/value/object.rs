//! Objects: values by name.

use std::collections::HashMap;

use super::{Text, Value};

/// Up to this many members, searching them is faster than a map.
const SEARCHED: usize = 16;

/// Values by name, in the order they were added.
#[derive(Clone, Default)]
pub struct Object {
    members: Vec<(Text, Value)>,
    /// The map of the keys, if there are more than [`SEARCHED`] members.
    indexes: Option<Box<Indexes>>,
    /// No key from this index on begins with `@` or `#`, unless it is `u32::MAX`. Many such keys are asked for; most objects have none,
    /// or have them first.
    special_end: u32,
    /// Whether there may be a key that is no attribute's: such as `@type`, `@nil` or `#order`.
    has_control: bool,
}

/// The indexes of members by key. In a box, so that a value takes 40 bytes, and a member one line of the cache.
#[derive(Clone)]
struct Indexes(HashMap<Text, usize>);

const _: () = assert!(size_of::<(Text, Value)>() <= 64);

/// How far the members of an object have been asked for in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    /// The member behind the last one found.
    next: usize,
    /// Whether a member before `next` was not asked for.
    has_passed: bool,
}

/// Whether a key is that of an attribute, or of something else that is no child.
fn is_special(key: &str) -> bool {
    matches!(key.as_bytes().first(), Some(b'@' | b'#'))
}

/// Whether a key may say something about the element or its children.
fn is_control(key: &str) -> bool {
    key.starts_with('#') || key.starts_with("@xsi:") || matches!(key, "@type" | "@nil")
}

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// An object with space for this many members.
    pub(crate) fn with_capacity(members: usize) -> Self {
        Self {
            members: Vec::with_capacity(members),
            ..Self::default()
        }
    }

    /// The members up to the last one whose key begins with `@` or `#`.
    #[inline]
    fn special(&self) -> &[(Text, Value)] {
        match self.special_end {
            u32::MAX => &self.members,
            end => &self.members[..end as usize],
        }
    }

    #[inline]
    fn position(&self, key: &str) -> Option<usize> {
        let members = match is_special(key) {
            true => self.special(),
            false => &self.members[..],
        };
        match &self.indexes {
            Some(indexes) if members.len() > SEARCHED => indexes.0.get(key).copied(),
            _ => members.iter().position(|(known, _)| known == key),
        }
    }

    /// The member with this key.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).map(|index| &self.members[index].1)
    }

    /// The member with this key, which is `@type`, `@nil`, or begins with `@xsi:` or `#`.
    #[inline]
    pub(crate) fn get_control(&self, key: &str) -> Option<&Value> {
        match self.has_control {
            true => self.get(key),
            false => None,
        }
    }

    /// Where to begin if only keys of children are asked for.
    pub(crate) fn children(&self) -> Cursor {
        let special = self.special();
        Cursor {
            next: special.len(),
            has_passed: !special.iter().all(|(key, _)| is_special(key)),
        }
    }

    /// The member with this key, which was not asked for before. Keys are mostly asked for in the order of the members; the
    /// cursor remembers how far that went.
    #[inline]
    pub(crate) fn get_next(&self, key: &str, cursor: &mut Cursor) -> Option<&Value> {
        if let Some((expected, value)) = self.members.get(cursor.next)
            && expected == key
        {
            cursor.next += 1;
            return Some(value);
        }
        self.find_next(key, cursor)
    }

    fn find_next(&self, key: &str, cursor: &mut Cursor) -> Option<&Value> {
        let index = match &self.indexes {
            None if !cursor.has_passed => {
                let rest = self.members.get(cursor.next..).unwrap_or_default();
                cursor.next + rest.iter().position(|(known, _)| known == key)?
            }
            _ => self.position(key)?,
        };
        cursor.has_passed |= index > cursor.next;
        cursor.next = index + 1;
        Some(&self.members[index].1)
    }

    /// The member with this key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.position(key).map(|index| &mut self.members[index].1)
    }

    /// Sets a member. Returns the member that it replaces.
    pub fn insert(&mut self, key: impl Into<Text>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        match self.position(&key) {
            Some(index) => Some(std::mem::replace(&mut self.members[index].1, value)),
            None => {
                self.push(key, value);
                None
            }
        }
    }

    /// Adds a member whose key is not there yet.
    pub(crate) fn push(&mut self, key: Text, value: Value) {
        if is_special(&key) {
            self.special_end = u32::try_from(self.members.len() + 1).unwrap_or(u32::MAX);
            self.has_control |= is_control(&key);
        }
        self.push_child(key, value);
    }

    /// Adds a member whose key is not there yet and begins neither with `@` nor with `#`.
    // Always inlined: a value that is moved when it has just been written makes the processor wait. Benchmark: `api-in`.
    #[inline(always)]
    pub(crate) fn push_child(&mut self, key: Text, value: Value) {
        self.members.push((key, value));
        if self.members.len() > SEARCHED {
            self.index();
        }
    }

    /// As [`push_child`](Self::push_child), with a text.
    #[inline]
    pub(crate) fn push_text(&mut self, key: Text, text: &str) {
        self.push_child(key, Value::Text(Text::default()));
        if let Some((_, Value::Text(value))) = self.members.last_mut() {
            value.push_str(text);
        }
    }

    /// Adds the last of many members to the map.
    #[cold]
    fn index(&mut self) {
        let last = self.members.len() - 1;
        let key = |index: usize| self.members[index].0.clone();
        match &mut self.indexes {
            Some(indexes) => drop(indexes.0.insert(key(last), last)),
            None => {
                let indexes = (0..=last).map(|index| (key(index), index));
                self.indexes = Some(Box::new(Indexes(indexes.collect())));
            }
        }
    }

    /// Removes a member and returns it; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let index = self.position(key)?;
        let (_, value) = self.members.remove(index);
        if index < self.special_end as usize && self.special_end < u32::MAX {
            self.special_end -= 1;
        }
        if let Some(indexes) = &mut self.indexes {
            indexes.0.remove(key);
            let behind = indexes.0.values_mut().filter(|known| **known > index);
            behind.for_each(|known| *known -= 1);
        }
        Some(value)
    }

    /// The members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + '_ {
        let members = self.members.iter();
        members.map(|(key, value)| (key.as_str(), value))
    }

    /// The members in order, as they are stored.
    pub(crate) fn entries(&self) -> &[(Text, Value)] {
        &self.members
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.members.iter().map(|(key, _)| key.as_str())
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds a value to the array with this key.
    pub(crate) fn append(&mut self, key: &str, value: Value) {
        match self.get_mut(key) {
            Some(Value::Array(values)) => values.push(value),
            Some(other) => {
                let first = std::mem::take(other);
                let values = first.items().map(std::borrow::Cow::into_owned);
                *other = Value::Array(values.chain([value]).collect());
            }
            None => self.push(key.into(), Value::Array(vec![value])),
        }
    }
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Two objects are equal if they have the same members, in any order.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        let mut cursor = Cursor::default();
        self.len() == other.len()
            && self
                .iter()
                .all(|(key, value)| other.get_next(key, &mut cursor) == Some(value))
    }
}

impl<K: Into<Text>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(members: I) -> Self {
        let mut object = Self::new();
        for (key, value) in members {
            object.insert(key, value);
        }
        object
    }
}

impl IntoIterator for Object {
    type Item = (Text, Value);
    type IntoIter = std::vec::IntoIter<(Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_objects_do_the_same() {
        for count in [3, SEARCHED, SEARCHED + 1, 100] {
            let key = |index: usize| format!("{}{index}", if index % 7 == 3 { "@" } else { "k" });
            let mut object: Object = (0..count)
                .map(|index| (key(index), Value::from(index as i64)))
                .collect();
            assert_eq!(object.insert(key(1), 9), Some(Value::Int(1)));
            assert_eq!(
                (object.len(), object.get(&key(1))),
                (count, Some(&Value::Int(9)))
            );
            assert_eq!(object.remove(&key(0)), Some(Value::Int(0)));
            assert_eq!(
                (object.remove("none"), object.remove("@none")),
                (None, None)
            );
            assert_eq!(object.get(&key(0)), None);
            let keys: Vec<String> = (1..count).map(key).collect();
            assert_eq!(object.keys().collect::<Vec<_>>(), keys);
            for key in &keys[1..] {
                assert!(object.get(key).is_some() && object.get_mut(key).is_some());
            }
            let mut reversed: Vec<_> = object.clone().into_iter().collect();
            reversed.reverse();
            assert_eq!(object, reversed.into_iter().collect());
            object.insert("new", true);
            assert_eq!(object.len(), count);
        }
    }
}
