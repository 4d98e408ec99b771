//! Made-up data: names, addresses, and sentences in the words of a language.

macro_rules! kinds {
    ($($variant:ident = $name:literal;)*) => {
        /// The kind of a made-up value.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fake { $(#[doc = $name] $variant,)* }

        impl Fake {
            /// All kinds with their names in `${fake.NAME}`.
            pub const NAMED: &'static [(&'static str, Fake)] = &[$(($name, Fake::$variant),)*];

            /// Returns the name in `${fake.NAME}`.
            pub const fn name(self) -> &'static str { match self { $(Fake::$variant => $name,)* } }
        }
    };
}

kinds! {
    FirstName = "first_name";
    LastName = "last_name";
    Name = "name";
    Email = "email";
    UserName = "user_name";
    Phone = "phone";
    Street = "street";
    City = "city";
    PostCode = "post_code";
    Address = "address";
    Country = "country";
    Company = "company";
    Word = "word";
    Sentence = "sentence";
    Paragraph = "paragraph";
}

/// The language and the country of made-up data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locale {
    /// English, United States.
    #[default]
    En,
    /// German, Germany.
    De,
}

impl Locale {
    /// All locales with their names in expressions.
    pub const NAMED: &'static [(&'static str, Locale)] = &[("en", Locale::En), ("de", Locale::De)];

    /// Returns the name in expressions.
    pub const fn name(self) -> &'static str {
        match self {
            Locale::En => "en",
            Locale::De => "de",
        }
    }
}
