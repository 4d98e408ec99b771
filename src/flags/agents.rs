//! Flags of loads from several machines. Values stay text here.

use crate::exit::Failure;
use clap::{Args, CommandFactory, Parser, Subcommand};

const AGENTS: &str = "Agents";

/// How to reach the NATS server.
#[derive(Debug, Clone, Default, Args)]
pub struct AccessFlags {
    /// NATS server through which agents are reached, such as `nats://10.0.0.1:4222`
    #[arg(long, value_name = "URL", help_heading = AGENTS)]
    pub nats: Option<String>,

    /// Credentials for the NATS server: a file with a JWT and an nkey seed
    #[arg(long, value_name = "FILE", help_heading = AGENTS)]
    pub creds: Option<String>,

    /// Credentials for the NATS server: a file with an nkey seed
    #[arg(long, value_name = "FILE", help_heading = AGENTS, conflicts_with = "creds")]
    pub nkey: Option<String>,

    /// Trust the CA certificates in this file (PEM) for the NATS server
    #[arg(long, value_name = "FILE", help_heading = AGENTS)]
    pub nats_ca: Option<String>,

    /// Client certificate for the NATS server (PEM)
    #[arg(long, value_name = "FILE", help_heading = AGENTS, requires = "nats_key")]
    pub nats_cert: Option<String>,

    /// Key of the client certificate for the NATS server (PEM)
    #[arg(long, value_name = "FILE", help_heading = AGENTS, requires = "nats_cert")]
    pub nats_key: Option<String>,
}

/// Which agents send the load.
#[derive(Debug, Clone, Default, Args)]
pub struct AgentFlags {
    /// Send the load from agents: `4`, names `a,b`, a label `region=eu`, or `local:4`
    #[arg(long = "agents", value_name = "AGENTS", help_heading = AGENTS)]
    pub selection: Option<String>,

    /// Wait up to this long for the agents [default: 3s]
    #[arg(long, value_name = "DURATION", help_heading = AGENTS, requires = "selection")]
    pub wait_for_agents: Option<String>,

    /// If an agent is lost: `continue` without it, `stop`, or `rebalance` its load [default: continue]
    #[arg(long, value_name = "ACTION", help_heading = AGENTS, requires = "selection")]
    pub on_agent_loss: Option<String>,

    /// Largest difference between the starts of the agents without a note [default: 5ms]
    #[arg(long, value_name = "DURATION", help_heading = AGENTS, requires = "selection")]
    pub max_skew: Option<String>,

    /// Key that signs the orders to the agents: `signing.nk` of `plimsoll cluster init`
    #[arg(long, value_name = "FILE", help_heading = AGENTS, requires = "selection")]
    pub signing_key: Option<String>,

    #[command(flatten)]
    pub access: AccessFlags,
}

/// Flags about agents among the words of another tool.
#[derive(Debug, Clone, Default, Parser)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct ToolFlags {
    #[command(flatten)]
    pub agents: AgentFlags,
    #[command(flatten)]
    pub part: PartFlags,
}

/// Flags with which an agent starts its part of a load of another tool.
#[derive(Debug, Clone, Default, Args)]
pub struct PartFlags {
    /// Report to the agent that started this process
    #[arg(long, hide = true)]
    pub part_of_agent: bool,
    /// Part I of N of the load
    #[arg(long, hide = true, value_name = "I/N", requires = "part_of_agent")]
    pub shard: Option<String>,
    /// Seed of the coordinator
    #[arg(long, hide = true, value_name = "N", requires = "part_of_agent")]
    pub seed: Option<String>,
    /// Report each sample after the load
    #[arg(long, hide = true, requires = "part_of_agent")]
    pub samples: bool,
    /// Read commands from standard input
    #[arg(long, hide = true, requires = "part_of_agent")]
    pub steered: bool,
    /// Stop when this parent process ends
    #[arg(long, hide = true, value_name = "PID", requires = "part_of_agent")]
    pub with_parent: Option<u32>,
}

impl ToolFlags {
    /// Separates these flags from the words of another tool.
    ///
    /// # Errors
    /// Returns an error if a value is missing or invalid.
    pub fn separated(words: &[String]) -> Result<(ToolFlags, Vec<String>), Failure> {
        let table = ToolFlags::command();
        let (mut own, mut rest) = (Vec::new(), Vec::new());
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let long = word.strip_prefix("--").map(|long| long.split('=').next().unwrap_or_default());
            let Some(flag) = table.get_arguments().find(|flag| long.is_some() && flag.get_long() == long)
            else {
                rest.push(word.clone());
                continue;
            };
            own.push(word.clone());
            if !word.contains('=') && flag.get_action().takes_values() {
                own.extend(words.next().cloned());
            }
        }
        match super::parse_flags::<ToolFlags>(table, own)? {
            Ok(flags) => Ok((flags, rest)),
            Err(text) => Err(Failure::machine(text, None)),
        }
    }

    /// Returns the flags for a help text: name, placeholder of the value, and help.
    pub fn help_rows() -> Vec<(String, Option<String>, String)> {
        let table = ToolFlags::command();
        let listed = table.get_arguments().filter(|flag| !flag.is_hide_set());
        let row = |flag: &clap::Arg| {
            let value = flag.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            Some((format!("--{}", flag.get_long()?), value, help))
        };
        listed.filter_map(row).collect()
    }
}

/// `plimsoll agent`.
#[derive(Debug, Parser)]
#[command(
    about = "Wait for loads of a coordinator, and send this machine's part of them.",
    override_usage = "plimsoll agent --nats URL [FLAGS]\n\nExamples:\n  \
                      plimsoll agent --nats nats://10.0.0.1:4222 --labels region=eu\n  \
                      plimsoll run checkout.yaml --nats nats://10.0.0.1:4222 --agents 2"
)]
pub struct Agent {
    #[command(flatten)]
    pub access: AccessFlags,
    /// Name of the agent, unique among agents [default: the host's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Labels by which loads select agents: `region=eu,zone=a`
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub labels: Option<String>,
    /// Confirm that loads may go to this public host [repeatable]
    #[arg(long, value_name = "HOST")]
    pub allow: Vec<String>,
    /// Accept only orders that are signed with this key: `signing.pub` of `plimsoll cluster init`
    #[arg(long, value_name = "FILE")]
    pub coordinator_key: Option<String>,
    /// Directory for the files of a load [default: below the directory for temporary files]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<String>,
    /// End when this parent process ends
    #[arg(long, hide = true, value_name = "PID")]
    pub with_parent: Option<u32>,
    /// Print nothing except errors
    #[arg(short = 'q', long)]
    pub quiet: bool,
}

/// `plimsoll agents`.
#[derive(Debug, Parser)]
#[command(
    about = "List the agents that are connected to a NATS server, or check their machines.",
    override_usage = "plimsoll agents --nats URL [FLAGS]\n       plimsoll agents doctor --nats URL [FLAGS]\n\n\
                      Examples:\n  plimsoll agents --nats nats://10.0.0.1:4222\n  \
                      plimsoll agents doctor --nats nats://10.0.0.1:4222",
    disable_help_subcommand = true
)]
pub struct Agents {
    #[command(subcommand)]
    pub action: Option<AgentsAction>,
    #[command(flatten)]
    pub access: AccessFlags,
    /// Print the list as one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum AgentsAction {
    /// Check the machine, the clock, and the version of every agent
    Doctor {
        #[command(flatten)]
        access: AccessFlags,
        /// Print the result as one JSON document
        #[arg(long)]
        json: bool,
        /// Disable colors (also with the variable NO_COLOR)
        #[arg(long)]
        no_color: bool,
    },
}

/// `plimsoll cluster`.
#[derive(Debug, Parser)]
#[command(
    about = "Write the keys, the certificates, and the configuration of a NATS server for agents.",
    override_usage = "plimsoll cluster init DIR --agents NAME,... --host HOST\n       plimsoll cluster init DIR \
                      --agents NAME,... --port PORT --mutual-tls\n       plimsoll cluster add DIR --agents \
                      NAME,...\n\nExamples:\n  plimsoll cluster init keys --host nats.example.test --agents \
                      eu-1,eu-2\n  plimsoll cluster add keys --agents eu-3",
    disable_help_subcommand = true
)]
pub struct Cluster {
    #[command(subcommand)]
    pub action: Option<ClusterAction>,
}

#[derive(Debug, Subcommand)]
pub enum ClusterAction {
    /// Write the files into a new directory
    Init {
        /// New directory
        #[arg(value_name = "DIR")]
        folder: Option<String>,
        /// Name or address by which agents reach the server [default: this machine's name]
        #[arg(long, value_name = "HOST")]
        host: Option<String>,
        /// Port of the server [default: 4222]
        #[arg(long, value_name = "PORT")]
        port: Option<String>,
        /// Names of the agents, or their number: `3` means agent-0, agent-1, and agent-2
        #[arg(long, value_name = "NAME,...")]
        agents: Option<String>,
        /// Require certificates of agents and coordinators, too
        #[arg(long)]
        mutual_tls: bool,
        /// Validity of the certificates in days [default: 365]
        #[arg(long, value_name = "N")]
        days: Option<String>,
    },
    /// Add agents to the files of `cluster init`
    Add {
        /// Directory of `cluster init`
        #[arg(value_name = "DIR")]
        folder: Option<String>,
        /// Names of the new agents
        #[arg(long, value_name = "NAME,...")]
        agents: Option<String>,
        /// Validity of their certificates in days, with `--mutual-tls` [default: 365]
        #[arg(long, value_name = "N")]
        days: Option<String>,
    },
}

impl AccessFlags {
    /// Returns these flags as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let flags = [
            ("nats", &self.nats),
            ("creds", &self.creds),
            ("nkey", &self.nkey),
            ("nats-ca", &self.nats_ca),
            ("nats-cert", &self.nats_cert),
            ("nats-key", &self.nats_key),
        ];
        flags.iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?))).collect()
    }

    /// Returns these flags, and those of `other` that are not among them.
    pub fn or(&self, other: &AccessFlags) -> AccessFlags {
        let either = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
        AccessFlags {
            nats: either(&self.nats, &other.nats),
            creds: either(&self.creds, &other.creds),
            nkey: either(&self.nkey, &other.nkey),
            nats_ca: either(&self.nats_ca, &other.nats_ca),
            nats_cert: either(&self.nats_cert, &other.nats_cert),
            nats_key: either(&self.nats_key, &other.nats_key),
        }
    }
}
