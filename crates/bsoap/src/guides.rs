//! The README and the guides, whose snippets run as documentation tests: one struct for each page.

#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/guide/service.md")]
struct Service;

#[cfg(all(feature = "client", feature = "server"))]
#[doc = include_str!("../../../docs/guide/addressing.md")]
struct Addressing;

#[doc = include_str!("../../../docs/guide/attachments.md")]
struct Attachments;

#[cfg(feature = "wsse")]
#[doc = include_str!("../../../docs/guide/client.md")]
struct Client;

#[cfg(all(feature = "digest", feature = "cookies", feature = "retry"))]
#[doc = include_str!("../../../docs/guide/transports.md")]
struct Transports;

#[doc = include_str!("../../../docs/guide/errors.md")]
struct Errors;

#[doc = include_str!("../../../docs/guide/generated.md")]
struct Generated;

#[doc = include_str!("../../../docs/guide/encoded.md")]
struct Encoded;

#[doc = include_str!("../../../docs/guide/values.md")]
struct Values;

#[doc = include_str!("../../../docs/guide/differential.md")]
struct Differential;

#[doc = include_str!("../../../docs/guide/embedding.md")]
struct Embedding;

#[cfg(feature = "tls")]
#[doc = include_str!("../../../docs/guide/operations.md")]
struct Operations;
