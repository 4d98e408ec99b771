//! Texts in the making: outputs of tools with chosen figures, and a report that is sound.

/// An output of wrk. `faults` is the line of socket errors, or nothing.
pub struct Wrk {
    pub url: &'static str,
    pub threads: u32,
    pub connections: u32,
    pub mean_ms: f64,
    pub p99_ms: f64,
    pub rate: f64,
    pub bytes: f64,
    pub connect_errors: u32,
}

pub const WRK: Wrk = Wrk {
    url: "http://shop.example/cart",
    threads: 4,
    connections: 100,
    mean_ms: 10.0,
    p99_ms: 40.0,
    rate: 9_000.0,
    bytes: 500.0,
    connect_errors: 0,
};

impl Wrk {
    pub fn text(&self) -> String {
        let requests = self.rate * 30.0;
        let megabytes = requests * self.bytes / 1_048_576.0;
        let faults = match self.connect_errors {
            0 => String::new(),
            n => format!("  Socket errors: connect {n}, read 0, write 0, timeout 0\n"),
        };
        format!(
            "```\nRunning 30s test @ {}\n  {} threads and {} connections\n  Thread Stats   Avg      \
                 Stdev     Max   +/- Stdev\n    \
             Latency   {:.2}ms   {:.2}ms {:.2}ms   80.00%\n    \
             Req/Sec   {:.2}     10.00   900.00     70.00%\n  Latency Distribution\n     \
             50%  {:.2}ms\n     90%  {:.2}ms\n     99%  {:.2}ms\n  \
             {:.0} requests in 30.00s, {megabytes:.2}MB read\n{faults}\
             Requests/sec:  {:.2}\nTransfer/sec:  {:.2}MB\n```\n",
            self.url,
            self.threads,
            self.connections,
            self.mean_ms,
            self.mean_ms / 2.0,
            self.p99_ms * 1.5,
            self.rate / f64::from(self.threads),
            self.mean_ms * 0.95,
            self.mean_ms * 1.5,
            self.p99_ms,
            requests,
            self.rate,
            megabytes / 30.0,
        )
    }
}

/// Outputs one after the other, each under a heading of its own.
pub fn outputs(all: &[Wrk]) -> String {
    all.iter().map(|w| format!("## At {} connections\n\n{}\n", w.connections, w.text())).collect()
}

/// A load test of a shop: repeated, with percentiles, warm-up and machines of their own.
pub const SOUND: &str = "\
# Load test of a shop

The client ran on a machine of its own, an m5.xlarge with 4 vCPU and 16 GiB. Connections are kept alive.
Every level was repeated five times after a warm-up of 60 s; the table shows medians. Failures by status: none.
Steps of the load double; the limit was then found by bisection.
A month has 720,000 visitors with visits of 5 minutes, so a day of 24 hours has 24,000 visits, a concurrency of 83.
At 10 users that is 490.1/s x 20.1 ms = 10 in flight.
The run sends 200 x 30 = 6,000 messages, and 6,000 / 30 s = 200/s.

## Levels

| Users | Requests | Errors | Avg (ms) | p50 (ms) | p95 (ms) | p99 (ms) | Throughput (req/s) |
|---|---|---|---|---|---|---|---|
| 10 | 29,400 | 0 | 20.1 | 19.0 | 31.5 | 44.2 | 490.1 |
| 20 | 57,000 | 0 | 20.8 | 19.4 | 33.0 | 47.9 | 950.3 |
| 40 | 93,000 | 0 | 25.4 | 22.6 | 48.1 | 71.3 | 1550.2 |
| 80 | 96,600 | 0 | 49.2 | 46.0 | 90.7 | 133.8 | 1610.4 |

## Paths one after the other, 60 s each, 50 users

| Path | Requests | Errors | Avg (ms) | p95 (ms) | Throughput (req/s) |
|---|---|---|---|---|---|
| /a | 29,411 | 0 | 101.2 | 131.5 | 490.2 |
| /b | 57,023 | 0 | 52.1 | 83.0 | 950.4 |
| /c | 93,007 | 0 | 31.8 | 48.1 | 1550.1 |

## Paths together, 60 s, 50 users, before

| Path | Requests | Errors | Avg (ms) | p95 (ms) | Throughput (req/s) |
|---|---|---|---|---|---|
| /a | 29,411 | 0 | 51.2 | 81.5 | 490.2 |
| /b | 29,409 | 0 | 22.1 | 43.0 | 490.2 |
| /c | 29,402 | 0 | 26.8 | 38.1 | 490.0 |

## Paths together, 60 s, 50 users, after

| Path | Requests | Errors | Avg (ms) | p95 (ms) | Throughput (req/s) |
|---|---|---|---|---|---|
| /a | 31,411 | 0 | 48.2 | 71.5 | 523.5 |
| /b | 31,409 | 0 | 21.1 | 39.0 | 523.5 |
| /c | 31,402 | 0 | 24.8 | 36.1 | 523.4 |
";
