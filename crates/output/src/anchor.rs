//! The places of a run's page that findings and hints lead to.

macro_rules! anchors {
    ($($(#[$meta:meta])* $anchor:ident = $id:literal, $title:literal, $noun:literal;)*) => {
        /// A place of the page.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Anchor { $($(#[$meta])* $anchor,)* }

        impl Anchor {
            /// The id of the section or of the chart.
            pub const fn id(self) -> &'static str { match self { $(Anchor::$anchor => $id,)* } }

            /// The name of a link that stands by itself.
            pub const fn title(self) -> &'static str { match self { $(Anchor::$anchor => $title,)* } }

            /// The name of a link in a sentence.
            pub const fn noun(self) -> &'static str { match self { $(Anchor::$anchor => $noun,)* } }
        }
    };
}

anchors! {
    /// The chart over time.
    Timeline = "chart-timeline", "Over time", "the course over time";
    /// The chart of whole distributions.
    Spectrum = "chart-spectrum", "Spectrum", "the spectrum of response times";
    Times = "times", "Response times", "the response times";
    Phases = "phases", "Phases", "the phases";
    Requests = "requests", "Requests", "the requests";
    Errors = "errors", "Errors", "the errors";
    Checks = "checks", "Checks", "the checks";
    Thresholds = "thresholds", "Thresholds", "the thresholds";
    Findings = "findings", "Findings", "the findings";
    System = "system", "System under test", "the system under test";
    Connections = "connections", "Connections", "the connections";
    Machines = "machines", "Machines", "the machines";
    Generator = "generator", "Load generator", "what the load generator says of itself";
    Method = "method", "Method", "the plan";
}
