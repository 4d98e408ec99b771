//! `-F`: the parts of a `multipart/form-data` body (RFC 7578), in curl's format.

use plimsoll_build::body::from_file;
use plimsoll_plan::Problem;
use std::path::Path;

/// One part.
#[derive(Debug)]
pub struct Field {
    name: String,
    file_name: Option<String>,
    media_type: Option<String>,
    content: Vec<u8>,
}

/// Reads `name=value`, `name=@file` (an upload) or `name=<file` (the text of a file), each with `;type=` and
/// `;filename=` after it. With `literal` (`--form-string`) the value is everything after the `=`.
///
/// # Errors
/// Returns an error if anything is missing or not supported.
pub fn read(text: &str, literal: bool) -> Result<Field, Problem> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Problem::new("missing `=` in a form part", "write `-F 'name=value'`"))?;
    let mut field = Field { name: name.to_owned(), file_name: None, media_type: None, content: Vec::new() };
    if literal {
        field.content = value.as_bytes().to_vec();
        return Ok(field);
    }
    let is_upload = value.starts_with('@');
    let is_file = is_upload || value.starts_with('<');
    let (first, rest) = word(if is_file { &value[1..] } else { value })?;
    settings(rest, &mut field)?;
    if !is_file {
        field.content = first.into_bytes();
        return Ok(field);
    }
    if first == "-" {
        return Err(Problem::new("standard input is not supported in a form part", "write a file name"));
    }
    if is_upload && first.contains(',') && !Path::new(&first).exists() {
        return Err(Problem::new(
            "several files in one form part are not supported",
            "write a `-F` for each",
        ));
    }
    field.content = from_file(Path::new(&first))?;
    if is_upload {
        let base = Path::new(&first).file_name().map(|name| name.to_string_lossy().into_owned());
        field.file_name = field.file_name.or(base);
        let usual = || media_type(field.file_name.as_deref().unwrap_or_default()).to_owned();
        field.media_type = field.media_type.or_else(|| Some(usual()));
    }
    Ok(field)
}

/// Reads a value up to the next `;`, or in double quotes, where a backslash escapes a quote or a backslash.
fn word(text: &str) -> Result<(String, &str), Problem> {
    let Some(inner) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let (mut out, mut signs) = (String::new(), inner.char_indices());
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return Ok((out, &inner[at + 1..])),
            '\\' => out.extend(signs.next().map(|(_, escaped)| escaped)),
            _ => out.push(sign),
        }
    }
    Err(Problem::new("unclosed quote in a form part", "add the second `\"`"))
}

/// `;type=text/plain;filename="a b.txt"`
fn settings(mut rest: &str, field: &mut Field) -> Result<(), Problem> {
    while let Some(text) = rest.trim_start().strip_prefix(';') {
        let text = text.trim_start();
        let Some((key, value)) = text.split_once('=') else {
            return Err(Problem::new(
                format!("unknown setting `{text}` in a form part"),
                "use `type=` or `filename=`",
            ));
        };
        let (value, behind) = word(value)?;
        match key.trim() {
            "type" => field.media_type = Some(value.trim().to_owned()),
            "filename" => field.file_name = Some(value),
            other => {
                return Err(Problem::new(
                    format!("unsupported setting `{other}` in a form part"),
                    "use `type=` or `filename=`",
                ));
            }
        }
        rest = behind;
    }
    match rest.trim() {
        "" => Ok(()),
        other => Err(Problem::new(
            format!("unexpected `{other}` after a quoted value in a form part"),
            "write `;` before each setting",
        )),
    }
}

/// Returns the media type that curl sends for an upload without `type=`, by file extension.
fn media_type(name: &str) -> &'static str {
    const ENDINGS: [(&str, &str); 10] = [
        (".gif", "image/gif"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ];
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().find(|(end, _)| name.ends_with(end)).map_or("application/octet-stream", |(_, kind)| kind)
}

/// Returns the boundary and the body. The boundary depends on the parts, so that the same line makes the same request.
pub fn body(fields: &[Field]) -> (String, Vec<u8>) {
    let mut salt = 0;
    loop {
        let boundary = format!("------------------------{:016x}", hash(fields, salt));
        if !fields.iter().any(|field| holds(&field.content, boundary.as_bytes())) {
            let body = with_boundary(fields, &boundary);
            return (boundary, body);
        }
        salt += 1;
    }
}

fn with_boundary(fields: &[Field], boundary: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for field in fields {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&field.name));
        if let Some(name) = &field.file_name {
            head.push_str(&format!("; filename=\"{}\"", quoted(name)));
        }
        if let Some(kind) = &field.media_type {
            head.push_str(&format!("\r\nContent-Type: {kind}"));
        }
        head.push_str("\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&field.content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}

/// Escapes a name for quotes, as browsers and curl do (HTML, multipart/form-data encoding).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn holds(content: &[u8], boundary: &[u8]) -> bool {
    content.windows(boundary.len()).any(|window| window == boundary)
}

/// Returns the 64-bit FNV-1a hash.
fn hash(fields: &[Field], salt: u64) -> u64 {
    let texts = fields.iter().flat_map(|field| field.name.bytes().chain(field.content.iter().copied()));
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    texts.chain(salt.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, step)
}
