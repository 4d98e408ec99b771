//! What each class of element is.

/// The part of an element in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Group,
    Controller,
    Sampler,
    /// Belongs to the samplers in its scope.
    Member,
    /// Without effect on a run, with the reason.
    Window(&'static str),
    /// A protocol or a part that plimsoll does not run.
    Unsupported,
    Unknown,
}

const GROUPS: &[&str] = &[
    "ThreadGroup",
    "SetupThreadGroup",
    "PostThreadGroup",
    "UltimateThreadGroup",
    "SteppingThreadGroup",
    "ConcurrencyThreadGroup",
    "ArrivalsThreadGroup",
    "FreeFormArrivalsThreadGroup",
    "OpenModelThreadGroup",
];

const CONTROLLERS: &[&str] = &[
    "GenericController",
    "RecordingController",
    "LoopController",
    "IfController",
    "WhileController",
    "ForeachController",
    "SwitchController",
    "OnceOnlyController",
    "InterleaveControl",
    "RandomController",
    "RandomOrderController",
    "ThroughputController",
    "RunTime",
    "TransactionController",
    "CriticalSectionController",
    "IncludeController",
    "ModuleController",
    // What a Module Controller may refer to.
    "TestFragmentController",
];

const SAMPLERS: &[&str] = &[
    "HTTPSamplerProxy",
    "HTTPSampler",
    "HTTPSampler2",
    "DebugSampler",
    "TestAction",
    "JSR223Sampler",
    "BeanShellSampler",
    "BSFSampler",
    "JavaSampler",
];

const MEMBERS: &[&str] = &[
    "ConfigTestElement",
    "Arguments",
    "HeaderManager",
    "CookieManager",
    "AuthManager",
    "CacheManager",
    "DNSCacheManager",
    "CSVDataSet",
    "CounterConfig",
    "RandomVariableConfig",
    "UserParameters",
    "URLRewritingModifier",
    "SampleTimeout",
    "JSR223PreProcessor",
    "BeanShellPreProcessor",
    "BSFPreProcessor",
    "ConstantTimer",
    "UniformRandomTimer",
    "GaussianRandomTimer",
    "PoissonRandomTimer",
    "ConstantThroughputTimer",
    "PreciseThroughputTimer",
    "SyncTimer",
    "JSR223Timer",
    "BeanShellTimer",
    "BSFTimer",
    "RegexExtractor",
    "BoundaryExtractor",
    "JSONPostProcessor",
    "JMESPathExtractor",
    "XPathExtractor",
    "XPath2Extractor",
    "HtmlExtractor",
    "DebugPostProcessor",
    "JSR223PostProcessor",
    "BeanShellPostProcessor",
    "BSFPostProcessor",
    "ResultAction",
    "ResponseAssertion",
    "SizeAssertion",
    "DurationAssertion",
    "JSONPathAssertion",
    "JMESPathAssertion",
    "XPathAssertion",
    "XPath2Assertion",
    "MD5HexAssertion",
    "XMLAssertion",
    "JSR223Assertion",
    "BeanShellAssertion",
    "BSFAssertion",
    "ResultCollector",
    "ResultSaver",
];

/// Elements without effect on a run, with the reason.
const WINDOWS: &[(&str, &str)] = &[
    ("Summariser", "plimsoll shows its own summary"),
    ("ViewResultsFullVisualizer", "it only shows results"),
    ("GraphVisualizer", "it only shows results"),
    ("BackendListener", "results are not sent; use the monitors and exports of plimsoll"),
    ("MailerResultCollector", "mails are not sent"),
    ("PropertyControl", "it only shows properties"),
    ("WorkBench", "it is not a part of the test"),
    ("ProxyControl", "it records a plan"),
    ("HttpMirrorControl", "it is a server of JMeter's window"),
    ("LoginConfig", "HTTP requests do not read it"),
    ("JavaConfig", "HTTP requests do not read it"),
    ("DataSourceElement", "only JDBC requests read it"),
    ("JDBCDataSource", "only JDBC requests read it"),
];

const UNSUPPORTED: &[&str] = &[
    "JDBCSampler",
    "JDBCPreProcessor",
    "JDBCPostProcessor",
    "FTPSampler",
    "LDAPSampler",
    "LDAPExtSampler",
    "JMSSampler",
    "PublisherSampler",
    "SubscriberSampler",
    "JUnitSampler",
    "TCPSampler",
    "SystemSampler",
    "SmtpSampler",
    "MailReaderSampler",
    "AjpSampler",
    "AccessLogSampler",
    "BoltSampler",
    "SoapSampler",
    "KeystoreConfig",
    "AnchorModifier",
    "RegExUserParameters",
    "CompareAssertion",
    "XMLSchemaAssertion",
    "SMIMEAssertion",
    "SMIMEAssertionTestElement",
    "HTMLAssertion",
    "JSR223Listener",
    "BeanShellListener",
    "BSFListener",
];

/// Returns the part of a class.
pub(super) fn role(class: &str) -> Role {
    let window = WINDOWS.iter().find(|(known, _)| *known == class);
    match class {
        _ if GROUPS.contains(&class) => Role::Group,
        _ if CONTROLLERS.contains(&class) => Role::Controller,
        _ if SAMPLERS.contains(&class) => Role::Sampler,
        _ if MEMBERS.contains(&class) => Role::Member,
        _ if UNSUPPORTED.contains(&class) => Role::Unsupported,
        // Listeners of plugins are known by the end of their class.
        _ if class.ends_with("Visualizer") || class.ends_with("Gui") => Role::Window("it only shows results"),
        _ => window.map_or(Role::Unknown, |(_, why)| Role::Window(why)),
    }
}
