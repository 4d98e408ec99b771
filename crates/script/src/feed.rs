//! Files of rows: read once before the load, shared by all users, and dealt out by number.
//!
//! A user keeps 16 bytes per feeder (the row of this iteration and how many rows came before); a value is cut out of
//! the file's own bytes when it is needed. Nothing is copied per user or per row.

mod csv;
mod json;
mod shuffle;
mod table;

use crate::value::Unfilled;
use plimsoll_plan::Problem;
use plimsoll_plan::data::{AtEnd, Feeder, RowOrder, Sharing};
use plimsoll_plan::load::Share;
use plimsoll_plan::program::{Unready, UserSlot};
use plimsoll_plan::value::{ColumnId, FeederId, Placeholder};
use shuffle::{mix, permuted};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use table::Table;

/// All feeders of a script.
#[derive(Debug, Default)]
pub struct Feeds {
    /// By [`FeederId`]; `None`: left out by [`Feeds::open_ready`].
    feeds: Box<[Option<Arc<Feed>>]>,
}

/// One feeder: its rows, and the rule by which they are dealt out.
#[derive(Debug)]
struct Feed {
    table: Table,
    sharing: Sharing,
    order: RowOrder,
    at_end: AtEnd,
    machine: Share,
    seed: u64,
    /// With [`Sharing::Unique`]: how many rows this machine has given out.
    given: AtomicU64,
}

impl Feeds {
    /// Reads and checks every file. `seed` is the run's; `share` says which machine this is.
    ///
    /// # Errors
    /// A message that names feeder, file and, where it has one, the line: the file cannot be read, is empty, is no CSV
    /// or JSON Lines, lacks a column, or has a row that is shorter or longer than the others. With
    /// [`Sharing::Unique`] there must be a row for each machine.
    pub fn open(feeders: &[Feeder], seed: u64, share: Share) -> Result<Feeds, Unready> {
        Feeds::default().open_rest(feeders, seed, share)
    }

    /// As [`Feeds::open`], but leaves out what the set-up is still to write. A value of such a feeder is missing.
    ///
    /// # Errors
    /// As [`Feeds::open`].
    pub fn open_ready(feeders: &[Feeder], seed: u64, share: Share) -> Result<Feeds, Unready> {
        let open = |(id, feeder): (usize, &Feeder)| match feeder.made_by_setup {
            true => Ok(None),
            false => Feed::open(feeder, id, seed, share).map(Some),
        };
        Ok(Feeds { feeds: feeders.iter().enumerate().map(open).collect::<Result<_, Unready>>()? })
    }

    /// All `feeders`, those of `self` shared with it: no file is read twice, and no unique row that the set-up has
    /// used is given again.
    ///
    /// # Errors
    /// As [`Feeds::open`].
    pub fn open_rest(&self, feeders: &[Feeder], seed: u64, share: Share) -> Result<Feeds, Unready> {
        let open = |(id, feeder): (usize, &Feeder)| match self.feeds.get(id) {
            Some(Some(feed)) => Ok(Some(feed.clone())),
            _ => Feed::open(feeder, id, seed, share).map(Some),
        };
        Ok(Feeds { feeds: feeders.iter().enumerate().map(open).collect::<Result<_, Unready>>()? })
    }

    /// Rows of the file; `None`: it is not open.
    pub fn row_count(&self, feeder: FeederId) -> Option<u64> {
        Some(self.feed(feeder)?.rows())
    }

    fn feed(&self, feeder: FeederId) -> Option<&Feed> {
        self.feeds.get(usize::from(feeder))?.as_deref()
    }
}

/// Where nothing says better how to mend a file.
const MEND: &str = "correct the file";

/// What stands in a file cannot be used.
fn unsound(message: String) -> Unready {
    Unready::Data(Problem::new(message, MEND))
}

impl Feed {
    fn open(feeder: &Feeder, id: usize, seed: u64, machine: Share) -> Result<Arc<Feed>, Unready> {
        let table = Table::open(feeder)?;
        let rows = table.rows() as u64;
        if feeder.share == Sharing::Unique && rows < u64::from(machine.of) {
            return Err(unsound(format!(
                "data `{}`: {rows} rows in `{}` are too few for {} machines, each needs rows of its own",
                feeder.name,
                feeder.path.display(),
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

    /// The next row of a user who was given `before` rows; `None`: there is none.
    fn deal(&self, slot: UserSlot, before: u64) -> Option<u64> {
        let (first, stride) = match self.sharing {
            Sharing::All => (0, 1),
            Sharing::Partition => (u64::from(slot.user), u64::from(slot.users.max(1))),
            Sharing::Unique => (u64::from(self.machine.part.max(1)) - 1, u64::from(self.machine.of.max(1))),
        };
        // Rows `first`, `first + stride`, ...: so many are this user's, or this machine's.
        let own = self.rows().saturating_sub(first).div_ceil(stride);
        let number = match self.sharing {
            // Relaxed: only that no number is given twice matters, not what else was written before.
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
                // The high half of a product is below `own`; what it favours some rows by is below own / 2^64.
                ((u128::from(draw) * u128::from(own)) >> 64) as u64
            }
        };
        Some(first + index * stride)
    }
}

/// One user's place in every feeder. A row is drawn when the first value of it is asked for in an iteration, and stays
/// for the rest of that iteration.
///
/// - [`Sharing::All`]: each user has all rows, from the first on.
/// - [`Sharing::Partition`]: user i of n of a load model has the rows i, i + n, ...; one without any (more users than
///   rows) is exhausted at once, whatever [`AtEnd`] says, because every row is another's.
/// - [`Sharing::Unique`]: machine k of m has the rows k - 1, k - 1 + m, ..., and never one of another machine, not
///   even when it begins again.
///
/// [`RowOrder::Random`] draws with replacement, and [`AtEnd::Stop`] then ends a user after as many draws as it has
/// rows; with [`Sharing::Unique`] it is a permutation, another one each time around.
#[derive(Debug)]
pub struct Rows {
    feeds: Arc<Feeds>,
    slot: UserSlot,
    seats: Box<[RowPosition]>,
}

/// No row of this iteration yet.
const NONE: u64 = u64::MAX;

#[derive(Debug, Clone)]
struct RowPosition {
    row: u64,
    given: u64,
}

impl Rows {
    /// In front of the first row of every feeder; call [`Rows::new_iteration`] or not, the first row comes first.
    pub fn new(feeds: &Arc<Feeds>, slot: UserSlot) -> Rows {
        let seats = vec![RowPosition { row: NONE, given: 0 }; feeds.feeds.len()];
        Rows { feeds: feeds.clone(), slot, seats: seats.into() }
    }

    /// The next value asked for comes from the next row.
    pub fn new_iteration(&mut self) {
        self.seats.iter_mut().for_each(|seat| seat.row = NONE);
    }

    /// Appends the value of a column in the row of this iteration, unquoted.
    ///
    /// # Errors
    /// [`Unfilled::Exhausted`] when no row is left; [`Unfilled::Missing`] when the feeder is not open or the row has no
    /// such value.
    pub fn value(&mut self, feeder: FeederId, column: ColumnId, out: &mut Vec<u8>) -> Result<(), Unfilled> {
        let missing = || Unfilled::Missing(Placeholder::Column { feeder, column });
        let feed = self.feeds.feed(feeder).ok_or_else(missing)?;
        let seat = self.seats.get_mut(usize::from(feeder)).ok_or_else(missing)?;
        if seat.row == NONE {
            seat.row = feed.deal(self.slot, seat.given).ok_or(Unfilled::Exhausted(feeder))?;
            seat.given += 1;
        }
        // proof: a row's number is below the number of rows, which were counted in a `usize`.
        if feed.table.value(seat.row as usize, usize::from(column), out) { Ok(()) } else { Err(missing()) }
    }
}
