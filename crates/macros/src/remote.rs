//! `#[remote]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{
    Error, GenericArgument, ImplItem, ItemImpl, LitStr, PathArguments, PathSegment, Result, Type, parse_quote,
};

use crate::paths;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let name = name(arguments)?;
    let mut item: ItemImpl = syn::parse2(item)?;
    if !item.generics.params.is_empty() {
        return Err(Error::new(
            item.generics.span(),
            "generic types cannot be found at link time: implement the name by hand (`const NAME`, `RemoteMessage`) and \
             register each instance with `RuntimeBuilder::register_actor` and `register_message`",
        ));
    }
    let Some(segment) = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last()).cloned() else {
        return Err(Error::new(item.span(), WHERE));
    };
    match segment.ident.to_string().as_str() {
        "RemoteActor" => actor(name, &mut item),
        "Message" => message(name, &item, &segment),
        _ => Err(Error::new(segment.span(), WHERE)),
    }
}

const WHERE: &str = "`#[remote]` goes on `impl RemoteActor for A` or `impl Message<M> for A`";

fn name(arguments: TokenStream) -> Result<Option<LitStr>> {
    let mut name = None;
    let parser = syn::meta::parser(|meta| {
        if !meta.path.is_ident("name") {
            return Err(meta.error("unknown argument: only `name = \"...\"` is known"));
        }
        let text: LitStr = meta.value()?.parse()?;
        let value = text.value();
        if value.is_empty() || value.trim() != value || value.contains('/') {
            return Err(Error::new(
                text.span(),
                "a name is not empty, has no blanks around it and no `/` in it",
            ));
        }
        name = Some(text);
        Ok(())
    });
    syn::parse::Parser::parse2(parser, arguments)?;
    Ok(name)
}

fn actor(name: Option<LitStr>, item: &mut ItemImpl) -> Result<TokenStream> {
    let core = paths::core()?;
    let this = item.self_ty.clone();
    let written =
        item.items.iter().any(|item| matches!(item, ImplItem::Const(constant) if constant.ident == "NAME"));
    match (written, name) {
        (true, Some(name)) => return Err(Error::new(name.span(), "the impl has a `NAME` already")),
        (true, None) => {}
        (false, Some(name)) => item.items.insert(0, parse_quote!(const NAME: &'static str = #name;)),
        (false, None) => {
            let last = last_part(&this)?;
            let name = quote!(concat!(env!("CARGO_PKG_NAME"), "::", #last));
            item.items.insert(0, parse_quote!(const NAME: &'static str = #name;));
        }
    }
    Ok(quote! {
        #item
        const _: () = {
            #[#core::__private::linkme::distributed_slice(#core::__private::ACTORS)]
            #[linkme(crate = #core::__private::linkme)]
            static ENTRY: #core::__private::ActorEntry = #core::__private::ActorEntry::of::<#this>();
        };
    })
}

fn message(name: Option<LitStr>, item: &ItemImpl, segment: &PathSegment) -> Result<TokenStream> {
    let core = paths::core()?;
    let this = &item.self_ty;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return Err(Error::new(segment.span(), "`Message` needs the message type: `Message<M>`"));
    };
    let Some(GenericArgument::Type(message)) = arguments.args.first() else {
        return Err(Error::new(arguments.span(), "`Message` needs the message type: `Message<M>`"));
    };
    let name = match name {
        Some(name) => name.value(),
        None => last_part(message)?,
    };
    Ok(quote! {
        #item
        #[automatically_derived]
        impl #core::RemoteMessage<#message> for #this {
            const MESSAGE: &'static str = #name;
        }
        const _: () = {
            #[#core::__private::linkme::distributed_slice(#core::__private::MESSAGES)]
            #[linkme(crate = #core::__private::linkme)]
            static ENTRY: #core::__private::MessageEntry = #core::__private::MessageEntry::of::<#this, #message>();
        };
    })
}

/// The last part of a type's path with its arguments, without blanks: `a::b::Add` is `Add`, `Vec<u8>` is `Vec<u8>`.
fn last_part(this: &Type) -> Result<String> {
    let tokens = match this {
        Type::Path(path) => path.path.segments.last().map(ToTokens::to_token_stream),
        other => Some(other.to_token_stream()),
    };
    let text: String = tokens.map(|tokens| tokens.to_string()).unwrap_or_default();
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if text.contains('/') || text.is_empty() {
        return Err(Error::new(this.span(), "give it a name: `#[remote(name = \"...\")]`"));
    }
    Ok(text)
}
