//! JMeter: single samples (JTL as CSV or XML), the summariser's lines, and `statistics.json` of the HTML report. Its
//! means are cut to whole milliseconds in the lines, and the percentiles of the report come from the last 20,000
//! samples of each label (`jmeter.reportgenerator.statistic_window`), whatever the length of the run.

pub mod csv;
pub mod samples;
pub mod statistics;
pub mod summariser;
pub mod xml;
