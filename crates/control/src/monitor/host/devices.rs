//! Disks and network interfaces with any activity, each as a part.

use crate::monitor::files::Files;
use crate::monitor::previous_counters::Page;
use plimsoll_plan::watch::Unit;
use std::collections::BTreeSet;

/// Parts of one kind, limited because a machine with containers has hundreds of interfaces.
#[derive(Default)]
pub struct Devices {
    told: BTreeSet<String>,
}

const MOST: usize = 16;

impl Devices {
    /// Once reported, a device stays reported, so that its inactivity is visible.
    fn tells(&mut self, name: &str, active: bool) -> bool {
        if self.told.contains(name) {
            return true;
        }
        active && self.told.len() < MOST && self.told.insert(name.to_owned())
    }

    /// Reads `major minor name` and counters (Documentation/admin-guide/iostats.rst of the kernel). A sector has 512
    /// bytes here, regardless of the disk's sector size.
    pub fn disks(&mut self, files: &mut Files, page: &mut Page) {
        const SECTOR: f64 = 512.0;
        // The list includes partitions; `/sys/block` contains whole devices only.
        let whole: BTreeSet<String> = files.names("/sys/block").into_iter().collect();
        for line in files.text("/proc/diskstats").unwrap_or_default().lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let Some(name) = words.get(2) else { continue };
            let number =
                |at: usize| words.get(at + 2).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
            let (reads, read, writes, written, busy_ms) =
                (number(1), number(3), number(5), number(7), number(10));
            if !whole.contains(*name) || !self.tells(name, reads + writes > 0.0) {
                continue;
            }
            page.counter(name, "disk_read", Unit::BytesPerS, None, read * SECTOR);
            page.counter(name, "disk_write", Unit::BytesPerS, None, written * SECTOR);
            page.counter(name, "disk_operations", Unit::PerS, None, reads + writes);
            page.counter(name, "disk_busy", Unit::Share, Some(1.0), busy_ms / 1e3);
        }
    }

    /// Reads `name: bytes packets errs drop fifo frame compressed multicast`, and the same for sending (proc(5)).
    pub fn interfaces(&mut self, files: &mut Files, page: &mut Page) {
        for line in files.text("/proc/net/dev").unwrap_or_default().lines() {
            let Some((name, counts)) = line.split_once(':') else { continue };
            let name = name.trim();
            let counts: Vec<f64> =
                counts.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
            let [rx, rx_packets, rx_errors, rx_drops, _, _, _, _, tx, tx_packets, tx_errors, tx_drops, ..] =
                counts[..]
            else {
                continue;
            };
            if !self.tells(name, rx_packets + tx_packets > 0.0) {
                continue;
            }
            page.counter(name, "net_rx", Unit::BytesPerS, None, rx);
            page.counter(name, "net_tx", Unit::BytesPerS, None, tx);
            page.counter(name, "net_rx_packets", Unit::PerS, None, rx_packets);
            page.counter(name, "net_tx_packets", Unit::PerS, None, tx_packets);
            page.counter(name, "net_drops", Unit::PerS, None, rx_drops + tx_drops);
            page.counter(name, "net_errors", Unit::PerS, None, rx_errors + tx_errors);
        }
    }
}
