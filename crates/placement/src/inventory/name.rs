//! Names that come from outside: short, printable, cheap to copy.

/// The longest name, in bytes.
pub const NAME_LEN_MAX: usize = 253;

/// Why a text is no name. Never worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No text at all.
    #[error("use a name: it is empty")]
    Empty,
    /// More text than a name may have.
    #[error("use a name of {len} bytes: at most {len_max} are allowed")]
    TooLong {
        /// How long it was, in bytes.
        len: usize,
        /// How long it may be.
        len_max: usize,
    },
    /// A character that cannot be printed.
    #[error("use a name with a control character at byte {at}")]
    Control {
        /// Where it stands.
        at: usize,
    },
}

pub(crate) fn check(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > NAME_LEN_MAX {
        return Err(NameError::TooLong { len: text.len(), len_max: NAME_LEN_MAX });
    }
    match text.char_indices().find(|(_, character)| character.is_control()) {
        Some((at, _)) => Err(NameError::Control { at }),
        None => Ok(()),
    }
}

/// Declares a type for names of one kind.
macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Takes a text as a name.
            ///
            /// # Errors
            /// When it is empty, too long, or holds control characters.
            pub fn new(text: &str) -> Result<Self, $crate::inventory::NameError> {
                $crate::inventory::check_name(text)?;
                Ok(Self(text.into()))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self("unnamed".into())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::inventory::NameError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::inventory::NameError;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.as_ref().to_owned()
            }
        }
    };
}

pub(crate) use name_type;

name_type! {
    /// The name of a host, unique among the hosts of a runtime.
    HostName
}

name_type! {
    /// The name of a slice, unique among the slices of a runtime.
    SliceName
}
