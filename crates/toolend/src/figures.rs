//! The numbers of a run from which the texts are written.

use plimsoll_plan::Fault;
use plimsoll_plan::load::Load;
use plimsoll_plan::metric::{RunHist, RunSum, STATUS_BASE, STATUS_CELLS, SeriesHist, SeriesSum, fault_id};
use plimsoll_record::RunRecord;
use plimsoll_record::record::{RUN_LAYOUT, SERIES_LAYOUT, requests_of, requests_total};
use plimsoll_stats::Hist;
use plimsoll_stats::tally::Tally;

/// Represents all status codes outside 100–599.
pub const OTHER_STATUS: u16 = 0;

/// The numbers of a run, all requests and machines added up.
#[derive(Debug, Clone)]
pub struct Figures {
    requests: Tally,
    run: Tally,
    /// Length of the run without its warm-up, ns.
    pub elapsed_ns: u64,
    /// The planned length of the run, ns; `None`: a number of requests ends it.
    pub planned_ns: Option<u64>,
    /// The time between two arrivals at a constant rate, ns.
    pub interval_ns: Option<u64>,
    /// Bytes of the bodies of all requests that were sent, as far as the plan knows their sizes.
    pub body_bytes_out: u64,
    /// Start of the run, ns since 1970.
    pub started_unix_ns: u64,
    /// Rows of the timeline, in order.
    pub seconds: Vec<Second>,
}

/// One tick of the run, usually a second.
#[derive(Debug, Clone)]
pub struct Second {
    /// From the start of the run, ns.
    pub from_ns: u64,
    pub length_ns: u64,
    requests: Tally,
}

impl Second {
    /// Returns the number of responses.
    pub fn responses(&self) -> u64 {
        statuses(&self.requests).map(|(_, count)| count).sum()
    }

    pub fn sum(&self, id: SeriesSum) -> u64 {
        cell(&self.requests, id.id())
    }

    pub fn hist(&self, id: SeriesHist) -> &Hist {
        hist(&self.requests, id.id())
    }
}

impl Figures {
    pub fn new(record: &RunRecord) -> Figures {
        let mut figures = Figures {
            requests: Tally::on_demand(SERIES_LAYOUT),
            run: Tally::on_demand(RUN_LAYOUT),
            elapsed_ns: 0,
            planned_ns: None,
            interval_ns: None,
            body_bytes_out: 0,
            started_unix_ns: u64::MAX,
            seconds: Vec::new(),
        };
        for machine in record.generators.values() {
            let outline = &machine.opening.outline;
            figures.requests.merge(&requests_total(outline, &machine.opened, &machine.totals));
            figures.run.merge(&machine.totals.run);
            for (request, tally) in requests_of(outline, &machine.opened, &machine.totals) {
                let sent = cell(tally, SeriesSum::Sent.id());
                figures.body_bytes_out += request.body_bytes.saturating_mul(sent);
            }
            figures.planned_ns = figures.planned_ns.max(outline.stop.duration_ns);
            if let Load::Open { rate_per_s, .. } = &outline.load {
                figures.interval_ns = Some((1e9 / rate_per_s.peak()) as u64);
            }
            figures.started_unix_ns = figures.started_unix_ns.min(machine.opening.started_unix_ns);
            let last = machine.ticks.keys().next_back();
            let seen_ns = last.map_or(0, |tick| outline.tick_bounds_ns(*tick).1);
            let elapsed_ns = machine.ending.as_ref().map_or(seen_ns, |ending| ending.elapsed_ns);
            figures.elapsed_ns = figures.elapsed_ns.max(elapsed_ns.saturating_sub(outline.warmup_ns));
            // The totals exclude the warm-up, too.
            for (tick, row) in machine.ticks.iter().filter(|(tick, _)| !outline.is_warmup(**tick)) {
                let (from_ns, to_ns) = outline.tick_bounds_ns(*tick);
                let length_ns = to_ns.min(elapsed_ns).saturating_sub(from_ns);
                figures.seconds.push(Second { from_ns, length_ns, requests: row.all() });
            }
        }
        figures
    }

    /// Returns the length of the run, s.
    pub fn elapsed_s(&self) -> f64 {
        self.elapsed_ns as f64 / 1e9
    }

    pub fn sum(&self, id: SeriesSum) -> u64 {
        cell(&self.requests, id.id())
    }

    pub fn run_sum(&self, id: RunSum) -> u64 {
        cell(&self.run, id.id())
    }

    pub fn hist(&self, id: SeriesHist) -> &Hist {
        hist(&self.requests, id.id())
    }

    pub fn run_hist(&self, id: RunHist) -> &Hist {
        hist(&self.run, id.id())
    }

    /// Returns the status codes of the responses, in ascending order; [`OTHER_STATUS`] is the last.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        statuses(&self.requests)
    }

    /// Returns the number of responses.
    pub fn responses(&self) -> u64 {
        self.statuses().map(|(_, count)| count).sum()
    }

    /// Returns the time that each request spent on its connection: that of a new one, with its TLS handshake, and 0 for
    /// a request on a reused connection. The two parts of one connection are recorded apart, so that sums of their
    /// distributions are made rank by rank: the mean is exact.
    pub fn connection_times(&self) -> Hist {
        let (connects, handshakes) = (self.run_hist(RunHist::Connect), self.run_hist(RunHist::Handshake));
        let mut all = Hist::on_demand();
        if handshakes.is_empty() {
            all.merge(connects);
        } else {
            for rank in 1..=connects.count() {
                let part = connects.value_at_rank(rank).unwrap_or(0);
                all.record(part + handshakes.value_at_rank(rank.min(handshakes.count())).unwrap_or(0));
            }
        }
        let reused = self.responses().saturating_sub(all.count());
        all.record_n(0, reused);
        all
    }

    /// Returns the number of requests that failed with one of these faults.
    pub fn failed(&self, faults: &[Fault]) -> u64 {
        faults.iter().map(|fault| cell(&self.requests, fault_id(*fault))).sum()
    }

    /// Returns the requests without a response, by fault.
    pub fn without_response(&self) -> impl Iterator<Item = (Fault, u64)> + '_ {
        let of_responses = [Fault::Status, Fault::Check, Fault::GraphqlErrors];
        let faults = Fault::ALL.iter().filter(move |fault| !of_responses.contains(fault));
        faults.map(|fault| (*fault, cell(&self.requests, fault_id(*fault)))).filter(|(_, count)| *count > 0)
    }
}

fn statuses(requests: &Tally) -> impl Iterator<Item = (u16, u64)> + '_ {
    let cells = (0..STATUS_CELLS).map(|at| {
        let status = if at + 1 == STATUS_CELLS { OTHER_STATUS } else { 100 + at as u16 };
        (status, cell(requests, STATUS_BASE + at))
    });
    cells.filter(|(_, count)| *count > 0)
}

fn cell(tally: &Tally, id: usize) -> u64 {
    tally.sums.get(id).copied().unwrap_or(0)
}

static EMPTY: std::sync::LazyLock<Hist> = std::sync::LazyLock::new(Hist::on_demand);

fn hist(tally: &Tally, id: usize) -> &Hist {
    tally.hists.get(id).unwrap_or(&EMPTY)
}

/// Where connections fail: before a request could be sent.
pub const CONNECTING: &[Fault] = &[
    Fault::FdLimit,
    Fault::PortsExhausted,
    Fault::ClientOutOfMemory,
    Fault::ConnectionRefused,
    Fault::ConnectTimeout,
    Fault::HostUnreachable,
    Fault::Tls,
    Fault::CertificateRejected,
    Fault::TlsTimeout,
    Fault::ProtocolChanged,
    Fault::ProxyRefused,
    Fault::ProxyCredentials,
    Fault::ProxyFailed,
    Fault::ProxyTimeout,
    Fault::AcceptQueueFull,
    Fault::DnsFailed,
    Fault::DnsTimeout,
];

/// Returns the middle of a bucket, within the recorded values.
pub fn middle(low: u64, high: u64, of: &Hist) -> u64 {
    let (min, max) = (of.min().unwrap_or(0), of.max().unwrap_or(u64::MAX));
    // The outermost values are exact.
    if low <= min {
        min
    } else if high >= max {
        max
    } else {
        low + (high - low) / 2
    }
}

/// Returns the value at an index from 0 of the sorted values; the last one if there are fewer, and 0 if there are none.
pub fn at_index(hist: &Hist, index: u64) -> u64 {
    hist.value_at_rank((index + 1).min(hist.count())).unwrap_or(0)
}

/// Returns the smallest value, the mean, and the largest value, s; 0 without values.
pub fn extremes_s(hist: &Hist) -> [f64; 3] {
    let s = |ns: u64| ns as f64 / 1e9;
    [s(hist.min().unwrap_or(0)), hist.mean().unwrap_or(0.0) / 1e9, s(hist.max().unwrap_or(0))]
}
