//! `#[derive(Actor)]` and `#[derive(Reply)]`, which work where kameo is not a dependency of the user's own.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

use crate::paths;

pub(crate) fn actor(item: TokenStream) -> Result<TokenStream> {
    let DeriveInput { ident, generics, .. } = syn::parse2(item)?;
    let core = paths::core()?;
    let kameo = quote!(#core::__private::kameo);
    let (params, arguments, bounds) = generics.split_for_impl();
    let name = ident.to_string();
    Ok(quote! {
        #[automatically_derived]
        impl #params #kameo::Actor for #ident #arguments #bounds {
            type Args = Self;
            type Error = #kameo::error::Infallible;

            fn name() -> &'static str {
                #name
            }

            async fn on_start(
                state: Self,
                _: #kameo::actor::ActorRef<Self>,
            ) -> ::core::result::Result<Self, Self::Error> {
                ::core::result::Result::Ok(state)
            }
        }
    })
}

pub(crate) fn reply(item: TokenStream) -> Result<TokenStream> {
    let DeriveInput { ident, generics, .. } = syn::parse2(item)?;
    let core = paths::core()?;
    let kameo = quote!(#core::__private::kameo);
    let (params, arguments, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #params #kameo::reply::Reply for #ident #arguments #bounds {
            type Ok = Self;
            type Error = #kameo::error::Infallible;
            type Value = Self;

            fn to_result(self) -> ::core::result::Result<Self, #kameo::error::Infallible> {
                ::core::result::Result::Ok(self)
            }

            fn into_any_err(self) -> ::core::option::Option<::std::boxed::Box<dyn #kameo::reply::ReplyError>> {
                ::core::option::Option::None
            }

            fn into_value(self) -> Self {
                self
            }
        }
    })
}
