//! The protocols of a call: gRPC itself, and the two modes of gRPC-Web.

/// How a call is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Over HTTP/2, with the status in the trailers.
    #[default]
    Grpc,
    /// Over HTTP/1.1 or HTTP/2, with the trailers in a frame at the end of the body.
    Web,
    /// The same, with bodies in Base64.
    WebText,
}

impl Protocol {
    /// All protocols, by their names in files.
    pub const NAMED: [(&str, Protocol); 3] =
        [("grpc", Protocol::Grpc), ("grpc-web", Protocol::Web), ("grpc-web-text", Protocol::WebText)];

    /// Returns the content type of responses, which may have a format or parameters after it.
    pub const fn media_type(self) -> &'static str {
        match self {
            Protocol::Grpc => "application/grpc",
            Protocol::Web => "application/grpc-web",
            Protocol::WebText => "application/grpc-web-text",
        }
    }

    /// Returns the content type of requests. Proxies of gRPC-Web want the format, too.
    pub const fn request_type(self) -> &'static str {
        match self {
            Protocol::Grpc => "application/grpc",
            Protocol::Web => "application/grpc-web+proto",
            Protocol::WebText => "application/grpc-web-text+proto",
        }
    }

    pub const fn is_web(self) -> bool {
        !matches!(self, Protocol::Grpc)
    }
}
