//! The engine without run file, report, or terminal, for profiling:
//! `engine_only URL users|RATE/s seconds [read|close] [requests=N] [streams=N]`, the last for HTTP/2 over plain text.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use plimsoll_engine::{Next, Scene, machine, start};
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::link::{Http, Link};
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Request, request, unit};
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::time::Duration;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let url = request::url(&args[1]).unwrap();
    let mut draft = Draft {
        target: Some(url.target.clone()),
        requests: vec![Request {
            origin: 0,
            name: "x".into(),
            method: "GET".into(),
            path: url.path,
            headers: vec![],
            body: None,
        }],
        load: LoadDraft {
            duration_ns: Some((args[3].parse::<f64>().unwrap() * 1e9) as u64),
            ..LoadDraft::default()
        },
        read_bodies: Some(args.get(4).is_some_and(|a| a == "read")),
        keep_alive: Some(args.get(4).is_none_or(|a| a != "close")),
        ..Draft::default()
    };
    let value = |name: &str| args.iter().find_map(|arg| arg.strip_prefix(name)?.parse::<u32>().ok());
    draft.load.requests_total = value("requests=").map(u64::from);
    if let Some(streams) = value("streams=") {
        draft.link = Link { http: Http::V2, streams, ..draft.link };
    }
    if args[2].contains("/s") {
        draft.load.rate_per_s = Some(unit::rate_per_s(&args[2]).unwrap());
        draft.load.users = Some(100);
    } else {
        draft.load.users = Some(args[2].parse().unwrap());
    }
    machine::raise_nofile();
    let is_http2 = draft.link.http == Http::V2;
    let mut plan = seal(draft, Machine { cpus: 1, seed: 1 }).unwrap();
    if is_http2 {
        plan.outline.set_http2(0);
    }
    let address = (url.target.host.as_str(), url.target.port).to_socket_addrs().unwrap().next().unwrap();
    let mut all = plimsoll_engine::tally::blank(&plan.outline, 0);
    let mut running = start(Arc::new(plan), Scene::at(address)).unwrap();
    loop {
        match running.next(Duration::from_secs(5)) {
            Next::Report(r) => {
                all.merge(&r.interval);
                running.give_back(r.worker, r.interval);
            }
            Next::Quiet => {}
            Next::Ended => break,
        }
    }
    let finish = running.finish();
    let series = &all.series[0];
    println!("{finish:?}");
    for id in SeriesSum::ALL {
        println!("{:>40} {}", id.name(), series.sums[id.id()]);
    }
    for fault in plimsoll_plan::Fault::ALL {
        println!("{:>40} {}", fault.name(), series.sums[plimsoll_plan::metric::fault_id(*fault)]);
    }
    for id in RunSum::ALL {
        println!("{:>40} {}", id.name(), all.run.sums[id.id()]);
    }
    let hists = SeriesHist::ALL.iter().map(|h| (h.name(), &series.hists[h.id()]));
    for (name, h) in hists.chain(RunHist::ALL.iter().map(|h| (h.name(), &all.run.hists[h.id()]))) {
        println!(
            "{name:>40} n {} p50 {:?} p99 {:?} max {:?}",
            h.count(),
            h.quantile(0.5),
            h.quantile(0.99),
            h.max()
        );
    }
}
