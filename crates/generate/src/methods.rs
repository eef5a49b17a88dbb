//! Interfaces as tokens: a client with a method for each operation, and a trait for the service with a function that
//! registers it.

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::quote;

use crate::emit::{ItemEmitter, documentation, is_plain, pack, unpack};
use crate::model::{DeclaredFault, FieldSlot, Payload};
use crate::operations::{Interface, Method};

pub(crate) fn interface(items: &ItemEmitter<'_>, interface: &Interface) -> TokenStream {
    let errors = interface.methods.iter().map(|method| errors(items, method));
    let headers = interface
        .methods
        .iter()
        .map(|method| headers(items, method));
    let client = client(items, interface);
    let service = service(items, interface);
    quote! { #client #service #(#errors)* #(#headers)* }
}

fn client(items: &ItemEmitter<'_>, interface: &Interface) -> TokenStream {
    let (name, service) = (&interface.client, &interface.name);
    let about = format!(" A client of `{service}`.");
    let schemas = schemas(interface);
    let methods = interface
        .methods
        .iter()
        .map(|method| client_method(items, method));
    quote! {
        #[doc = #about]
        #[derive(Clone, Debug)]
        pub struct #name {
            inner: bsoap::Client,
            schema: Schema,
        }

        impl #name {
            #schemas

            #[doc = " A client of the WSDL's first port that has an address; see [`bsoap::Client::from_wsdl`]."]
            pub fn from_wsdl(wsdl: impl Into<bsoap::Wsdl>) -> Result<Self, Error> {
                Self::new(bsoap::Client::from_wsdl(wsdl)?)
            }

            #[doc = " The same over a client with options of its own."]
            #[doc = ""]
            #[doc = " It is an error if its WSDL is not the one that this code was generated for."]
            pub fn new(inner: bsoap::Client) -> Result<Self, Error> {
                let schema = typed::schema_of(&inner, &Self::SCHEMAS)?;
                Ok(Self { inner, schema })
            }

            #[doc = " The client underneath."]
            pub fn inner(&self) -> &bsoap::Client {
                &self.inner
            }

            #(#methods)*
        }
    }
}

/// The fingerprints of the bindings that the code is right for.
fn schemas(interface: &Interface) -> TokenStream {
    let count = Literal::usize_unsuffixed(interface.schemas.len());
    let schemas = interface.schemas.iter().map(|&(request, response)| {
        let (request, response) = (hex(request), hex(response));
        quote! { Schema { request: #request, response: #response } }
    });
    quote! {
        #[doc = " What this code was generated for."]
        pub const SCHEMAS: [Schema; #count] = [#(#schemas),*];
    }
}

pub(crate) fn hex(number: u64) -> Literal {
    format!("0x{number:016x}")
        .parse()
        .unwrap_or_else(|_| Literal::u64_unsuffixed(number))
}

fn client_method(items: &ItemEmitter<'_>, method: &Method) -> TokenStream {
    let documentation = about(method);
    let (name, operation) = (&method.name, &method.operation);
    let request = method.input.place.as_ref().map(|slot| {
        let ty = items.free_type(slot);
        quote! { request: &#ty, }
    });
    let header_argument = method.headers.as_ref().map(|ty| quote! { headers: &#ty, });
    let write = writer(&method.input, &quote!(request));
    let headers = match &method.headers {
        Some(_) => quote!(Some(&|packer: &mut Packer<'_>| packer.value(headers))),
        None => quote!(None),
    };
    let (answer, read) = match &method.output {
        Some(output) => (answer_type(items, output), reader(output)),
        None => (
            quote!(()),
            quote!(BodyBranch {
                branch: None,
                content: |_: &mut Unpacker<'_>| Ok(())
            }),
        ),
    };
    let error = match &method.error {
        Some(error) => quote!(#error<Error>),
        None => quote!(Error),
    };
    let call =
        quote! { typed::call(&self.inner, self.schema, #operation, #write, #headers, #read).await };
    let result = match (&method.output, &method.error) {
        (None, _) => quote! { #call.map(|_| ()) },
        (Some(_), None) => quote! { #call?.ok_or_else(typed::no_answer) },
        (Some(_), Some(error)) => quote! {
            match #call {
                Ok(Some(answer)) => Ok(answer),
                Ok(None) => Err(#error::Other(typed::no_answer())),
                Err(error) => Err(#error::of(&self.inner, error)),
            }
        },
    };
    quote! {
        #documentation
        pub async fn #name(&self, #request #header_argument) -> Result<#answer, #error> { #result }
    }
}

fn about(method: &Method) -> TokenStream {
    let operation = format!("`{}`", method.operation);
    documentation(Some(method.documentation.as_deref().unwrap_or(&operation)))
}

fn answer_type(items: &ItemEmitter<'_>, payload: &Payload) -> TokenStream {
    payload
        .place
        .as_ref()
        .map_or_else(|| quote!(()), |slot| items.free_type(slot))
}

fn branch(payload: &Payload) -> TokenStream {
    match payload.branch {
        Some(branch) => {
            let branch = Literal::u32_unsuffixed(branch);
            quote!(Some(#branch))
        }
        None => quote!(None),
    }
}

fn writer(payload: &Payload, value: &TokenStream) -> TokenStream {
    let (branch, number) = (branch(payload), payload.branch.map(Literal::u32_unsuffixed));
    match &payload.place {
        Some(slot) if is_plain(slot) => quote!(typed::writing(#number, #value)),
        Some(slot) => {
            let pack = pack(slot, value);
            quote!(BodyBranch { branch: #branch, content: |packer: &mut Packer<'_>| { #pack } })
        }
        None => quote!(BodyBranch { branch: #branch, content: |_: &mut Packer<'_>| {} }),
    }
}

fn reader(payload: &Payload) -> TokenStream {
    let (branch, number) = (branch(payload), payload.branch.map(Literal::u32_unsuffixed));
    match &payload.place {
        Some(slot) if is_plain(slot) => quote!(typed::reading(#number)),
        Some(slot) => {
            let read = fallible(&unpack(slot));
            quote!(BodyBranch { branch: #branch, content: |from: &mut Unpacker<'_>| #read })
        }
        None => quote!(BodyBranch { branch: #branch, content: |_: &mut Unpacker<'_>| Ok(()) }),
    }
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
        quote! { #documentation #variant(#ty), }
    });
    let shown = method.faults.iter().map(|fault| {
        let (variant, text) = (
            &fault.variant,
            format!("the peer answered with the fault {}", fault.name),
        );
        quote! { Self::#variant(_) => f.write_str(#text), }
    });
    let operation = &method.operation;
    let reads = method.faults.iter().map(read_fault);
    let faults = method.faults.iter().map(write_fault);
    let has_twins = method.faults.iter().enumerate().any(|(index, fault)| {
        method.faults[..index]
            .iter()
            .any(|other| other.place.ty == fault.place.ty)
    });
    let froms = method.faults.iter().filter(|_| !has_twins).map(|fault| {
        let (variant, ty) = (&fault.variant, items.free_type(&fault.place));
        quote! {
            impl<E> From<#ty> for #name<E> {
                fn from(detail: #ty) -> Self { Self::#variant(detail) }
            }
        }
    });
    quote! {
        #[doc = #about]
        #[derive(Clone, Debug, PartialEq)]
        pub enum #name<E> {
            #(#variants)*
            #[doc = " Anything else."]
            Other(E),
        }

        impl<E: std::fmt::Display> std::fmt::Display for #name<E> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { #(#shown)* Self::Other(error) => error.fmt(f) }
            }
        }

        impl<E: std::fmt::Debug + std::fmt::Display> std::error::Error for #name<E> {}

        #(#froms)*

        impl #name<Error> {
            fn of(client: &bsoap::Client, error: Error) -> Self {
                let Error::Fault(fault) = &error else { return Self::Other(error) };
                let Ok(target) = client.target(#operation) else { return Self::Other(error) };
                #(#reads)*
                Self::Other(error)
            }
        }

        impl #name<Fault> {
            fn into_fault(self, target: &bsoap::Target) -> Fault {
                match self { #(#faults)* Self::Other(fault) => fault }
            }
        }
    }
}

fn read_fault(fault: &DeclaredFault) -> TokenStream {
    let (variant, name) = (&fault.variant, &fault.name);
    let read = reading(&fault.place);
    quote! {
        if let Some(detail) = typed::detail(&target, fault, #name, #read) {
            return Self::#variant(detail);
        }
    }
}

/// As a result: an expression that ends with `?` without it, any other in `Ok`.
fn fallible(expression: &TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = expression.clone().into_iter().collect();
    match tokens.split_last() {
        Some((TokenTree::Punct(mark), rest)) if mark.as_char() == '?' => {
            rest.iter().cloned().collect()
        }
        _ => quote!(Ok(#expression)),
    }
}

fn reading(slot: &FieldSlot) -> TokenStream {
    if is_plain(slot) {
        return quote!(Unpack::unpack);
    }
    let read = unpack(slot);
    let read = fallible(&read);
    quote!(|from: &mut Unpacker<'_>| #read)
}

fn write_fault(fault: &DeclaredFault) -> TokenStream {
    let (variant, name) = (&fault.variant, &fault.name);
    let write = pack(&fault.place, &quote!(&detail));
    quote! { Self::#variant(detail) => typed::fault(target, #name, #name, |packer| { #write }), }
}

/// The header blocks of a request: each at most once.
fn headers(items: &ItemEmitter<'_>, method: &Method) -> TokenStream {
    let Some(name) = &method.headers else {
        return TokenStream::new();
    };
    let about = format!(" The header blocks that `{}` declares.", method.operation);
    let fields = method.input.headers.iter().map(|(field, _, slot)| {
        let ty = items.free_type(slot);
        quote! { pub #field: Option<#ty>, }
    });
    let counted = method
        .input
        .headers
        .iter()
        .map(|(field, ..)| quote! { usize::from(self.#field.is_some()) });
    let packs = method.input.headers.iter().map(|(field, branch, slot)| {
        let branch = Literal::u32_unsuffixed(*branch);
        let pack = pack(slot, &quote!(block));
        quote! { if let Some(block) = &self.#field { packer.branch(#branch); #pack } }
    });
    quote! {
        #[doc = #about]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct #name { #(#fields)* }

        impl Pack for #name {
            fn pack(&self, packer: &mut Packer<'_>) {
                packer.count(#(#counted)+*);
                #(#packs)*
            }
        }
    }
}

fn service(items: &ItemEmitter<'_>, interface: &Interface) -> TokenStream {
    let (name, register) = (&interface.name, &interface.register);
    let about = documentation(
        interface
            .documentation
            .as_deref()
            .or(Some("What a service does.")),
    );
    let methods = interface.methods.iter().map(|method| {
        let documentation = self::about(method);
        let (name, arguments) = (&method.name, service_arguments(items, method));
        let (answer, error) = (service_answer(items, method), service_error(method));
        quote! {
            #documentation
            fn #name(&self, #arguments) -> impl Future<Output = Result<#answer, #error>> + Send;
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
        pub fn #register<S: #name>(service: S, mut builder: ServiceBuilder) -> ServiceBuilder {
            let service = Arc::new(service);
            #(builder = #registers(&service, builder);)*
            builder
        }

        #(#handlers)*
    }
}

fn service_arguments(items: &ItemEmitter<'_>, method: &Method) -> TokenStream {
    let request = method.input.place.as_ref().map(|slot| {
        let ty = items.free_type(slot);
        quote! { request: #ty, }
    });
    quote! { #request message: Message }
}

fn service_answer(items: &ItemEmitter<'_>, method: &Method) -> TokenStream {
    method
        .output
        .as_ref()
        .map_or_else(|| quote!(()), |output| answer_type(items, output))
}

fn service_error(method: &Method) -> TokenStream {
    match &method.error {
        Some(error) => quote!(#error<Fault>),
        None => quote!(Fault),
    }
}

/// The function that adds an operation to a service.
fn handler(interface: &Interface, method: &Method) -> TokenStream {
    let (service, client) = (&interface.name, &interface.client);
    let (name, register, operation) = (&method.name, &method.register, &method.operation);
    let about = format!(" Adds the operation `{operation}` to a service.");
    let (read_request, request) = match &method.input.place {
        Some(_) => {
            let read = reader(&method.input);
            (
                quote! { let request = typed::request(&message, &#client::SCHEMAS, #read)?; },
                quote!(request,),
            )
        }
        None => (TokenStream::new(), TokenStream::new()),
    };
    let needs_target = method.output.is_some() || method.error.is_some();
    let target = needs_target.then(|| quote! { let target = message.target().clone(); });
    let failed = match &method.error {
        Some(_) => quote! { .map_err(|error| error.into_fault(&target))? },
        None => quote!(?),
    };
    let answer = match &method.output {
        Some(output) => {
            let write = writer(output, &quote!(&answer));
            let binding = if output.place.is_some() {
                quote!(answer)
            } else {
                quote!(())
            };
            quote! { let #binding = result #failed; typed::answer(&target, #write) }
        }
        None => {
            quote! { result #failed; Ok::<_, Fault>(bsoap::service::Payload::Value(bsoap::Value::Nil)) }
        }
    };
    quote! {
        #[doc = #about]
        fn #register<S: #service>(service: &Arc<S>, builder: ServiceBuilder) -> ServiceBuilder {
            let service = Arc::clone(service);
            builder.handle(#operation, move |message: Message| {
                let service = Arc::clone(&service);
                async move {
                    #read_request
                    #target
                    let result = #service::#name(&*service, #request message).await;
                    #answer
                }
            })
        }
    }
}
