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
    /// A protocol or a part that plimsoll does not run, with the reason.
    Unsupported(&'static str),
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
    // Of plugins.
    "DummySampler",
    "SetVariablesAction",
];

const MEMBERS: &[&str] = &[
    "ConfigTestElement",
    "Arguments",
    "HeaderManager",
    "CookieManager",
    "AuthManager",
    "CacheManager",
    "DNSCacheManager",
    "KeystoreConfig",
    "CSVDataSet",
    "CounterConfig",
    "RandomVariableConfig",
    "UserParameters",
    "RegExUserParameters",
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
    "VariableThroughputTimer",
    "JSR223Timer",
    "BeanShellTimer",
    "BSFTimer",
    "RegexExtractor",
    "BoundaryExtractor",
    "JSONPostProcessor",
    "JMESPathExtractor",
    // Of plugins.
    "JSONPathExtractor",
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
    "CorrectedResultCollector",
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
    ("PingFrameFilter", "pings of a server are answered, and are not messages"),
    ("CompositeResultCollector", "it only shows results"),
    ("GraphsGeneratorListener", "it only draws charts"),
    ("ConsoleStatusLogger", "plimsoll shows its own summary"),
    ("LoadosophiaUploader", "results are not uploaded"),
    ("PrometheusListener", "results are not sent; use the exports of plimsoll"),
    ("PerfMonCollector", "agents of PerfMon are not asked; use the monitors of plimsoll"),
    ("JMXMonCollector", "Java is not asked; use the monitors of plimsoll"),
    ("DbMonCollector", "databases are not asked; use the monitors of plimsoll"),
];

/// What plimsoll does not run, with the reason.
const UNSUPPORTED: &[(&str, &[&str])] = &[
    (
        "plimsoll loads HTTP",
        &[
            "JDBCSampler",
            "JDBCPreProcessor",
            "JDBCPostProcessor",
            "FTPSampler",
            "LDAPSampler",
            "LDAPExtSampler",
            "JMSSampler",
            "PublisherSampler",
            "SubscriberSampler",
            "TCPSampler",
            "UDPSampler",
            "HTTPRawSampler",
            "SmtpSampler",
            "MailReaderSampler",
            "AjpSampler",
            "BoltSampler",
            "MqttSampler",
            "WebDriverSampler",
        ],
    ),
    ("plimsoll runs no Java and no other program", &["JUnitSampler", "SystemSampler"]),
    ("JMeter itself has removed it", &["SoapSampler"]),
    ("it sends what the log of a server lists; use `replay` of an experiment file", &["AccessLogSampler"]),
    ("it chooses links by patterns; extract the link instead", &["AnchorModifier"]),
    ("it compares responses with each other for JMeter's window", &["CompareAssertion"]),
    ("plimsoll reads no XML Schema", &["XMLSchemaAssertion"]),
    ("plimsoll reads no mail", &["SMIMEAssertion", "SMIMEAssertionTestElement"]),
    ("it counts the warnings of the parser JTidy, which no other parser has", &["HTMLAssertion"]),
    ("it is a script for each result", &["JSR223Listener", "BeanShellListener", "BSFListener"]),
    ("its conditions stop the test; use thresholds", &["AutoStop"]),
    ("its columns are not those of JMeter; use Simple Data Writer", &["FlexibleFileWriter"]),
];

/// Returns the part of a class.
pub(super) fn role(class: &str) -> Role {
    let window = WINDOWS.iter().find(|(known, _)| *known == class);
    let unsupported = UNSUPPORTED.iter().find(|(_, classes)| classes.contains(&class));
    match class {
        _ if GROUPS.contains(&class) => Role::Group,
        _ if CONTROLLERS.contains(&class) => Role::Controller,
        _ if SAMPLERS.contains(&class) || super::socket::SOCKETS.contains(&class) => Role::Sampler,
        _ if MEMBERS.contains(&class) => Role::Member,
        // Listeners of plugins are known by the end of their class.
        _ if class.ends_with("Visualizer") || class.ends_with("Gui") => Role::Window("it only shows results"),
        _ => match (window, unsupported) {
            (Some((_, why)), _) => Role::Window(why),
            (None, Some((why, _))) => Role::Unsupported(why),
            (None, None) => Role::Unknown,
        },
    }
}
