//! Interfaces as tokens: a descriptor of each operation, a client with a method for each, and a trait for the service with a
//! function that registers it.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::Options;
use crate::emit::{ItemEmitter, documentation, how, type_number};
use crate::model::{Occurs, Payload};
use crate::operations::{Interface, Method};

pub(crate) fn interface(
    items: &ItemEmitter<'_>,
    interface: &Interface,
    options: &Options,
) -> TokenStream {
    let methods = interface.methods.iter();
    let operations = methods.clone().map(|method| operation(items, method));
    let errors = methods.clone().map(|method| errors(items, method));
    let headers = methods.map(|method| headers(items, interface, method));
    let schemas = schemas(interface);
    let client = options
        .client
        .then(|| client(items, interface, options.embed));
    let service = options.service.then(|| service(items, interface));
    quote! { #client #service #schemas #(#operations)* #(#errors)* #(#headers)* }
}

/// The fingerprints of the bindings that the code is right for.
fn schemas(interface: &Interface) -> TokenStream {
    let name = &interface.schemas_name;
    let about = format!(" What the code for `{}` was generated for.", interface.name);
    let count = Literal::usize_unsuffixed(interface.schemas.len());
    let schemas = interface.schemas.iter().map(|&(request, response)| {
        let (request, response) = (hex(request), hex(response));
        quote! { typed::Schema::new(#request, #response) }
    });
    quote! {
        #[doc = #about]
        pub static #name: [typed::Schema; #count] = [#(#schemas),*];
    }
}

pub(crate) fn hex(number: u64) -> Literal {
    format!("0x{number:016x}")
        .parse()
        .unwrap_or_else(|_| Literal::u64_unsuffixed(number))
}

/// The descriptor of an operation.
fn operation(items: &ItemEmitter<'_>, method: &Method) -> TokenStream {
    let (name, operation) = (&method.descriptor, &method.operation);
    let (request, input) = (payload_type(items, &method.input), body(&method.input));
    match &method.output {
        Some(output) => {
            let (answer, output) = (payload_type(items, output), body(output));
            quote! {
                const #name: typed::Operation<#request, #answer> =
                    typed::Operation::new(#operation, #input, #output);
            }
        }
        None => quote! {
            const #name: typed::Operation<#request, ()> = typed::Operation::one_way(#operation, #input);
        },
    }
}

fn payload_type(items: &ItemEmitter<'_>, payload: &Payload) -> TokenStream {
    payload
        .place
        .as_ref()
        .map_or_else(|| quote!(()), |slot| items.free_type(slot))
}

fn body(payload: &Payload) -> TokenStream {
    let branch = payload.branch.map(Literal::u32_unsuffixed);
    let encoded = payload.is_encoded.then(|| quote!(.encoded()));
    let body = match (&payload.place, branch) {
        (Some(slot), Some(branch)) => match slot.nillable.map(type_number) {
            Some(ty) => quote!(typed::Body::nillable(#branch, #ty)),
            None => quote!(typed::Body::new(#branch)),
        },
        (_, Some(branch)) => quote!(typed::Body::empty(Some(#branch))),
        (_, None) => quote!(typed::Body::empty(None)),
    };
    quote!(#body #encoded)
}

fn client(items: &ItemEmitter<'_>, interface: &Interface, embed: bool) -> TokenStream {
    let (name, service, schemas) = (&interface.client, &interface.name, &interface.schemas_name);
    let about = format!(" A client of `{service}`.");
    let methods = interface
        .methods
        .iter()
        .map(|method| client_method(items, method));
    let embedded = embed.then(|| {
        quote! {
            #[doc = " A client of the embedded WSDL's first port that has an address. To change its options, give"]
            #[doc = " `bsoap::Client::builder(wsdl())` to [`new`](Self::new)."]
            pub fn embedded() -> Result<Self, bsoap::Error> {
                Self::from_wsdl(wsdl())
            }
        }
    });
    quote! {
        #[doc = #about]
        #[derive(Clone, Debug)]
        pub struct #name {
            inner: typed::TypedClient,
        }

        impl #name {
            #[doc = " A client of the WSDL's first port that has an address; see [`bsoap::Client::from_wsdl`]."]
            pub fn from_wsdl(wsdl: impl Into<bsoap::Wsdl>) -> Result<Self, bsoap::Error> {
                Self::new(bsoap::Client::from_wsdl(wsdl)?)
            }

            #embedded

            #[doc = " The same over a client with options of its own."]
            #[doc = ""]
            #[doc = " It is an error if its WSDL is not the one that this code was generated for."]
            pub fn new(client: bsoap::Client) -> Result<Self, bsoap::Error> {
                let inner = typed::TypedClient::new(client, &#schemas)?;
                Ok(Self { inner })
            }

            #[doc = " The same client, whose calls have these options: header blocks, HTTP headers, a time limit, an address."]
            pub fn with(&self, options: bsoap::CallOptions) -> Self {
                Self { inner: self.inner.with(options) }
            }

            #[doc = " The client underneath."]
            pub fn inner(&self) -> &bsoap::Client {
                self.inner.client()
            }

            #(#methods)*
        }
    }
}

fn client_method(items: &ItemEmitter<'_>, method: &Method) -> TokenStream {
    let documentation = about(method);
    let (name, descriptor) = (&method.name, &method.descriptor);
    let (request, given) = match &method.input.place {
        Some(slot) => {
            let ty = items.free_type(slot);
            (quote! { request: &#ty, }, quote!(request))
        }
        None => (TokenStream::new(), quote!(&())),
    };
    let (headers, given_headers) = match &method.headers {
        Some(ty) => (quote! { headers: &#ty, }, quote!(Some(headers))),
        None => (TokenStream::new(), quote!(None)),
    };
    let answer = answer_type(items, method);
    let error = match &method.error {
        Some(error) => quote!(#error<bsoap::Error>),
        None => quote!(bsoap::Error),
    };
    quote! {
        #documentation
        pub fn #name(&self, #request #headers) -> typed::Call<#answer, #error> {
            self.inner.call(&#descriptor, #given, #given_headers)
        }
    }
}

fn about(method: &Method) -> TokenStream {
    let operation = format!("`{}`", method.operation);
    documentation(Some(method.documentation.as_deref().unwrap_or(&operation)))
}

fn answer_type(items: &ItemEmitter<'_>, method: &Method) -> TokenStream {
    method
        .output
        .as_ref()
        .map_or_else(|| quote!(()), |output| payload_type(items, output))
}

/// The error type of an operation that declares faults: those, and everything else as an [`Error`] on the client, as a fault on the
/// service.
fn errors(items: &ItemEmitter<'_>, method: &Method) -> TokenStream {
    let Some(name) = &method.error else {
        return TokenStream::new();
    };
    let about = format!(
        " Why `{}` has no answer: a fault it declares, or something else.",
        method.operation
    );
    let variants = method.faults.iter().map(|fault| {
        let documentation = documentation(fault.documentation.as_deref());
        let (variant, ty) = (&fault.variant, items.free_type(&fault.place));
        quote! { #documentation #variant(typed::Declared<#ty>), }
    });
    let described = method.faults.iter().map(|fault| {
        let (variant, name, how) = (&fault.variant, &fault.name, how(&fault.place));
        quote! { #variant = #name #how }
    });
    // Details of one type can be two faults: then the program has to say which.
    let has_twins = method.faults.iter().enumerate().any(|(index, fault)| {
        method.faults[..index]
            .iter()
            .any(|other| other.place.ty == fault.place.ty)
    });
    let conversions = (!has_twins).then(|| {
        let conversions = method.faults.iter().map(|fault| {
            let (variant, ty) = (&fault.variant, items.free_type(&fault.place));
            quote! { #variant: #ty }
        });
        quote! { typed::fault_conversions!(#name; #(#conversions),*); }
    });
    quote! {
        #[doc = #about]
        #[derive(Clone, Debug, PartialEq)]
        pub enum #name<E> {
            #(#variants)*
            #[doc = " Anything else."]
            Other(E),
        }
        typed::faults!(#name; #(#described),*);
        #conversions
    }
}

/// The types of the header blocks of a request and of an answer: each at most once.
fn headers(items: &ItemEmitter<'_>, interface: &Interface, method: &Method) -> TokenStream {
    let operation = &method.operation;
    let request = method.headers.as_ref().map(|name| {
        let about = format!(" The header blocks that `{operation}` declares.");
        header_blocks(items, interface, (name, &about), &method.input)
    });
    let output = method.answer_headers.as_ref().zip(method.output.as_ref());
    let answer = output.map(|(name, output)| {
        let about = format!(" The header blocks that the answer of `{operation}` declares.");
        header_blocks(items, interface, (name, &about), output)
    });
    quote! { #request #answer }
}

fn header_blocks(
    items: &ItemEmitter<'_>,
    interface: &Interface,
    (name, about): (&Ident, &str),
    payload: &Payload,
) -> TokenStream {
    let blocks = payload.headers.iter();
    let optional = blocks.map(|(field, branch, slot)| {
        let mut slot = slot.clone();
        slot.occurs = Occurs::Optional;
        (field, Literal::u32_unsuffixed(*branch), slot)
    });
    let optional: Vec<_> = optional.collect();
    let fields = optional.iter().map(|(field, _, slot)| {
        let ty = items.free_type(slot);
        quote! { pub #field: #ty, }
    });
    let described = optional.iter().map(|(field, branch, slot)| {
        let how = how(slot);
        quote! { #branch = #field #how }
    });
    let derive = items.derive(&["Clone", "Debug", "Default", "PartialEq"]);
    let schemas = &interface.schemas_name;
    let serde = (!items.serde.is_none()).then(|| quote! { #[serde(default)] });
    quote! {
        #[doc = #about]
        #derive
        #serde
        pub struct #name { #(#fields)* }
        typed::headers!(#name in #schemas; #(#described),*);
    }
}

fn service(items: &ItemEmitter<'_>, interface: &Interface) -> TokenStream {
    let (name, register, schemas) = (
        &interface.name,
        &interface.register,
        &interface.schemas_name,
    );
    let about = documentation(
        interface
            .documentation
            .as_deref()
            .or(Some("What a service does.")),
    );
    let methods = interface.methods.iter().map(|method| {
        let documentation = self::about(method);
        let request = method.input.place.as_ref().map(|slot| {
            let ty = items.free_type(slot);
            quote! { request: #ty, }
        });
        let (name, answer) = (&method.name, answer_type(items, method));
        let error = match &method.error {
            Some(error) => quote!(#error<bsoap::Fault>),
            None => quote!(bsoap::Fault),
        };
        quote! {
            #documentation
            fn #name(&self, #request message: bsoap::Message)
                -> impl Future<Output = Result<#answer, #error>> + Send;
        }
    });
    let handlers = interface
        .methods
        .iter()
        .map(|method| handler(interface, method));
    let text = format!(" Adds the operations of [`{name}`] to a service.");
    let registers = interface.methods.iter().map(|method| &method.register);
    quote! {
        #about
        #[doc = ""]
        #[doc = " `message` is the whole request: header blocks, HTTP headers, the peer's address."]
        pub trait #name: Send + Sync + 'static { #(#methods)* }

        #[doc = #text]
        pub fn #register<S: #name>(service: S, builder: bsoap::ServiceBuilder) -> bsoap::ServiceBuilder {
            let mut service = typed::TypedService::new(service, builder, &#schemas);
            #(service = #registers(service);)*
            service.into_builder()
        }

        #(#handlers)*
    }
}

/// The function that adds an operation to a service. (One function with all of them takes the compiler longer.)
fn handler(interface: &Interface, method: &Method) -> TokenStream {
    let service = &interface.name;
    let (name, register, descriptor) = (&method.name, &method.register, &method.descriptor);
    let request = method.input.place.as_ref().map(|_| quote!(, request));
    quote! { typed::handler!(#register, #service, #name, #descriptor #request); }
}
