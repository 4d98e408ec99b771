//! Data files: read once before the load, shared by all users, and assigned to users row by row.
//!
//! A user keeps 16 bytes per file (the row of this iteration and the number of rows before). Values come from the bytes
//! of the file when they are needed. Nothing is copied per user or per row.

mod csv;
mod json;
mod shuffle;
mod table;

use crate::value::Unfilled;
use plimsoll_plan::Problem;
use plimsoll_plan::data::{AtEnd, Feeder, RowOrder, Sharing};
use plimsoll_plan::load::Share;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::program::{Unready, UserSlot};
use plimsoll_plan::value::{ColumnId, FeederId, Placeholder};
use shuffle::{mix, permuted};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use table::Table;

/// All data files of a script.
#[derive(Debug, Default)]
pub struct Feeds {
    /// By [`FeederId`]; `None` if [`Feeds::open_ready`] skipped the file.
    feeds: Box<[Option<Arc<Feed>>]>,
}

/// One data file: its rows, and the rule that assigns them.
#[derive(Debug)]
struct Feed {
    table: Table,
    sharing: Sharing,
    order: RowOrder,
    at_end: AtEnd,
    machine: Share,
    seed: u64,
    /// Number of rows that this machine has used with [`Sharing::Unique`].
    given: AtomicU64,
}

impl Feeds {
    /// Reads and validates all files. `seed` is that of the run, and `share` the shard of this machine.
    ///
    /// # Errors
    /// Returns an error with name, file, and line if a file cannot be read, is empty, is not valid CSV or JSON Lines,
    /// lacks a column, or has rows of different lengths. With [`Sharing::Unique`], each machine needs a row.
    pub fn open(feeders: &[Feeder], seed: u64, share: Share) -> Result<Feeds, Unready> {
        Feeds::default().open_rest(feeders, seed, share)
    }

    /// Opens files as [`Feeds::open`] does, but skips those that setup will write. Their values are missing.
    ///
    /// # Errors
    /// Returns an error if [`Feeds::open`] does.
    pub fn open_ready(feeders: &[Feeder], seed: u64, share: Share) -> Result<Feeds, Unready> {
        let open = |(id, feeder): (usize, &Feeder)| match feeder.made_by_setup {
            true => Ok(None),
            false => Feed::open(feeder, id, seed, share).map(Some),
        };
        Ok(Feeds { feeds: feeders.iter().enumerate().map(open).collect::<Result<_, Unready>>()? })
    }

    /// Opens all `feeders`, and shares those that `self` has, so that no file is read twice and no unique row of setup
    /// is reused.
    ///
    /// # Errors
    /// Returns an error if [`Feeds::open`] does.
    pub fn open_rest(&self, feeders: &[Feeder], seed: u64, share: Share) -> Result<Feeds, Unready> {
        let open = |(id, feeder): (usize, &Feeder)| match self.feeds.get(id) {
            Some(Some(feed)) => Ok(Some(feed.clone())),
            _ => Feed::open(feeder, id, seed, share).map(Some),
        };
        Ok(Feeds { feeds: feeders.iter().enumerate().map(open).collect::<Result<_, Unready>>()? })
    }

    /// Returns the number of rows of a file; `None` if it is not open.
    pub fn row_count(&self, feeder: FeederId) -> Option<u64> {
        Some(self.feed(feeder)?.rows())
    }

    fn feed(&self, feeder: FeederId) -> Option<&Feed> {
        self.feeds.get(usize::from(feeder))?.as_deref()
    }
}

/// The default help line for an invalid file.
const FIX: &str = "correct the file";

/// Returns an error for the invalid content of a file.
fn unsound(message: String) -> Unready {
    Unready::Data(Problem::new(message, FIX))
}

impl Feed {
    fn open(feeder: &Feeder, id: usize, seed: u64, machine: Share) -> Result<Arc<Feed>, Unready> {
        let table = Table::open(feeder)?;
        let rows = table.rows() as u64;
        if feeder.share == Sharing::Unique && rows < u64::from(machine.of) {
            return Err(unsound(format!(
                "too few rows for data `{}`: `{}` has {}, but there are {} machines",
                feeder.name,
                feeder.path.display(),
                counted(rows, "row"),
                machine.of
            )));
        }
        Ok(Arc::new(Feed {
            table,
            sharing: feeder.share,
            order: feeder.order,
            at_end: feeder.at_end,
            machine,
            seed: mix(seed ^ mix(id as u64 + 1)),
            given: AtomicU64::new(0),
        }))
    }

    fn rows(&self) -> u64 {
        self.table.rows() as u64
    }

    /// Returns the next row of a user after `before` rows; `None` if there is none.
    fn deal(&self, slot: UserSlot, before: u64) -> Option<u64> {
        let (first, stride) = match self.sharing {
            Sharing::All => (0, 1),
            Sharing::Partition => (u64::from(slot.user), u64::from(slot.users.max(1))),
            Sharing::Unique => (u64::from(self.machine.part.max(1)) - 1, u64::from(self.machine.of.max(1))),
        };
        // The number of rows of this user or machine: `first`, `first + stride`, and so on.
        let own = self.rows().saturating_sub(first).div_ceil(stride);
        let number = match self.sharing {
            // Relaxed is enough: numbers must be unique, but nothing else is synchronized.
            Sharing::Unique => self.given.fetch_add(1, Ordering::Relaxed),
            Sharing::All | Sharing::Partition => before,
        };
        if own == 0 || (self.at_end == AtEnd::Stop && number >= own) {
            return None;
        }
        let index = match (self.order, self.sharing) {
            (RowOrder::Sequential, _) => number % own,
            (RowOrder::Random, Sharing::Unique) => {
                permuted(number % own, own, mix(self.seed ^ (number / own)))
            }
            (RowOrder::Random, _) => {
                let who = u64::from(slot.workload) << 32 | u64::from(slot.user);
                let draw = mix(mix(self.seed ^ mix(who + 1)).wrapping_add(number));
                // The high half of the product is below `own`, and its bias is below own / 2^64.
                ((u128::from(draw) * u128::from(own)) >> 64) as u64
            }
        };
        Some(first + index * stride)
    }
}

/// One user's position in all data files. A row is chosen at the first use of one of its values in an iteration, and
/// stays for the rest of the iteration.
///
/// - [`Sharing::All`]: each user reads all rows, beginning with the first.
/// - [`Sharing::Partition`]: user i of n of a load model reads rows i, i + n, and so on. If there are more users than
///   rows, users without rows end immediately, regardless of [`AtEnd`].
/// - [`Sharing::Unique`]: machine k of m reads rows k - 1, k - 1 + m, and so on, and never those of another machine,
///   even after it starts over.
///
/// [`RowOrder::Random`] draws with replacement, and [`AtEnd::Stop`] ends a user after as many draws as it has rows.
/// With [`Sharing::Unique`], it is a permutation, which differs in each pass.
#[derive(Debug)]
pub struct Rows {
    feeds: Arc<Feeds>,
    slot: UserSlot,
    seats: Box<[RowPosition]>,
}

/// Marks that the iteration has no row yet.
const NONE: u64 = u64::MAX;

#[derive(Debug, Clone)]
struct RowPosition {
    row: u64,
    given: u64,
}

impl Rows {
    /// Returns a position before the first row of every file, with or without a call of [`Rows::new_iteration`].
    pub fn new(feeds: &Arc<Feeds>, slot: UserSlot) -> Rows {
        let seats = vec![RowPosition { row: NONE, given: 0 }; feeds.feeds.len()];
        Rows { feeds: feeds.clone(), slot, seats: seats.into() }
    }

    /// Lets the next value come from the next row.
    pub fn new_iteration(&mut self) {
        self.seats.iter_mut().for_each(|seat| seat.row = NONE);
    }

    /// Appends the value of a column in the row of this iteration, without quotes.
    ///
    /// # Errors
    /// Returns [`Unfilled::Exhausted`] if no row is left, and [`Unfilled::Missing`] if the file is not open or the row
    /// has no such value.
    pub fn value(&mut self, feeder: FeederId, column: ColumnId, out: &mut Vec<u8>) -> Result<(), Unfilled> {
        let missing = || Unfilled::Missing(Placeholder::Column { feeder, column });
        let feed = self.feeds.feed(feeder).ok_or_else(missing)?;
        let seat = self.seats.get_mut(usize::from(feeder)).ok_or_else(missing)?;
        if seat.row == NONE {
            seat.row = feed.deal(self.slot, seat.given).ok_or(Unfilled::Exhausted(feeder))?;
            seat.given += 1;
        }
        // proof: the number of a row is below the number of rows, which is a `usize`.
        if feed.table.value(seat.row as usize, usize::from(column), out) { Ok(()) } else { Err(missing()) }
    }
}
