//! The kinds of monitors: their names, and the forms of their sources.

macro_rules! kinds {
    ($($kind:ident = $name:literal, $place:literal;)*) => {
        /// A kind of monitor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum SourceKind { $(#[doc = $place] $kind,)* }

        impl SourceKind {
            pub const ALL: &'static [SourceKind] = &[$(SourceKind::$kind,)*];

            /// The names in files and flags.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// Returns its key in a file.
            pub const fn name(self) -> &'static str { match self { $(SourceKind::$kind => $name,)* } }

            /// Returns the form of its source, as it follows the word "write".
            pub const fn place(self) -> &'static str { match self { $(SourceKind::$kind => $place,)* } }
        }
    };
}

kinds! {
    Host = "host", "`host`";
    Process = "process",
        "`process=:4110` (the process that listens there), `process=node` (by name), or `process=1234` (by process ID)";
    Cgroup = "cgroup", "`cgroup=/sys/fs/cgroup/x`, or a process such as `cgroup=:4110`";
    Postgres = "postgres", "`postgres=postgres://user@127.0.0.1:5432/database`";
    Redis = "redis", "`redis=127.0.0.1:6379`";
    Nginx = "nginx", "`nginx=http://127.0.0.1:8081/nginx_status`, or its access log `nginx=access.log`";
    Node = "node", "`node=http://127.0.0.1:3000/metrics`";
    Go = "go", "`go=http://127.0.0.1:6060/debug/vars`";
    Prometheus = "prometheus", "`prometheus=http://127.0.0.1:9100/metrics`";
    Command = "command", "`command=./queue-depth`";
}

impl SourceKind {
    /// Returns the kind with this name.
    pub fn of_name(name: &str) -> Option<SourceKind> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}
