//! Flags of agents in Kubernetes. Values stay text here.

use clap::{Args, Parser, Subcommand};

/// `plimsoll k8s`.
#[derive(Debug, Parser)]
#[command(
    about = "Print manifests for agents in a Kubernetes cluster, or write them as a chart for Helm.",
    override_usage = "plimsoll k8s manifests --agents N [FLAGS]\n       plimsoll k8s chart DIR\n\nExamples:\n  \
                      plimsoll cluster init keys --host plimsoll-nats --agents 20\n  plimsoll k8s manifests --agents \
                      20 --namespace load --keys keys | kubectl apply -f -\n  plimsoll k8s chart plimsoll",
    disable_help_subcommand = true
)]
pub struct K8s {
    #[command(subcommand)]
    pub action: Option<K8sAction>,
}

#[derive(Debug, Subcommand)]
pub enum K8sAction {
    /// Print manifests for `kubectl apply`
    Manifests(Box<Manifests>),
    /// Write a chart for Helm with the same objects
    Chart {
        /// New directory
        #[arg(value_name = "DIR")]
        folder: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct Manifests {
    /// Number of agents
    #[arg(long, value_name = "N")]
    pub agents: Option<String>,
    /// Namespace [default: plimsoll]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Address of an existing NATS server with TLS [default: one in the namespace]
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
    /// Include the keys of `plimsoll cluster init` in this directory as secrets
    #[arg(long, value_name = "DIR")]
    pub keys: Option<String>,
    /// Include a job that runs this experiment on the agents
    #[arg(long, value_name = "FILE")]
    pub run: Option<String>,
    /// Image with the program [default: plimsoll with this version]
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Whole CPUs of each agent [default: 2]
    #[arg(long, value_name = "N")]
    pub cpus: Option<String>,
    /// Memory of each agent, such as `2Gi` [default: 1Gi, or more if the users of `--run` need it]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Confirm that loads may go to this public host [repeatable]
    #[arg(long, value_name = "HOST")]
    pub allow: Vec<String>,
}
