//! Pre-processors, timers, post-processors, and scripts.

use super::{Compiler, Properties};
use crate::code;
use crate::plan::{
    Extractor, Field, Match, OnError, PostProcessor, PreProcessor, Replacement, Rewriting, Script, Subject,
    ThroughputMode, Timer,
};
use crate::text::Text;
use crate::tree::{Property, Raw};

impl Compiler<'_> {
    pub(super) fn pre_processor(&mut self, raw: &Raw) -> Option<PreProcessor> {
        Some(match raw.class.as_str() {
            "UserParameters" => PreProcessor::Parameters(self.parameters(raw)),
            "JSR223PreProcessor" | "BeanShellPreProcessor" | "BSFPreProcessor" => {
                PreProcessor::Script(self.script(raw)?)
            }
            "RegExUserParameters" => PreProcessor::Replacement(Replacement {
                variable: self.text(raw, "RegExUserParameters.regex_ref_name"),
                name_group: self.text(raw, "RegExUserParameters.param_names_gr_nr"),
                value_group: self.text(raw, "RegExUserParameters.param_values_gr_nr"),
            }),
            "URLRewritingModifier" => PreProcessor::Rewriting(Rewriting {
                argument: self.text(raw, "argument_name"),
                is_path_extension: self.flag(raw, "path_extension", false),
                has_no_equals: self.flag(raw, "path_extension_no_equals", false),
                has_no_question_mark: self.flag(raw, "path_extension_no_questionmark", false),
                caches_value: self.flag(raw, "cache_value", false),
                encodes: self.flag(raw, "encode", false),
            }),
            "SampleTimeout" => PreProcessor::Timeout(self.text(raw, "InterruptTimer.timeout")),
            _ => return None,
        })
    }

    pub(super) fn timer(&mut self, raw: &Raw) -> Option<Timer> {
        let delay = "ConstantTimer.delay";
        let range = "RandomTimer.range";
        Some(match raw.class.as_str() {
            "ConstantTimer" => Timer::Constant { delay_ms: self.text(raw, delay) },
            "UniformRandomTimer" => {
                Timer::Uniform { delay_ms: self.text(raw, delay), range_ms: self.number(raw, range) }
            }
            "GaussianRandomTimer" => {
                Timer::Gaussian { delay_ms: self.text(raw, delay), deviation_ms: self.number(raw, range) }
            }
            "PoissonRandomTimer" => {
                Timer::Poisson { delay_ms: self.text(raw, delay), lambda_ms: self.number(raw, range) }
            }
            "ConstantThroughputTimer" => {
                let mode = self.throughput_mode(raw);
                self.tell_of_timer(raw);
                Timer::ConstantThroughput { per_minute: self.number(raw, "throughput"), mode }
            }
            "PreciseThroughputTimer" => {
                self.tell_of_timer(raw);
                Timer::PreciseThroughput {
                    throughput: self.number(raw, "throughput"),
                    period_s: self.text(raw, "throughputPeriod"),
                    duration_s: self.text(raw, "duration"),
                    batch: self.text(raw, "batchSize"),
                    batch_delay_ms: self.text(raw, "batchThreadDelay"),
                    seed: self.text(raw, "randomSeed"),
                }
            }
            "VariableThroughputTimer" => {
                self.tell_of_timer(raw);
                if self.known.properties.contains_key("load_profile") {
                    self.unsupported(
                        raw,
                        "a schedule in the property `load_profile`",
                        "write it into the plan",
                    );
                }
                let rows = raw.find("load_profile").cloned();
                let rows = rows.iter().flat_map(|rows| rows.items());
                Timer::Shaping { rows: rows.map(|row| self.shaping_row(row)).collect() }
            }
            "SyncTimer" => Timer::Synchronizing {
                group: self.text(raw, "groupSize"),
                timeout_ms: self.text(raw, "timeoutInMs"),
            },
            "JSR223Timer" | "BeanShellTimer" | "BSFTimer" => Timer::Script(self.script(raw)?),
            _ => return None,
        })
    }

    /// Returns a row of three numbers.
    fn shaping_row(&mut self, row: &Property) -> [Text; 3] {
        let mut texts = self.texts(Some(row)).into_iter();
        std::array::from_fn(|_| texts.next().unwrap_or_default())
    }

    fn tell_of_timer(&mut self, raw: &Raw) {
        self.note(
            code::note::TIMER,
            raw.pos,
            format!(
                "`{}` delays threads, which still wait for responses: a slow service gets less load",
                raw.name
            ),
            "for arrivals at a rate, use an Open Model Thread Group",
        );
    }

    /// Reads the mode: a number, a key of the window's texts, or, in old versions, an English text.
    fn throughput_mode(&mut self, raw: &Raw) -> ThroughputMode {
        match self.choice(raw, "calcMode").as_str() {
            "" | "0" | "calcMode.1" | "this thread only" => ThroughputMode::ThisThread,
            "1" | "calcMode.2" | "all active threads" => ThroughputMode::AllThreads,
            "2" | "calcMode.3" | "all active threads in current thread group" => ThroughputMode::ThisGroup,
            "3" | "calcMode.4" | "all active threads (shared)" => ThroughputMode::AllThreadsShared,
            "4" | "calcMode.5" | "all active threads in current thread group (shared)" => {
                ThroughputMode::ThisGroupShared
            }
            other => {
                let what = format!("the mode `{other}` of a throughput timer");
                self.unsupported(raw, what, "select a mode in JMeter");
                ThroughputMode::ThisThread
            }
        }
    }

    pub(super) fn post_processor(&mut self, raw: &Raw) -> Option<PostProcessor> {
        Some(match raw.class.as_str() {
            "JSR223PostProcessor" | "BeanShellPostProcessor" | "BSFPostProcessor" => {
                PostProcessor::Script(self.script(raw)?)
            }
            "DebugPostProcessor" => PostProcessor::Debug,
            "JSONPathExtractor" => PostProcessor::Extract(self.json_array(raw)),
            _ => PostProcessor::Extract(self.extractor(raw)?),
        })
    }

    fn extractor(&mut self, raw: &Raw) -> Option<Extractor> {
        let key = |prefix: &str, name: &str| format!("{prefix}.{name}");
        let (prefix, number, default, matcher) = match raw.class.as_str() {
            "RegexExtractor" => {
                let matcher = Match::Regex {
                    field: self.field(raw, "RegexExtractor.useHeaders"),
                    pattern: self.text(raw, "RegexExtractor.regex"),
                    template: self.text(raw, "RegexExtractor.template"),
                };
                ("RegexExtractor", "match_number", "default", matcher)
            }
            "BoundaryExtractor" => {
                let matcher = Match::Boundary {
                    field: self.field(raw, "BoundaryExtractor.useHeaders"),
                    left: self.text(raw, "BoundaryExtractor.lboundary"),
                    right: self.text(raw, "BoundaryExtractor.rboundary"),
                };
                ("BoundaryExtractor", "match_number", "default", matcher)
            }
            "HtmlExtractor" => {
                let matcher = Match::Css {
                    selector: self.text(raw, "HtmlExtractor.expr"),
                    attribute: self.text(raw, "HtmlExtractor.attribute"),
                };
                ("HtmlExtractor", "match_number", "default", matcher)
            }
            "JSONPostProcessor" => {
                let matcher = Match::JsonPath {
                    paths: self.text(raw, "JSONPostProcessor.jsonPathExprs"),
                    joins: self.flag(raw, "JSONPostProcessor.compute_concat", false),
                };
                ("JSONPostProcessor", "match_numbers", "defaultValues", matcher)
            }
            "JMESPathExtractor" => {
                let matcher = Match::JmesPath { path: self.text(raw, "JMESExtractor.jmesPathExpr") };
                ("JMESExtractor", "matchNumber", "defaultValue", matcher)
            }
            "XPathExtractor" => {
                let matcher = Match::XPath {
                    query: self.text(raw, "XPathExtractor.xpathQuery"),
                    is_tolerant: self.flag(raw, "XPathExtractor.tolerant", false),
                    returns_fragment: self.flag(raw, "XPathExtractor.fragment", false),
                    namespaces: Text::default(),
                };
                ("XPathExtractor", "matchNumber", "default", matcher)
            }
            "XPath2Extractor" => {
                let matcher = Match::XPath {
                    query: self.text(raw, "XPathExtractor2.xpathQuery"),
                    is_tolerant: false,
                    returns_fragment: self.flag(raw, "XPathExtractor2.fragment", false),
                    namespaces: self.text(raw, "XPathExtractor2.namespaces"),
                };
                ("XPathExtractor2", "matchNumber", "default", matcher)
            }
            _ => return None,
        };
        let reference = match prefix {
            "JSONPostProcessor" => "referenceNames",
            "JMESExtractor" => "referenceName",
            _ => "refname",
        };
        let mut number = self.text(raw, &key(prefix, number));
        // Without a number, XPath extractors of versions before 4.0 take all matches.
        if number.is_empty() && prefix == "XPathExtractor" {
            number = Text::literal("-1", raw.pos);
        }
        Some(Extractor {
            subject: self.subject(raw),
            variable: self.text(raw, &key(prefix, reference)),
            number,
            default: self.text(raw, &key(prefix, default)),
            sets_empty_default: self.flag(raw, &key(prefix, "default_empty_value"), false),
            matcher,
        })
    }

    fn json_array(&mut self, raw: &Raw) -> Extractor {
        let format = self.choice(raw, "INPUT_FORMAT");
        if !matches!(format.as_str(), "" | "JSON") {
            self.unsupported(raw, format!("the format `{format}`"), "extract from JSON");
        }
        let subject = match self.choice(raw, "SUBJECT").as_str() {
            "VAR" => Subject::Variable(self.text(raw, "VARIABLE")),
            _ => Subject::Main,
        };
        Extractor {
            subject,
            variable: self.text(raw, "VAR"),
            number: Text::default(),
            default: self.text(raw, "DEFAULT"),
            sets_empty_default: true,
            matcher: Match::JsonArray { path: self.text(raw, "JSONPATH") },
        }
    }

    fn field(&mut self, raw: &Raw, name: &str) -> Field {
        match self.choice(raw, name).as_str() {
            "" | "false" => Field::Body,
            "true" => Field::ResponseHeaders,
            "request_headers" => Field::RequestHeaders,
            "unescaped" => Field::UnescapedBody,
            "as_document" => Field::Document,
            "URL" => Field::Url,
            "code" => Field::Code,
            "message" => Field::Message,
            other => {
                self.unsupported(raw, format!("the field `{other}`"), "select a field in JMeter");
                Field::Body
            }
        }
    }

    /// Returns what an extractor or an assertion reads.
    pub(super) fn subject(&mut self, raw: &Raw) -> Subject {
        let property = if raw.class.ends_with("Assertion") { "Assertion.scope" } else { "Sample.scope" };
        match self.choice(raw, property).as_str() {
            "children" => Subject::Children,
            "all" => Subject::All,
            "variable" => Subject::Variable(self.text(raw, "Scope.variable")),
            _ => Subject::Main,
        }
    }

    pub(super) fn result_action(&mut self, raw: &Raw) -> OnError {
        match self.choice(raw, "OnError.action").as_str() {
            "1" => OnError::StopThread,
            "2" => OnError::StopTest,
            "3" => OnError::StopTestNow,
            "4" => OnError::StartNextLoop,
            "5" => OnError::StartNextIteration,
            "6" => OnError::BreakLoop,
            _ => OnError::Continue,
        }
    }

    /// Returns a script of JSR223, BSF, or of a BeanShell processor.
    pub(super) fn script(&mut self, raw: &Raw) -> Option<Script> {
        let language = if raw.class.starts_with("BeanShell") {
            "beanshell".to_owned()
        } else {
            let language = self.choice(raw, "scriptLanguage").to_ascii_lowercase();
            if language.is_empty() { "groovy".to_owned() } else { language }
        };
        self.script_of(raw, raw, &language, ["script", "filename", "parameters"])
    }

    /// Returns the script of an element whose properties begin with its name.
    pub(super) fn beanshell(&mut self, raw: &Raw, prefix: &str) -> Option<Script> {
        let names = [format!("{prefix}.query"), format!("{prefix}.filename"), format!("{prefix}.parameters")];
        let [code, file, parameters] = &names;
        self.script_of(raw, raw, "beanshell", [code, file, parameters])
    }

    fn script_of(
        &mut self,
        raw: &Raw,
        properties: &impl Properties,
        language: &str,
        [code, file, parameters]: [&str; 3],
    ) -> Option<Script> {
        let name = self.text(properties, file);
        let mut file_code = None;
        if !name.is_empty() {
            let Ok(path) = self.known.value(&name) else {
                self.unsupported(raw, "a script whose file depends on the load", "use a fixed name");
                return None;
            };
            let whole = self.folder.join(&path);
            plimsoll_plan::inputs::note(&whole);
            match std::fs::read_to_string(whole) {
                Ok(text) => {
                    self.changes_properties |= code::changes_properties(&text);
                    file_code = Some(text);
                }
                Err(e) => {
                    let message = format!("cannot read the script `{path}`: {e}");
                    self.wrong(code::FILE, name.pos, message, "check the name of the file");
                    return None;
                }
            }
        }
        Some(Script {
            language: language.to_owned(),
            code: if file_code.is_some() { Text::default() } else { self.text(properties, code) },
            file_code,
            parameters: self.text(properties, parameters),
        })
    }
}
