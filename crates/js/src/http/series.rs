//! The series of requests, and what is counted of requests that were never sent.

use crate::host::Host;
use crate::http::send::Prepared;
use crate::http::url;
use crate::known::RequestKey;
use crate::metrics::Labels;
use crate::vu::Vu;
use plimsoll_plan::metric::{SeriesSum, fault_id};
use plimsoll_plan::origin::{ORIGIN_TAG, OriginId};
use plimsoll_plan::program::Count;
use plimsoll_plan::request::Target;
use plimsoll_plan::series::{Family, label};
use plimsoll_plan::{Fault, Side};

/// Returns the beginning of a name that is too long for a row.
pub fn shortened(name: &str) -> &str {
    name.char_indices().nth(200).map_or(name, |(at, _)| &name[..at])
}

impl Host {
    /// Counts a request that was not sent, because its origin cannot be used.
    pub fn count_unreached(&self, vu: &Vu, prepared: &Prepared, fault: Fault) {
        let Ok(url) = url::parse(&prepared.url) else { return };
        if let Ok(series) = self.request_series(vu, prepared, (&url.target, None)) {
            self.count_fault(series, fault);
        }
    }

    /// Counts a failure of a request that was not sent.
    pub fn count_fault(&self, series: u32, fault: Fault) {
        let mut out = self.out.borrow_mut();
        out.count(Count::Sum(series, fault_id(fault), 1));
        if fault.side() != Side::Client {
            out.count(Count::sum(series, SeriesSum::Finished, 1));
            out.count(Count::sum(series, SeriesSum::Failed, 1));
        }
    }

    /// Returns the series of a request to an origin, which has a number if it can be used.
    pub fn request_series(
        &self,
        vu: &Vu,
        prepared: &Prepared,
        (target, origin): (&Target, Option<OriginId>),
    ) -> Result<u32, String> {
        let name = prepared.params.name.as_deref().or(prepared.name.as_deref()).unwrap_or(&prepared.url);
        let (tags, method) = (prepared.params.tags.as_slice(), &*prepared.method);
        let key = origin.filter(|_| tags.is_empty()).map(|origin| {
            let scope = self.scope(vu);
            RequestKey { scope, origin, method, name }
        });
        if let Some(series) = key.and_then(|key| self.known.borrow().request(key)) {
            return Ok(series);
        }
        let before = self.out.borrow().book.refused();
        let series = self.series_to(vu, Family::Request, name, tags, Some(method), target)?;
        let is_lasting = self.out.borrow().book.refused() == before;
        if let Some(key) = key.filter(|_| is_lasting) {
            self.known.borrow_mut().keep_request(key, series);
        }
        Ok(series)
    }

    /// Returns a series of what is sent to an origin.
    ///
    /// # Errors
    /// Returns a message if there are too many series.
    pub fn series_to(
        &self,
        vu: &Vu,
        family: Family,
        name: &str,
        tags: &[(String, String)],
        method: Option<&str>,
        target: &Target,
    ) -> Result<u32, String> {
        let group = vu.group();
        let labels: Labels<'_> = self.labels(vu, &group, tags);
        let origin = url::origin(target);
        let mut pairs = labels.pairs();
        pairs.extend(method.map(|method| (label::METHOD, method)));
        if self.origins.borrow().len() > 1 {
            pairs.push((ORIGIN_TAG, &origin));
        }
        let series = self.out.borrow_mut().open(family, shortened(name), &pairs);
        series.ok_or_else(|| "too many different requests: give them a `name` tag".to_owned())
    }
}
