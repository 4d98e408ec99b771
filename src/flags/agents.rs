//! Flags of loads from several machines. Values stay text here.

use clap::{Args, Parser};

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

    #[command(flatten)]
    pub access: AccessFlags,
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
    about = "List the agents that are connected to a NATS server.",
    override_usage = "plimsoll agents --nats URL [FLAGS]\n\nExample:\n  plimsoll agents --nats nats://10.0.0.1:4222"
)]
pub struct Agents {
    #[command(flatten)]
    pub access: AccessFlags,
    /// Print the list as one JSON document
    #[arg(long)]
    pub json: bool,
}
