//! Two load generators (here: two processes) that share a schedule: their merged report agrees with the server's log,
//! and a run that is merged twice counts once.

use crate::canary::{Canary, in_server_ns};
use crate::help::{self, count};
use crate::support::{Ruler, Scratch, Tool, alone, run_alongside};
use crate::times::{Machine, POINTS, wrong_figures};

#[test]
fn two_shares_at_once_are_one_run_in_the_end() {
    let _alone = alone();
    help::patiently("percentiles of a merged run", || {
        let ruler = Ruler::start(&["--delay", "lognormal:10ms:0.8"]);
        let scratch = Scratch::new();
        let files = [scratch.path("a.plim"), scratch.path("b.plim")];
        let start = |share, file: &str| {
            let load = ["-r", "2000", "-n", "6000", "--seed", "9", "--shard", share, "-q", "--out", file];
            Tool::new(&[&load[..], &[&ruler.url("/")]].concat()).start()
        };
        let (canary, waits) = (Canary::start(), help::Waits::of(ruler.pid()));
        let running = [start("1/2", &files[0]), start("2/2", &files[1])];
        for one in running {
            one.wait();
        }
        let (way, in_ruler) = (canary.end(), waits.share_since());
        let merged = Tool::run(&["merge", &files[0], &files[1], "--json"]).json();
        let machine = Machine { way: &way, waited: in_ruler + help::waited_share(&merged) };
        assert_eq!(count(&merged, "/totals/requests"), 6_000);
        assert_eq!(count(&merged, "/offered/arrivals"), 6_000);
        assert_eq!(ruler.requests(), 6_000);
        assert_eq!(merged["generators"].as_array().map(Vec::len), Some(2));
        let parts: Vec<u64> = [0, 1].map(|i| count(&merged, &format!("/generators/{i}/requests"))).to_vec();
        assert_eq!(parts, [3_000, 3_000], "the rows of the origins");
        // Twice 1,000/s concurrently, not sequentially; the run ends with its last response, a little
        // after 3 s.
        let rate = help::number(&merged, "/offered/rate_per_s");
        assert!((1_800.0..=2_010.0).contains(&rate), "{rate}");
        let own_ns = in_server_ns(&help::log(&ruler));
        let wrong = wrong_figures(&merged, "service_time", &POINTS, &own_ns, &machine);
        let wrong: Vec<String> = wrong.into_iter().map(|(_, sentence)| sentence).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    });
}

#[test]
fn merging_knows_no_order_no_grouping_and_no_second_time() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "exponential:5ms", "--error-rate", "0.02"]);
    let scratch = Scratch::new();
    // Concurrently, like load generators that share a load.
    let running = ["1/3", "2/3", "3/3"].map(|share| {
        let file = scratch.path(&format!("{}.plim", &share[..1]));
        let load = ["-c", "10", "-n", "901", "--seed", "9", "--shard", share, "-q", "--out", &file];
        (Tool::new(&[&load[..], &[&ruler.url("/")]].concat()).start(), file)
    });
    let [a, b, c] = &running.map(|(running, file)| {
        // 2% of errors: a FAIL, which does not matter here.
        assert_ne!(running.wait().code, 1);
        file
    });
    let merge = |parts: &[&String], out: &str| {
        let out = scratch.path(out);
        let words = parts.iter().map(|s| s.as_str());
        let args: Vec<&str> = ["merge"].into_iter().chain(words).chain(["--out", &out, "--json"]).collect();
        let said = Tool::run(&args).json();
        (out, said)
    };
    let (_, all) = merge(&[a, b, c], "all.plim");
    assert!(!all["verdict"]["reasons"].to_string().contains("missing"), "{}", all["verdict"]);
    assert_eq!(count(&all, "/totals/requests"), 901);
    assert_eq!(count(&all, "/totals/errors"), count(&ruler.counters(), "/by_status/500"));
    assert_eq!(ruler.requests(), 901);
    // Errors in some shards are errors of the whole run, regardless of the missing shards.
    let (ab, part) = merge(&[a, b], "ab.plim");
    assert_eq!(part["verdict"]["result"], "FAIL", "{}", part["verdict"]);
    assert!(part["cautions"].to_string().contains("incomplete_record"), "{}", part["cautions"]);
    let (bc, _) = merge(&[b, c], "bc.plim");
    for (name, parts) in [
        ("order", &[c, a, b][..]),
        ("left", &[&ab, c]),
        ("right", &[a, &bc]),
        ("twice", &[a, b, c, a]),
        ("overlap", &[&ab, &bc, b]),
    ] {
        let (_, again) = merge(parts, &format!("{name}.plim"));
        assert_eq!(again, all, "{name}");
    }
}
