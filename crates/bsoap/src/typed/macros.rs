//! Descriptors of generated types: one line for each, of which its implementations are made.
//!
//! A field or variant may be followed by how it is stored, if its Rust type does not say it: `= nillable(5)` is an element of
//! type 5 that may be nil, `= attribute_list()` an optional attribute that is a list.

/// A struct: `record!(Point: 0x1234; x, y, note = nillable(5));` The number is the
/// [fingerprint](crate::codec::Plan::type_fingerprint) of its schema type; a group has none.
#[doc(hidden)]
#[macro_export]
macro_rules! __record {
    ($name:ident $(: $fingerprint:literal)?; $($field:ident $(= $how:ident($($argument:tt)*))?),* $(,)?) => {
        impl $crate::typed::Pack for $name {
            #[allow(unused_variables)]
            fn pack(&self, packer: &mut $crate::typed::Packer<'_>) {
                $(packer$(.$how($($argument)*))?.value(&self.$field);)*
            }

            $(fn fingerprint(&self) -> ::core::option::Option<u64> {
                ::core::option::Option::Some($fingerprint)
            })?
        }

        impl $crate::typed::Unpack for $name {
            #[allow(unused_variables)]
            fn unpack(
                from: &mut $crate::typed::Unpacker<'_>,
            ) -> ::core::result::Result<Self, $crate::typed::PackError> {
                // The fields of a struct expression are evaluated in the order they are written.
                ::core::result::Result::Ok(Self {
                    $($field: from$(.$how($($argument)*))?.value()?,)*
                })
            }

            $(fn fingerprint() -> ::core::option::Option<u64> {
                ::core::option::Option::Some($fingerprint)
            })?
        }
    };
}

/// An enum of the branches of a choice: `choice!(Time; 0 = Minutes, 1 = Until = nillable(7));`
#[doc(hidden)]
#[macro_export]
macro_rules! __choice {
    ($name:ident; $($number:literal = $variant:ident $(= $how:ident($($argument:tt)*))?),* $(,)?) => {
        impl $crate::typed::Pack for $name {
            #[allow(unused_variables)]
            fn pack(&self, packer: &mut $crate::typed::Packer<'_>) {
                match *self {
                    $(Self::$variant(ref value) => {
                        packer.branch($number);
                        packer$(.$how($($argument)*))?.value(value);
                    })*
                }
            }

            fn pack_optional(
                value: ::core::option::Option<&Self>,
                packer: &mut $crate::typed::Packer<'_>,
            ) {
                match value {
                    ::core::option::Option::Some(value) => packer.value(value),
                    ::core::option::Option::None => packer.no_branch(),
                }
            }
        }

        impl $crate::typed::Unpack for $name {
            fn unpack(
                from: &mut $crate::typed::Unpacker<'_>,
            ) -> ::core::result::Result<Self, $crate::typed::PackError> {
                Self::unpack_optional(from)?.ok_or($crate::typed::PackError::Mismatch)
            }

            fn unpack_optional(
                from: &mut $crate::typed::Unpacker<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, $crate::typed::PackError> {
                ::core::result::Result::Ok(::core::option::Option::Some(match from.branch()? {
                    $(::core::option::Option::Some($number) => {
                        Self::$variant(from$(.$how($($argument)*))?.value()?)
                    })*
                    ::core::option::Option::None => {
                        return ::core::result::Result::Ok(::core::option::Option::None);
                    }
                    ::core::option::Option::Some(_) => {
                        return ::core::result::Result::Err($crate::typed::PackError::Mismatch);
                    }
                }))
            }
        }
    };
}

/// An item of mixed content, a `Text` or an element: `mixed!(Content; 0 = B, 1 = I);`
#[doc(hidden)]
#[macro_export]
macro_rules! __mixed {
    ($name:ident; $($number:literal = $variant:ident $(= $how:ident($($argument:tt)*))?),* $(,)?) => {
        impl $crate::typed::Pack for $name {
            fn pack(&self, packer: &mut $crate::typed::Packer<'_>) {
                match self {
                    Self::Text(text) => {
                        packer.no_branch();
                        packer.text(text);
                    }
                    $(Self::$variant(value) => {
                        packer.branch($number);
                        packer$(.$how($($argument)*))?.value(value);
                    })*
                }
            }
        }

        impl $crate::typed::Unpack for $name {
            fn unpack(
                from: &mut $crate::typed::Unpacker<'_>,
            ) -> ::core::result::Result<Self, $crate::typed::PackError> {
                match from.branch()? {
                    ::core::option::Option::None => from.value().map(Self::Text),
                    $(::core::option::Option::Some($number) => {
                        from$(.$how($($argument)*))?.value().map(Self::$variant)
                    })*
                    ::core::option::Option::Some(_) => {
                        ::core::result::Result::Err($crate::typed::PackError::Mismatch)
                    }
                }
            }
        }
    };
}

/// An enum of a type and those derived from it, by their numbers: `alternatives!(AnyTool; 5 = Tool, 6 = Knife);`
#[doc(hidden)]
#[macro_export]
macro_rules! __alternatives {
    ($name:ident; $($number:literal = $variant:ident),* $(,)?) => {
        impl $crate::typed::Pack for $name {
            #[allow(unused_variables)]
            fn pack(&self, packer: &mut $crate::typed::Packer<'_>) {
                match *self {
                    $(Self::$variant(ref value) => {
                        packer.state($crate::typed::TypeId($number));
                        packer.value(value);
                    })*
                }
            }

            fn pack_optional(
                value: ::core::option::Option<&Self>,
                packer: &mut $crate::typed::Packer<'_>,
            ) {
                match value {
                    ::core::option::Option::Some(value) => packer.value(value),
                    ::core::option::Option::None => packer.absent(),
                }
            }

            fn pack_nillable(
                value: ::core::option::Option<&Self>,
                ty: $crate::typed::TypeId,
                packer: &mut $crate::typed::Packer<'_>,
            ) {
                match value {
                    ::core::option::Option::Some(value) => packer.value(value),
                    ::core::option::Option::None => packer.nil(ty),
                }
            }
        }

        impl $crate::typed::Unpack for $name {
            fn unpack(
                from: &mut $crate::typed::Unpacker<'_>,
            ) -> ::core::result::Result<Self, $crate::typed::PackError> {
                Self::unpack_optional(from)?.ok_or($crate::typed::PackError::Mismatch)
            }

            fn unpack_optional(
                from: &mut $crate::typed::Unpacker<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, $crate::typed::PackError> {
                let ty = $crate::typed::TypeId(0);
                match Self::unpack_nillable(ty, from)? {
                    $crate::typed::Nillable::Nil => {
                        ::core::result::Result::Err($crate::typed::PackError::Mismatch)
                    }
                    value => ::core::result::Result::Ok(value.into_option()),
                }
            }

            fn unpack_nillable(
                _: $crate::typed::TypeId,
                from: &mut $crate::typed::Unpacker<'_>,
            ) -> ::core::result::Result<$crate::typed::Nillable<Self>, $crate::typed::PackError> {
                use $crate::typed::{ElementState, Nillable, TypeId};
                ::core::result::Result::Ok(match from.state()? {
                    $(ElementState::Present(TypeId($number)) => {
                        Nillable::Value(Self::$variant(from.value()?))
                    })*
                    ElementState::Nil(_) => Nillable::Nil,
                    ElementState::Absent => Nillable::Absent,
                    ElementState::Present(_) => {
                        return ::core::result::Result::Err($crate::typed::PackError::Mismatch);
                    }
                })
            }
        }
    };
}

/// An enum of strings: `enumeration!(Heat; Low = "low", High = "high"; Other);` `Other` holds values that the schema does not
/// list; an enum without it is `Copy`, and refuses them.
#[doc(hidden)]
#[macro_export]
macro_rules! __enumeration {
    (@common $name:ident; $($variant:ident = $text:literal),*) => {
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::typed::Pack for $name {
            fn pack(&self, packer: &mut $crate::typed::Packer<'_>) {
                packer.text(self.as_str());
            }

            fn is_scalar() -> bool {
                true
            }
        }

        impl $crate::typed::Unpack for $name {
            fn unpack(
                from: &mut $crate::typed::Unpacker<'_>,
            ) -> ::core::result::Result<Self, $crate::typed::PackError> {
                from.parsed()
            }

            fn is_scalar() -> bool {
                true
            }
        }
    };
    ($name:ident; $($variant:ident = $text:literal),* $(,)?; $other:ident) => {
        impl $name {
            /// The values that the schema lists.
            pub const LISTED: &'static [Self] = &[$(Self::$variant),*];

            /// The value as it is written.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::$other(text) => text,
                }
            }
        }

        impl ::core::convert::From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    text => Self::$other(text.into()),
                }
            }
        }

        impl ::core::str::FromStr for $name {
            type Err = ::core::convert::Infallible;

            fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
                ::core::result::Result::Ok(text.into())
            }
        }

        $crate::typed::enumeration!(@common $name; $($variant = $text),*);
    };
    ($name:ident; $($variant:ident = $text:literal),* $(,)?) => {
        impl $name {
            /// The values that the schema lists.
            pub const LISTED: &'static [Self] = &[$(Self::$variant),*];

            /// The value as it is written.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl ::core::str::FromStr for $name {
            type Err = $crate::typed::Unlisted;

            fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
                match text {
                    $($text => ::core::result::Result::Ok(Self::$variant),)*
                    text => ::core::result::Result::Err($crate::typed::Unlisted::new(
                        text,
                        &[$($text),*],
                    )),
                }
            }
        }

        $crate::typed::enumeration!(@common $name; $($variant = $text),*);
    };
}

/// The declared header blocks of a message, by the numbers of their branches: `headers!(CookHeaders in KITCHEN_SCHEMAS; 0 = ticket, 3 =
/// stamp = nillable(5));`
#[doc(hidden)]
#[macro_export]
macro_rules! __headers {
    ($name:ident in $schemas:ident; $($number:literal = $field:ident $(= nillable($ty:literal))?),* $(,)?) => {
        impl $crate::typed::Pack for $name {
            fn pack(&self, packer: &mut $crate::typed::Packer<'_>) {
                packer.count(
                    0 $(+ ::core::primitive::usize::from($crate::typed::BlockField::is_there(&self.$field)))*,
                );
                $(if $crate::typed::BlockField::is_there(&self.$field) {
                    packer.branch($number);
                    $crate::typed::BlockField::pack_block(&self.$field, packer, 0 $(+ $ty)?);
                })*
            }
        }

        impl $crate::typed::Headers for $name {
            fn schemas() -> &'static [$crate::typed::Schema] {
                &$schemas
            }

            fn read(
                blocks: &$crate::typed::Blocks<'_>,
            ) -> ::core::result::Result<Self, $crate::typed::PackError> {
                ::core::result::Result::Ok(Self {
                    $($field: blocks.get($number, 0 $(+ $ty)?)?,)*
                })
            }
        }
    };
}

/// The function that adds an operation to a service: `handler!(handle_kitchen_cook, Kitchen, cook, KITCHEN_COOK, request);`, without
/// `request` if the method takes none.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "server")]
macro_rules! __handler {
    ($name:ident, $service:ident, $method:ident, $operation:ident, $request:ident) => {
        fn $name<S: $service>(
            service: $crate::typed::TypedService<S>,
        ) -> $crate::typed::TypedService<S> {
            service.operation($operation, |service, $request, message| async move {
                $service::$method(&*service, $request, message).await
            })
        }
    };
    ($name:ident, $service:ident, $method:ident, $operation:ident) => {
        fn $name<S: $service>(
            service: $crate::typed::TypedService<S>,
        ) -> $crate::typed::TypedService<S> {
            service.operation($operation, |service, (), message| async move {
                $service::$method(&*service, message).await
            })
        }
    };
}

/// The errors of an operation with declared faults: `faults!(CookError; Burnt: Burnt = "Burnt", Gone: String = "Gone");` with the
/// names of the faults in the WSDL.
#[doc(hidden)]
#[macro_export]
macro_rules! __faults {
    ($name:ident; $($variant:ident = $fault:literal $(= $how:ident($($argument:tt)*))?),* $(,)?) => {
        impl<E: ::core::fmt::Display> ::core::fmt::Display for $name<E> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(Self::$variant(_) => {
                        f.write_str(::core::concat!("the peer answered with the fault ", $fault))
                    })*
                    Self::Other(error) => error.fmt(f),
                }
            }
        }

        impl<E: ::std::error::Error> ::std::error::Error for $name<E> {
            fn source(&self) -> ::core::option::Option<&(dyn ::std::error::Error + 'static)> {
                match self {
                    $(Self::$variant(declared) => ::core::option::Option::Some(declared.fault()),)*
                    Self::Other(error) => error.source(),
                }
            }
        }

        $crate::__faults_of_client!($name; $($variant = $fault $(= $how($($argument)*))?),*);

        impl $crate::typed::IntoFault for $name<$crate::Fault> {
            fn into_fault(self, target: &$crate::Target) -> $crate::Fault {
                match self {
                    $(Self::$variant(declared) => {
                        let fault = declared.fault().clone();
                        $crate::typed::fault(target, fault, $fault, |packer| {
                            packer$(.$how($($argument)*))?.value(&*declared);
                        })
                    })*
                    Self::Other(fault) => fault,
                }
            }
        }

        impl ::core::convert::From<$crate::Error> for $name<$crate::Error> {
            fn from(error: $crate::Error) -> Self {
                Self::Other(error)
            }
        }

        impl ::core::convert::From<$crate::Fault> for $name<$crate::Fault> {
            fn from(fault: $crate::Fault) -> Self {
                Self::Other(fault)
            }
        }
    };
}

/// The part of [`__faults`] for clients.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "client")]
macro_rules! __faults_of_client {
    ($name:ident; $($variant:ident = $fault:literal $(= $how:ident($($argument:tt)*))?),*) => {
        impl $crate::typed::OperationError for $name<$crate::Error> {
            fn of(client: &$crate::Client, operation: &str, error: $crate::Error) -> Self {
                if let ::core::option::Option::Some(details) =
                    $crate::typed::Details::of(client, operation, &error)
                {
                    $(if let ::core::option::Option::Some(declared) =
                        details.read($fault, |from| from$(.$how($($argument)*))?.value())
                    {
                        return Self::$variant(declared);
                    })*
                }
                Self::Other(error)
            }
        }
    };
}

/// Without clients there is nothing to read.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "client"))]
macro_rules! __faults_of_client {
    ($($any:tt)*) => {};
}

/// Conversions of details into the errors of an operation: `fault_conversions!(CookError; Burnt: Burnt, Gone: String);`
#[doc(hidden)]
#[macro_export]
macro_rules! __fault_conversions {
    ($name:ident; $($variant:ident: $detail:ty),* $(,)?) => {
        $(impl<E> ::core::convert::From<$detail> for $name<E> {
            fn from(detail: $detail) -> Self {
                Self::$variant(detail.into())
            }
        }

        impl<E> ::core::convert::From<$crate::typed::Declared<$detail>> for $name<E> {
            fn from(declared: $crate::typed::Declared<$detail>) -> Self {
                Self::$variant(declared)
            }
        })*
    };
}
