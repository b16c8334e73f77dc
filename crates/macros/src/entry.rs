//! `#[main]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, ItemFn, LitInt, Result};

use crate::paths;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let threads = threads(arguments)?;
    let ItemFn { attrs, vis, mut sig, block } = syn::parse2(item)?;
    if sig.asyncness.take().is_none() {
        return Err(Error::new(sig.fn_token.span(), "the function must be `async`"));
    }
    if !sig.inputs.is_empty() {
        return Err(Error::new(sig.inputs.span(), "the function must take no arguments"));
    }
    if !sig.generics.params.is_empty() {
        return Err(Error::new(sig.generics.span(), "the function must not be generic"));
    }
    let core = paths::core()?;
    let output = match &sig.output {
        syn::ReturnType::Default => quote!(()),
        syn::ReturnType::Type(_, output) => quote!(#output),
    };
    Ok(quote! {
        #(#attrs)*
        #vis #sig {
            async fn body() -> #output #block
            #core::__private::enter(|| #core::__private::block_on(#threads, body()))
        }
    })
}

/// The number of threads: `0` for tokio's default.
fn threads(arguments: TokenStream) -> Result<usize> {
    let mut threads = 0;
    let parser = syn::meta::parser(|meta| {
        if !meta.path.is_ident("worker_threads") {
            return Err(meta.error("unknown argument: only `worker_threads = N` is known"));
        }
        threads = meta.value()?.parse::<LitInt>()?.base10_parse()?;
        if threads == 0 {
            return Err(meta.error("`worker_threads` is at least 1"));
        }
        Ok(())
    });
    syn::parse::Parser::parse2(parser, arguments)?;
    Ok(threads)
}
