//! Places on the page of a run that findings and hints link to.

macro_rules! anchors {
    ($($(#[$meta:meta])* $anchor:ident = $id:literal, $title:literal, $noun:literal;)*) => {
        /// A place of the page.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Anchor { $($(#[$meta])* $anchor,)* }

        impl Anchor {
            /// The id of the section or of the chart.
            pub const fn id(self) -> &'static str { match self { $(Anchor::$anchor => $id,)* } }

            /// The label of a link on its own.
            pub const fn title(self) -> &'static str { match self { $(Anchor::$anchor => $title,)* } }

            /// The label of a link in a sentence.
            pub const fn noun(self) -> &'static str { match self { $(Anchor::$anchor => $noun,)* } }
        }
    };
}

anchors! {
    /// The chart over time.
    Timeline = "chart-timeline", "Timeline", "the timeline";
    /// The chart of the full distributions.
    Spectrum = "chart-spectrum", "Spectrum", "the spectrum of response times";
    Times = "times", "Response times", "the response times";
    Phases = "phases", "Latency breakdown", "the latency breakdown";
    Requests = "requests", "Requests", "the requests";
    Errors = "errors", "Errors", "the errors";
    Checks = "checks", "Checks", "the checks";
    Thresholds = "thresholds", "Thresholds", "the thresholds";
    Findings = "findings", "Findings", "the findings";
    System = "system", "System under test", "the system under test";
    Connections = "connections", "Connections", "the connections";
    Machines = "machines", "Load generators", "the load generators";
    Generator = "generator", "Load generator", "load generator health";
    Method = "method", "Method", "the plan";
}
