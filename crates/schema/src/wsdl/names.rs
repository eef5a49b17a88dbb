//! The names that components of WSDL have, and those that refer to components.

use roxmltree::Node;

use super::RawReference;
use super::read::WsdlReader;
use crate::document::{Position, place_of_value};
use crate::name::declared_namespace;
use crate::{ErrorKind, ExpandedName, Result};

impl WsdlReader<'_> {
    /// A name in the target namespace, at `place`.
    ///
    /// # Errors
    /// As [`expanded`](Self::expanded).
    pub(super) fn own_name(&self, local: &str, place: Position) -> Result<ExpandedName> {
        self.expanded(&self.target_namespace, local, place)
    }

    /// A name at `place`.
    ///
    /// # Errors
    /// If the budget of loading is used up: thousands of names may have one long namespace.
    pub(super) fn expanded(
        &self,
        namespace: &str,
        local: &str,
        place: Position,
    ) -> Result<ExpandedName> {
        let mut names = self.names.borrow_mut();
        let name = names.expanded(namespace, local);
        self.schemas.charge(names.take_work(), place)?;
        Ok(name)
    }

    /// The name that a component declares.
    ///
    /// # Errors
    /// If it has none, or the budget of loading is used up.
    pub(super) fn declared_name(&self, node: Node<'_, '_>) -> Result<ExpandedName> {
        self.own_name(&self.required(node, "name")?, self.place(node))
    }

    /// An attribute that refers to a component.
    pub(super) fn reference(
        &self,
        node: Node<'_, '_>,
        attribute: &'static str,
    ) -> Result<RawReference> {
        let value = self.required(node, attribute)?;
        let place = place_of_value(self.document, node, attribute);
        self.referred(node, attribute, &value, place)
    }

    /// The component that a name in an attribute refers to.
    pub(super) fn referred(
        &self,
        node: Node<'_, '_>,
        attribute: &'static str,
        value: &str,
        place: Position,
    ) -> Result<RawReference> {
        let (namespace, local, may_be_own) = match value.split_once(':') {
            Some((prefix, local)) => match declared_namespace(node, Some(prefix)) {
                // Without a target namespace, the prefix may be that of the namespace that was forgotten.
                Some(namespace) => {
                    let is_forgotten = self.target_namespace.is_empty() && !self.is_strict;
                    (namespace, local, is_forgotten)
                }
                None if !self.is_strict => ("", local, true),
                None => {
                    let expected =
                        format!("a name with a declared prefix (\"{prefix}\" is not declared)");
                    let kind = ErrorKind::Value {
                        attribute: attribute.to_owned(),
                        found: value.to_owned(),
                        expected,
                    };
                    return Err(self.error(kind, place));
                }
            },
            None => (node.lookup_namespace_uri(None).unwrap_or(""), value, true),
        };
        let name = self.expanded(namespace, local, place)?;
        let fallback = match may_be_own {
            true => Some(self.own_name(local, place)?),
            false => None,
        };
        Ok(RawReference {
            name,
            fallback,
            place,
        })
    }
}
