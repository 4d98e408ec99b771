//! HTTP samplers, merged with the defaults in their scope.

use super::level::{Level, inward};
use super::{Compiler, Properties};
use crate::code;
use crate::plan::{Argument, Encoding, FilePart, Header, Http, Proxy, Resources};
use crate::text::{Part, Text};
use crate::tree::{Property, Raw};

/// A sampler with its defaults, from the inside to the outside. A property that is missing or an empty text is that of
/// the next one.
struct Merged<'a> {
    layers: Vec<&'a [Property]>,
}

impl Properties for Merged<'_> {
    fn property(&self, name: &str) -> Option<&Property> {
        let mut all = self.layers.iter().filter_map(|layer| crate::tree::find(layer, name));
        all.clone().find(|property| !property.is_unset()).or_else(|| all.next())
    }
}

impl Compiler<'_> {
    pub(super) fn http(&mut self, raw: &Raw, levels: &[Level]) -> Http {
        let defaults = inward(levels, |level| &level.defaults);
        let layers: Vec<&[Property]> =
            std::iter::once(raw.properties.as_slice()).chain(defaults.iter().map(Vec::as_slice)).collect();
        let merged = Merged { layers };
        let http = Http {
            protocol: self.text(&merged, "HTTPSampler.protocol"),
            domain: self.text(&merged, "HTTPSampler.domain"),
            port: self.text(&merged, "HTTPSampler.port"),
            method: self.method(&merged),
            path: self.text(&merged, "HTTPSampler.path"),
            content_encoding: self.text(&merged, "HTTPSampler.contentEncoding"),
            has_raw_body: self.flag(&merged, "HTTPSampler.postBodyRaw", false),
            arguments: self.arguments(&merged),
            files: self.file_parts(raw),
            is_multipart: self.flag(&merged, "HTTPSampler.DO_MULTIPART_POST", false),
            is_browser_compatible: self.flag(&merged, "HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", false),
            follows_redirects: self.flag(&merged, "HTTPSampler.follow_redirects", false),
            redirects_automatically: self.flag(&merged, "HTTPSampler.auto_redirects", false),
            keeps_alive: self.flag(&merged, "HTTPSampler.use_keepalive", false),
            connect_timeout_ms: self.text(&merged, "HTTPSampler.connect_timeout"),
            response_timeout_ms: self.text(&merged, "HTTPSampler.response_timeout"),
            resources: self.resources(&merged),
            stores_md5: self.flag(&merged, "HTTPSampler.md5", false),
            proxy: self.proxy(&merged),
        };
        self.refuse_settings(raw, &merged);
        self.check_url(raw, &http);
        http
    }

    /// Returns the proxy. As in JMeter, one without a port is none.
    fn proxy(&mut self, merged: &Merged<'_>) -> Option<Proxy> {
        let pos = merged.property("HTTPSampler.proxyHost")?.pos;
        let host = self.choice(merged, "HTTPSampler.proxyHost");
        let port: u16 = self.choice(merged, "HTTPSampler.proxyPort").parse().unwrap_or_default();
        if host.is_empty() || port == 0 {
            return None;
        }
        let scheme = self.choice(merged, "HTTPSampler.proxyScheme");
        let scheme = if scheme.is_empty() { "http" } else { &scheme };
        let user = self.choice(merged, "HTTPSampler.proxyUser");
        let password = self.choice(merged, "HTTPSampler.proxyPass");
        let login = if user.is_empty() { String::new() } else { format!("{user}:{password}@") };
        Some(Proxy { url: format!("{scheme}://{login}{host}:{port}"), pos, path: self.path() })
    }

    fn method(&mut self, merged: &Merged<'_>) -> Text {
        let method = self.text(merged, "HTTPSampler.method");
        if method.is_empty() { Text::literal("GET", method.pos) } else { method }
    }

    /// Refuses what would send something else than JMeter does.
    fn refuse_settings(&mut self, raw: &Raw, merged: &Merged<'_>) {
        let source = self.choice(merged, "HTTPSampler.ipSource");
        if !source.is_empty() {
            self.unsupported(
                raw,
                format!("the source address `{source}`"),
                "remove it, and run with `--interface`",
            );
        }
    }

    /// Refuses a request without a host, and tokens that nothing has replaced.
    fn check_url(&mut self, raw: &Raw, http: &Http) {
        for (text, what) in
            [(&http.domain, "the host of"), (&http.path, "the path of"), (&http.protocol, "the protocol of")]
        {
            self.refuse_tokens(text, what, &raw.name);
        }
        for (text, name) in
            [(&http.domain, "server name"), (&http.port, "port"), (&http.protocol, "protocol")]
        {
            // Also through a user-defined variable.
            if let Some(token) = self.known.value(text).ok().filter(|text| is_upper(text)) {
                self.wrong(
                    code::TOKEN,
                    text.pos,
                    format!("nothing has replaced `{token}`, the {name} of `{}`", raw.name),
                    format!("pass `--set {token}=VALUE`"),
                );
            }
        }
        let path = http.path.fixed().unwrap_or_default();
        let may_be_whole = !matches!(http.path.parts.first(), None | Some(Part::Literal(_)))
            || ["http://", "https://"].iter().any(|scheme| path.to_ascii_lowercase().starts_with(scheme))
            || http.path.source.to_ascii_lowercase().starts_with("http");
        if http.domain.is_empty() && !may_be_whole {
            self.wrong(
                code::SETTING,
                raw.pos,
                format!("`{}` has no server name", raw.name),
                "set it in the request or in HTTP Request Defaults",
            );
        }
    }

    fn resources(&mut self, merged: &Merged<'_>) -> Option<Resources> {
        if !self.flag(merged, "HTTPSampler.image_parser", false) {
            return None;
        }
        let concurrent = self.flag(merged, "HTTPSampler.concurrentDwn", false);
        Some(Resources {
            must_match: self.text(merged, "HTTPSampler.embedded_url_re"),
            must_not_match: self.text(merged, "HTTPSampler.embedded_url_exclude_re"),
            concurrent: concurrent.then(|| {
                let number = self.text(merged, "HTTPSampler.concurrentPool");
                if number.is_empty() { Text::literal("6", number.pos) } else { number }
            }),
        })
    }

    /// Returns the arguments of the sampler, then those of its defaults.
    fn arguments(&mut self, merged: &Merged<'_>) -> Vec<Argument> {
        let mut all = Vec::new();
        for layer in &merged.layers {
            let arguments = crate::tree::find(layer, "HTTPsampler.Arguments")
                .and_then(|arguments| arguments.find("Arguments.arguments"));
            for argument in arguments.iter().flat_map(|all| all.items()) {
                let encodes = self.flag(argument, "HTTPArgument.always_encode", false);
                all.push(Argument {
                    name: self.text(argument, "Argument.name"),
                    value: self.text(argument, "Argument.value"),
                    encoding: if encodes { Encoding::Always } else { Encoding::AsWritten },
                    has_equals: self.flag(argument, "HTTPArgument.use_equals", true),
                    content_type: self.text(argument, "HTTPArgument.content_type"),
                });
            }
        }
        all
    }

    fn file_parts(&mut self, raw: &Raw) -> Vec<FilePart> {
        let mut all = Vec::new();
        let files = raw.find("HTTPsampler.Files").and_then(|files| files.find("HTTPFileArgs.files")).cloned();
        for file in files.iter().flat_map(|files| files.items()) {
            let part = FilePart {
                path: self.text(file, "File.path"),
                parameter: self.text(file, "File.paramname"),
                media_type: self.text(file, "File.mimetype"),
            };
            all.push(part);
        }
        // Before version 2.4, a sampler had at most one file.
        if all.is_empty() && !raw.text("HTTPSampler.FILE_NAME").is_empty() {
            all.push(FilePart {
                path: self.text(raw, "HTTPSampler.FILE_NAME"),
                parameter: self.text(raw, "HTTPSampler.FILE_FIELD"),
                media_type: self.text(raw, "HTTPSampler.mimetype"),
            });
        }
        for file in &all {
            self.refuse_missing(&file.path);
        }
        all
    }

    /// Reports a data file that does not exist, if its name is known.
    pub(super) fn refuse_missing(&mut self, file: &Text) {
        let Ok(name) = self.known.value(file) else { return };
        // A variable that the load sets stays in the name.
        if name.is_empty() || name.contains("${") {
            return;
        }
        self.refuse_tokens(file, "the file", &name);
        // As in JMeter, a blank after the name of a data set does not count.
        let path = std::path::Path::new(name.trim());
        let near = self.folder.join(path);
        if !near.exists() && !path.exists() {
            let message = format!("the file `{name}` does not exist");
            let hint = "relative names begin in the folder of the plan";
            self.wrong(code::FILE, file.pos, message, hint);
        }
    }

    pub(super) fn headers(&mut self, raw: &Raw) -> Vec<Header> {
        let mut all = Vec::new();
        let headers = raw.find("HeaderManager.headers").cloned();
        for header in headers.iter().flat_map(|all| all.items()) {
            let name = match header.find("Header.name") {
                Some(_) => self.text(header, "Header.name"),
                None => self.text(header, "TestElement.name"),
            };
            let value = self.text(header, "Header.value");
            self.refuse_tokens(&value, "the header", name.fixed().unwrap_or_default());
            all.push(Header { name, value });
        }
        all
    }
}

/// Returns whether a whole text is a word in upper case, as tokens of templates are.
fn is_upper(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && !matches!(text, "HTTP" | "HTTPS")
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}
