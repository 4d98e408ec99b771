//! Assertions.

use super::Compiler;
use crate::plan::{Assertion, Comparison, Pattern, ResponseField, SizeField};
use crate::text::Text;
use crate::tree::Raw;

impl Compiler<'_> {
    pub(super) fn assertion(&mut self, raw: &Raw) -> Option<Assertion> {
        Some(match raw.class.as_str() {
            "ResponseAssertion" => self.response(raw),
            "SizeAssertion" => self.size(raw),
            "DurationAssertion" => Assertion::Duration {
                limit_ms: self.text(raw, "DurationAssertion.duration"),
                subject: self.subject(raw),
            },
            "JSONPathAssertion" => self.json(raw, "JSON_PATH", false),
            "JMESPathAssertion" => self.json(raw, "JMES_PATH", true),
            "XPathAssertion" | "XPath2Assertion" => {
                let query = self.text(raw, "XPath.xpath");
                Assertion::XPath {
                    subject: self.subject(raw),
                    query: if query.is_empty() { Text::literal("/", raw.pos) } else { query },
                    is_negated: self.flag(raw, "XPath.negate", false),
                    is_tolerant: self.flag(raw, "XPath.tolerant", false),
                    is_second: raw.class == "XPath2Assertion",
                    namespaces: self.text(raw, "XPath.namespaces"),
                }
            }
            "MD5HexAssertion" => Assertion::Md5 { digest: self.text(raw, "MD5HexAssertion.size") },
            "XMLAssertion" => Assertion::Xml,
            "JSR223Assertion" | "BSFAssertion" => Assertion::Script(self.script(raw)?),
            "BeanShellAssertion" => Assertion::Script(self.beanshell(raw, "BeanShellAssertion")?),
            _ => return None,
        })
    }

    fn response(&mut self, raw: &Raw) -> Assertion {
        let field = match self.choice(raw, "Assertion.test_field").as_str() {
            "Assertion.response_data_as_document" => ResponseField::Document,
            "Assertion.response_code" => ResponseField::Code,
            "Assertion.response_message" => ResponseField::Message,
            "Assertion.response_headers" => ResponseField::ResponseHeaders,
            "Assertion.request_headers" => ResponseField::RequestHeaders,
            "Assertion.request_data" => ResponseField::RequestData,
            "Assertion.sample_label" => ResponseField::Url,
            _ => ResponseField::Body,
        };
        let bits: u32 = self.choice(raw, "Assertion.test_type").parse().unwrap_or(2);
        let pattern = match bits & 0b1_1011 {
            1 => Pattern::Matches,
            8 => Pattern::Equals,
            16 => Pattern::Substring,
            _ => Pattern::Contains,
        };
        // The name with the missing letter is that of all versions.
        let patterns =
            raw.find("Asserion.test_strings").or_else(|| raw.find("Assertion.test_strings")).cloned();
        Assertion::Response {
            subject: self.subject(raw),
            field,
            pattern,
            is_negated: bits & 4 != 0,
            is_any: bits & 32 != 0,
            patterns: self.texts(patterns.as_ref()),
            ignores_status: self.flag(raw, "Assertion.assume_success", false),
            message: self.text(raw, "Assertion.custom_message"),
        }
    }

    fn size(&mut self, raw: &Raw) -> Assertion {
        let field = match self.choice(raw, "Assertion.test_field").as_str() {
            "SizeAssertion.response_headers" => SizeField::Headers,
            "SizeAssertion.response_data" => SizeField::Body,
            "SizeAssertion.response_code" => SizeField::Code,
            "SizeAssertion.response_message" => SizeField::Message,
            _ => SizeField::Response,
        };
        let comparison = match self.choice(raw, "SizeAssertion.operator").as_str() {
            "2" => Comparison::NotEqual,
            "3" => Comparison::Greater,
            "4" => Comparison::Less,
            "5" => Comparison::GreaterOrEqual,
            "6" => Comparison::LessOrEqual,
            _ => Comparison::Equal,
        };
        Assertion::Size {
            subject: self.subject(raw),
            field,
            size: self.text(raw, "SizeAssertion.size"),
            comparison,
        }
    }

    fn json(&mut self, raw: &Raw, path: &str, is_jmespath: bool) -> Assertion {
        let validates = self.flag(raw, "JSONVALIDATION", false);
        Assertion::Json {
            subject: self.subject(raw),
            path: self.text(raw, path),
            value: validates.then(|| self.text(raw, "EXPECTED_VALUE")),
            is_regex: self.flag(raw, "ISREGEX", true),
            expects_null: self.flag(raw, "EXPECT_NULL", false),
            is_inverted: self.flag(raw, "INVERT", false),
            is_jmespath,
        }
    }
}
