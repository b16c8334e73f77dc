//! Where the expansion finds mobula's core in the user's crate.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The path of `mobula_core`, through `mobula` where only that is a dependency.
pub(crate) fn core() -> syn::Result<TokenStream> {
    // Both crates name themselves as their users do, so `Itself` needs no `crate`.
    let found = |package: &str, own: &str| match crate_name(package) {
        Ok(FoundCrate::Itself) => Some(Ident::new(own, Span::call_site())),
        Ok(FoundCrate::Name(name)) => Some(Ident::new(&name, Span::call_site())),
        Err(_) => None,
    };
    if let Some(name) = found("mobula-core", "mobula_core") {
        return Ok(quote!(::#name));
    }
    if let Some(name) = found("mobula", "mobula") {
        return Ok(quote!(::#name::core));
    }
    Err(syn::Error::new(
        Span::call_site(),
        "neither `mobula` nor `mobula-core` is a dependency of this crate",
    ))
}
