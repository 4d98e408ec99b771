//! The table of what a protocol rejects: one number, one error code, and one sentence for each kind, so that a failure
//! can be counted without a string.

macro_rules! kinds {
    ($(#[doc = $about:literal])+ $enum:ident: $count:literal, $code_type:ty, $codes:ident;
     $($(#[doc = $doc:literal])+ $name:ident = $number:literal, $code:ident, $sentence:literal;)+) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $enum {
            $($(#[doc = $doc])+ $name = $number,)+
        }

        impl $enum {
            /// All variants in the order of their numbers.
            pub const ALL: [$enum; $count] = [$($enum::$name,)+];

            /// Returns the stable number, from 1.
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// Returns the error code for the peer.
            pub const fn code(self) -> $code_type {
                match self {
                    $($enum::$name => $codes::$code,)+
                }
            }

            /// Returns a lower-case fragment that says what was received.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $($enum::$name => $sentence,)+
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.sentence())
            }
        }

        impl std::error::Error for $enum {}
    };
}

pub(crate) use kinds;
