//! Further shapes: a caution raised for a second reason, and what is doubted of a threshold's figure.

use super::{MS, SECOND};
use crate::caution::Evidence;
use crate::caution::evidence::{LoadLoss, Shortage};

pub fn examples() -> Vec<Evidence> {
    vec![
        Evidence::InFlightDiffers { measured_mean: 50.2, computed_mean: 31.7 },
        Evidence::FigureMissing { subject: "response_time{request: login} p99".into() },
        Evidence::TimesCutOff { requests_count: 60 },
        Evidence::TimesUnfinished { requests_count: 402 },
        Evidence::TimeInterval { samples_count: 1_200, quantile: 0.99, low_ns: 80 * MS, high_ns: 2 * SECOND },
        Evidence::ValueInterval { samples_count: 1_200, quantile: 0.99, low: 2.5, high: 12.0 },
        Evidence::NoInterval { samples_count: 120, quantile: 0.99, needed_count: 368 },
        Evidence::SendsDelayed { schedule_lag_p99_ns: 12 * MS, schedule_lag_max_ns: 31 * MS },
        Evidence::GeneratorStalled { stalls_count: 3, stalled_ratio: 0.042 },
        Evidence::GeneratorQueued { cpu_wait_ratio: 0.3 },
        Evidence::PartMissing { missing_ratio: 0.2 },
        Evidence::AgentsLost { agents_count: 1, of_count: 3, first: "eu-1".into(), recorded_ns: 42 * SECOND },
        Evidence::AttemptsLost { shortage: Shortage::Descriptors, attempts_count: 44 },
        Evidence::LoadReduced { loss: LoadLoss::Attempts(Shortage::Ports), unsent_ratio: 0.12 },
        Evidence::LoadReduced { loss: LoadLoss::Arrivals, unsent_ratio: 0.0625 },
        Evidence::SomeArrivalsUnsent { unsent_count: 5 },
        Evidence::TimeoutsInStalls { timeouts_count: 4 },
        Evidence::RequestsYoung { requests_count: 9 },
    ]
}
