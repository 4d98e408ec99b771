//! Listeners.

use super::Compiler;
use crate::code;
use crate::plan::{Columns, ResultFile, ResultSaver};
use crate::tree::Raw;

impl Compiler<'_> {
    /// Returns the file that a listener writes, if it names one.
    pub(super) fn result_file(&mut self, raw: &Raw) -> Option<ResultFile> {
        let file = self.text(raw, "filename");
        if file.is_empty() {
            let what = raw.form.strip_suffix("Gui").unwrap_or(&raw.form).to_owned();
            self.note(
                code::note::WINDOW,
                raw.pos,
                format!("`{}` ({what}) has no effect: it only shows results", raw.name),
                "",
            );
            return None;
        }
        self.note(code::note::WRITES, raw.pos, format!("`{}` writes `{}`", raw.name, file.source), "");
        let columns = self.columns(raw);
        Some(ResultFile {
            file,
            only_failed: self.flag(raw, "ResultCollector.error_logging", false),
            only_passed: self.flag(raw, "ResultCollector.success_only_logging", false),
            columns,
        })
    }

    fn columns(&mut self, raw: &Raw) -> Columns {
        // `<objProp><name>saveConfig</name><value><time>true</time>...`
        let config = raw.properties.iter().find(|property| {
            property.name == "saveConfig"
                || property.find("name").is_some_and(|name| name.text() == "saveConfig")
        });
        let Some(config) = config.and_then(|config| config.find("value")) else { return Columns::default() };
        let is =
            |name: &str, default: bool| config.find(name).map_or(default, |value| value.text() == "true");
        Columns {
            is_xml: is("xml", false),
            has_names: is("fieldNames", true),
            time: is("time", true),
            timestamp: is("timestamp", true),
            label: is("label", true),
            code: is("code", true),
            message: is("message", true),
            thread_name: is("threadName", true),
            data_type: is("dataType", true),
            success: is("success", true),
            failure_message: is("saveAssertionResultsFailureMessage", false),
            bytes: is("bytes", false),
            sent_bytes: is("sentBytes", false),
            thread_counts: is("threadCounts", false),
            url: is("url", false),
            file_name: is("fileName", false),
            latency: is("latency", true),
            encoding: is("encoding", false),
            sample_count: is("sampleCount", false),
            hostname: is("hostname", false),
            idle_time: is("idleTime", false),
            connect_time: is("connectTime", false),
            sub_results: is("subresults", true),
            assertions: is("assertions", true),
            request_headers: is("requestHeaders", false),
            response_headers: is("responseHeaders", false),
            response_data: is("responseData", false),
            response_data_on_error: is("responseDataOnError", false),
            sampler_data: is("samplerData", false),
        }
    }

    pub(super) fn saver(&mut self, raw: &Raw) -> ResultSaver {
        let prefix = self.text(raw, "FileSaver.filename");
        self.note(
            code::note::WRITES,
            raw.pos,
            format!("`{}` writes a file for each sample: `{}`", raw.name, prefix.source),
            "",
        );
        ResultSaver {
            prefix,
            variable: self.text(raw, "FileSaver.variablename"),
            only_failed: self.flag(raw, "FileSaver.errorsonly", false),
            only_passed: self.flag(raw, "FileSaver.successonly", false),
            has_no_number: self.flag(raw, "FileSaver.skipautonumber", false),
            has_no_ending: self.flag(raw, "FileSaver.skipsuffix", false),
            has_timestamp: self.flag(raw, "FileSaver.addTimstamp", false),
            number_width: self.text(raw, "FileSaver.numberPadLen"),
        }
    }
}
