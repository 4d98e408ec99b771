//! What each caution means at length: `plimsoll explain CODE` prints it, and `docs/concepts/cautions.md` is made of it.
//!
//! Three paragraphs each: what it means, how it is found, what to do. The numbers are the defaults of
//! [`super::CautionLimits`].

use super::Kind;

/// The page of one kind, without its title. The match is exhaustive, so a new row without a page does not compile.
pub(super) const fn text(kind: Kind) -> &'static str {
    match kind {
        Kind::ClientFdLimit => {
            "Connections could not be made because this process may not have more descriptors open. The users or \
             arrivals that needed them sent nothing, so the service saw less load than was asked for; it refused \
             nothing.\n\n\
             Each attempt that ended in EMFILE or ENFILE is counted as a fault of this machine, never as an error \
             of the service, in the warm-up as well. One is enough.\n\n\
             Raise the hard limit; the soft one is raised to it by the tool itself. Runs with different numbers \
             of connections that all stop at the same number in flight have met this limit."
        }
        Kind::ClientPortsExhausted => {
            "A connection needs a local port, and none was free: a TCP connection that this side closed keeps its \
             port for a minute (TIME_WAIT), so 28,232 ports last for 470 connections a second.\n\n\
             Each attempt that ended in EADDRNOTAVAIL is counted as a fault of this machine. One is enough; \
             `low_ephemeral_ports` comes before it.\n\n\
             Keep connections open, widen the range of ports, add local addresses, or share the load between \
             machines."
        }
        Kind::ClientOutOfMemory => {
            "The load generator had no memory left: the kernel for another socket or its buffers, or this process \
             for a response body that a check reads.\n\n\
             Each attempt that ended in ENOBUFS or ENOMEM counts as a fault of the load generator, and so does each \
             response whose body did not fit into `kept_total_bytes`. One is enough.\n\n\
             Use fewer connections, smaller bodies, or more machines with `--shard`."
        }
        Kind::ClientSendRefused => {
            "This machine itself refused to connect or to send: a firewall for outgoing packets, a sandbox, a \
             routing rule.\n\n\
             Each attempt that ended in EPERM, EACCES or another refusal of the local kernel is counted as a \
             fault of this machine. One is enough.\n\n\
             Look at the rules of this machine, not at the service."
        }
        Kind::ClientLimit => {
            "A limit of the load generator was too small for a response: a check needed more of a body than \
             `kept_body_bytes` keeps, or the plan lowered a limit (such as `head_bytes`) below its default. That says \
             nothing about the service.\n\n\
             Each such response counts as a fault of the load generator, never as an error of the server. One is \
             enough. A response that exceeds a default limit is the server's: `unsafe_response`.\n\n\
             The failure examples name the limit; raise it with `--limit NAME=VALUE`."
        }
        Kind::ClientStalled => {
            "The load generator was stopped or had no CPU for long stretches. In such a stretch nothing is sent \
             and nothing is read, which looks exactly like a service that stood still.\n\n\
             A worker reads the clock each time it wakes. A step of more than 100 ms that no sleep explains is a \
             stall; together they took more than 1 % of the workers' time.\n\n\
             Find what stopped it (a suspended process, a host that took the CPU, swapping), and run again."
        }
        Kind::IncompleteRecord => {
            "The record does not hold all of the run: it was cut off, a worker died, a disk was full, or a \
             machine that shared the load is not among the merged ones.\n\n\
             The seconds, the end and the shares that the plan promises are compared with those that are there. \
             Where only the rows of some seconds are missing and the totals are whole, it is a warning.\n\n\
             The figures hold for what is there. Run again for the whole."
        }
        Kind::NoRequests => {
            "Not one request ended in the measured part, so there is no figure to judge.\n\n\
             Finished requests and opened streams are counted; there were none behind the warm-up.\n\n\
             Try one request by hand (`curl -v URL`); if it is answered, make the run longer than an answer takes."
        }
        Kind::OfferedRateMissed => {
            "The open model promises a number of arrivals, and more than 1% of them never went out. The service \
             was tested with less than the report's rate.\n\n\
             Promised is the area under the plan's rate, less what chance and rounding explain; arrivals that \
             waited for a connection while a worker had no CPU left are among the missing. What the service held \
             up is not.\n\n\
             Use more workers, a lower rate, or several machines."
        }
        Kind::LateSends => {
            "Requests were sent so late that the delay is a good part of the response times, and it is this \
             machine's.\n\n\
             The p99 of the lateness (the send minus the instant at which it was due and possible) is above 1 ms \
             and above 10 % of the response p99.\n\n\
             Leave the machine more CPU, put the target elsewhere, or use a lower rate."
        }
        Kind::TooFewSamples => {
            "A percentile is an order statistic: p99 of 1,000 samples is the tenth from the top. With fewer it is \
             nearly the maximum, and another run gives another number.\n\n\
             A percentile needs 10 / (1 - p) samples. For one that a threshold names this decides; for one that \
             is only shown it is a note.\n\n\
             Run longer, or name a lower percentile."
        }
        Kind::MergedRunsNotConcurrent => {
            "The merged machines did not load at the same time, so their rates never were the load of one moment.\n\n\
             By the clocks of the machines their runs share less than 90 % of the longest one.\n\n\
             Start them together. Runs one behind the other are compared, not added up."
        }
        Kind::LoadChangedManually => {
            "Somebody paused the load, or gave it another level than the plan's, while it ran. What was offered is \
             then not what the plan says, and a rate over the whole run has seconds in it in which nothing was asked \
             for; no standstill of those seconds is the service's.\n\n\
             Each such step is a line of the timeline. What came due in a pause is not offered and not missed: \
             `achieved` compares with what was offered, the plan's number of arrivals is not asked for, seconds of a \
             pause are no spikes, and neither a growing backlog nor an unsteady beginning is looked for.\n\n\
             Look at the stretches between the steps, one by one, in the timeline. A service may also answer \
             otherwise behind a pause than before it: caches cool, idle connections are closed, and the first second \
             tells more of that than of the load."
        }
        Kind::BacklogGrew => {
            "More arrivals came than the service could answer, and the queue grew from the first second to the \
             last. Every percentile then tells how long the run was: twice as long, and the times are twice as \
             long.\n\n\
             Open model, a rate that the plan keeps level, six seconds or more. The median response times of the \
             seconds rise with a Kendall's tau of 0.7 or more, the last third's are 1.5 times those of the first \
             and 5 ms longer, and the requests in flight grew as well, or waited for a connection. A spike that \
             is over has no trend, and a ramp may have one.\n\n\
             Read the achieved rate as the capacity, and offer less than it to learn the response times."
        }
        Kind::UnsteadyStart => {
            "The first seconds had another level than the rest: code not compiled yet, empty caches and pools, \
             a scaler that had not scaled. The figures mix both, and a shorter or longer run mixes them \
             otherwise.\n\n\
             A level load of one request, six seconds or more. The seconds are cut in two where the sum of \
             distances from the two medians is least, the first part two seconds at least and half of the run \
             at most. The median response times of both parts differ by 20 % and by 0.5 ms, half of the \
             difference lies between the seconds that come nearest to each other, the mean times differ by 10 % \
             in the same direction, and the second part does not drift. In the closed model the mean time alone \
             may show it.\n\n\
             Leave the beginning out with `--warmup`; the advice says how long it was."
        }
        Kind::SynRetransmits => {
            "Attempts to connect got no answer and were made again by the kernel after whole seconds: 1 s, then 3 \
             s and 7 s in all (RFC 6298), or each second on newer Linux. Such a second is in the response time of \
             the request that waited. The usual cause is a listen queue that is too short for many clients at \
             once, then a path that loses packets.\n\n\
             Connection times that lie 1 to 7 whole seconds (and up to 0.25 s more) above the fastest: three at \
             least, 0.1 % of all, and 80 % of all that took half a second or longer; and the kernel counted as \
             many segments sent again. A server that is slow to accept does not delay a connection.\n\n\
             Raise the listen queue of the service (its backlog, `net.core.somaxconn`), begin with a ramp, keep \
             connections open."
        }
        Kind::ThunderingHerd => {
            "Every user opened its connection in the same instant. The listen backlog of most servers holds 128 to 511 \
             attempts (`net.core.somaxconn` caps it): what comes beyond is dropped, and a client tries again after 1, \
             3 and 7 s. Such times are made by the test's beginning, not by the load that follows.\n\n\
             100 users or more without a ramp (closed model), and attempts to connect were lost: the kernel sent SYNs \
             again, or a monitor counted overflows of a listen queue.\n\n\
             Let users come one after the other, or leave the beginning out with `--warmup`; where all do come at \
             once, a longer backlog is the answer."
        }
        Kind::ListenQueueOverflow => {
            "The queue of connections that the kernel has made and the server has not taken yet was full, and further \
             ones were dropped. Their clients tried again after a second or more, which is in the response times, or \
             gave up.\n\n\
             A monitor of the host counted ten overflows or drops or more while the load ran, warm-up \
             included. The host's counters are of the whole machine, not of one server.\n\n\
             Raise the backlog that the server asks for and `net.core.somaxconn`, which caps it; see that it accepts \
             connections while it works."
        }
        Kind::ProcessFdLimit => {
            "A process has as many sockets and files as its descriptor limit lets it have. At the limit a server can \
             accept no more connections: clients wait in its backlog, and it may log `too many open files`.\n\n\
             A monitor of a process saw 95 % of its limit or more in use, warm-up included.\n\n\
             Raise the limit where the process is started, or close what is not used."
        }
        Kind::CpuThrottled => {
            "A control group with a CPU quota gets its share in periods of 100 ms. When it is used up before the \
             period ends, everything in it stands still until the next: times of some tens of milliseconds that no \
             program made.\n\n\
             The group was held back in more than 5 % of its periods of the measured part.\n\n\
             Raise the quota, start fewer threads, or keep it and call the result what it is: the capacity of the \
             quota."
        }
        Kind::NetworkSaturated => {
            "Users had nothing to do but receive, bytes came at the same speed all the time, and segments got \
             lost as in front of a full link. The figures are the link's: two services with answers of \
             different sizes would differ by just that.\n\n\
             Closed model, users busy 80 % of the time and workers with room to spare. 75 % of the requests' \
             time lies behind the first byte, the bytes of each fifth of the run are within 3 % of the mean (or \
             within what is in flight, 10 % at most), and ten segments or more came out of order (TCP_INFO, \
             Linux 5.4). A link that queues without losing and a server that limits each connection look like a \
             server that makes its bodies slowly, so they are not named; neither is a link filled by answers of \
             one packet.\n\n\
             Use a faster link, test nearer to the service, make answers smaller, and compare bytes per second \
             before requests per second."
        }
        Kind::ConnectionsUnfair => {
            "A few connections were answered all the time and the others hardly ever. The percentiles count \
             answers, so they are those of the lucky ones: the median falls while the mean and the maximum rise.\n\n\
             Closed model, a fixed number of users with a connection each, none made again: eight connections and \
             five requests each on the average or more. Jain's index of the requests per connection is below 0.5; \
             it is about the share of connections that were served.\n\n\
             Look at what limits connections at the service: workers that hold one connection, a full accept \
             queue, a balancer."
        }
        Kind::ConnectionsNotReused => {
            "Connections were meant to stay open, and the server ended them after one or a few answers. Part of \
             what was measured is the making of connections.\n\n\
             The server closed ten or more and at least half of all, and they had served fewer than two requests \
             on the average, or making them took 10 % of the time (connecting and TLS handshake against service \
             times).\n\n\
             Raise the server's limit of requests per connection or its idle time; if it is meant so, say it with \
             `--no-keepalive`."
        }
        Kind::LowEphemeralPorts => {
            "Connections are closed at a rate that this machine cannot keep up for a minute. A short run ends \
             before the ports do and hides it.\n\n\
             Closed connections per second times 60 s (TIME_WAIT) are above 80 % of the local ports, times the \
             local addresses and the targets in use. It is an upper bound: a port is kept by whoever closes \
             first. Within one machine the kernel takes ports again after a second, so there it is a note.\n\n\
             Keep connections open, widen the range, add local addresses or machines."
        }
        Kind::CensoredByTimeouts => {
            "Requests were given up, and how long they would have taken nobody knows. Percentiles that reach into \
             them are lower bounds and are printed as such.\n\n\
             Every time-out counts with the time until it was given up, never as if it had not been.\n\n\
             Raise `--timeout` to see the real times."
        }
        Kind::CoordinatedOmission => {
            "In the closed model a stall of the service is a handful of long requests among very many short ones: \
             users wait and send nothing meanwhile (coordinated omission). The percentiles do not show it, clients \
             who come anyway would.\n\n\
             Silences in which all users of a worker waited (two users to a worker at least), each above ten medians \
             and 25 ms more than the median: the p99 of arrivals at random moments, by arithmetic, would be three \
             times the p99 that was measured. Requests that are slow one by one hide nothing, and raise nothing.\n\n\
             Use the open model, `-r RATE`."
        }
        Kind::ConnectionLimitReached => {
            "Arrivals came due while all connections were in use, and waited on this side. The wait is in the \
             response times, and is not the service's alone.\n\n\
             Arrivals that found no free connection are counted, those that never got one too.\n\n\
             Raise `--max-connections`, unless clients of the real service share as few connections."
        }
        Kind::LittlesLaw => {
            "The number of requests in flight, their rate and their time must fit (N = X R, Little 1961). Where \
             they do not, users were held up outside requests, or a clock or counter is wrong.\n\n\
             Users were outside requests for 10 % of their time beyond what connecting and pauses behind failures \
             explain; or the measured and the computed number in flight differ by 10 %.\n\n\
             In the first case use fewer users or more workers; in the second do not rely on the run."
        }
        Kind::ClientCpuSaturated => {
            "A worker had no time left. What waits for the worker is measured as if it waited for the service.\n\n\
             One worker was busy more than 90 % of the time; polling for a due instant is not counted as busy.\n\n\
             Use more workers, or several machines with `--shard`."
        }
        Kind::ClientCpuWait => {
            "A worker was ready to run and had no CPU: other programs or the service itself had it.\n\n\
             The kernel's own account of the thread: more than 10 % of the time.\n\n\
             Stop other programs on this machine, or use fewer workers than there are CPUs."
        }
        Kind::CpuSteal => {
            "The host gave the CPUs of this virtual machine to others. Times measured meanwhile include it.\n\n\
             Steal time above 5 % of all CPU time, by the kernel's count for the whole machine.\n\n\
             Run on a machine with CPUs of its own."
        }
        Kind::Retransmits => {
            "The kernel sent TCP segments again, because no acknowledgement came. Each costs 200 ms or more. The \
             network may have lost them; or they met a full listen queue, or a machine that had stopped. Loopback \
             loses nothing: where the target is on the load generator's machine, it is never the network.\n\n\
             The kernel's count of retransmitted segments, SYNs among them: ten at least, and 0.1 % of the \
             requests.\n\n\
             Compare with the counters on the other side (`nstat -az TcpExtListenDrops`, `ip -s link`). Whole seconds \
             at the start of connections are `syn_retransmits`."
        }
        Kind::StaleConnections => {
            "The server closed a reused connection in the instant in which a request was sent on it. Clients meet \
             the same. Where the connections had been idle, it is the server's idle timeout (a keep-alive race); \
             where they had been busy, it is a worker that ended, a restart, or a limit on requests.\n\n\
             A reused connection ended before the first byte of an answer, and requests succeeded in the same second \
             or the next: where none did, the service was gone, and nothing is said of idle connections. It is \
             called an idle timeout only where 9 of 10 of these connections had been idle for 10 ms or more.\n\n\
             Make the server keep idle connections longer than its clients do; or look in its log for what closes \
             connections in use."
        }
        Kind::UnexpectedBytes => {
            "Bytes came that belong to no answer. If they had come a moment later they would have been taken for \
             the beginning of the next one.\n\n\
             Bytes after the end that the response's own framing gives, on an idle connection, or before the request \
             was read. plimsoll closes the connection, and unless it is an empty line the response counts as \
             `unsafe_response`. A 408 on an idle connection is how many servers close it: it counts as a close.\n\n\
             Fix the server's lengths."
        }
        Kind::MeanAboveP95 => {
            "The mean is above p95: a few very long times make it up, and it is nobody's time.\n\n\
             Compared from 20 samples on. A report in which this holds and p99 looks harmless has usually \
             computed its percentiles over another part of the run than its mean; here both are of all samples.\n\n\
             Look at p99, the maximum and the timeline."
        }
        Kind::ResponseChanged => {
            "A request began to answer something else: an error page with status 200, an empty list, a fallback. \
             Its figures are those of two experiments.\n\n\
             The mean size of the last third differs from that of the first by 20 % and lies outside its range; \
             or the shape of the answers changed behind a third in which all were alike.\n\n\
             Find out what the service did then, add a check to the request, and run again."
        }
        Kind::RedirectsNotFollowed => {
            "Every response that counts as a success was a redirect (301, 302, 303, 307, 308), and plimsoll follows \
             redirects only if you ask for it. The figures are those of the redirects, not of the pages behind \
             them.\n\n\
             The status codes of all responses are counted: at least one redirect, and no other status from 200 to \
             399. There is no caution if redirects were followed, or if the plan expects them by a check on the status \
             or on `Location`.\n\n\
             Run with `--follow 3` (`redirects: 3` in a file), or load the address in `Location`. Redirects to another \
             host are never followed: load that host itself."
        }
        Kind::RowsNotWritten => {
            "Extracted values are missing in the file that was to take them.\n\n\
             Rows that could not be written are counted; one is enough.\n\n\
             Look at the file and its disk."
        }
        Kind::TooManySeries => {
            "A program asked for a series (requests or a metric under labels of their own) when the run held as many \
             as `open_series` allows, 10,000 by default. Its values were counted under the same name without labels, \
             so the totals of each metric are exact and the rows by label are not; where even that had no room they \
             were not counted.\n\n\
             Each time is counted; one is enough. Names and labels longer than 256 bytes are refused, too.\n\n\
             A label is for what has few values: a kind, a region. What differs with each user or order is data. Each \
             series takes memory on each worker that uses it."
        }
        Kind::ValuesRejected => {
            "Values that a program added to its metrics were left out: they were no numbers, or negative where only a \
             sum or a distribution from 0 on has a meaning.\n\n\
             They are counted; one is enough.\n\n\
             Look at what the program computes them from."
        }
        Kind::IterationsAbandoned => {
            "Iterations were left in the middle although their requests had succeeded: a value that they needed \
             was missing. The steps behind were not sent, so the mix is not the one that was planned.\n\n\
             More iterations were abandoned than requests failed.\n\n\
             The samples of the report show which value it was."
        }
        Kind::MergedTargetsDiffer => {
            "The merged runs are of different plans, and their sum is no experiment.\n\n\
             Target, load, requests, thresholds, connections, warm-up, time-outs, lengths and shares are \
             compared.\n\n\
             Compare such runs instead of adding them up."
        }
        Kind::MonitorFailed => {
            "A monitor brought nothing, or much less than one sample a second: what it should have shown is not \
             known, and a resource that it watched may have been the limit without anybody seeing it. The load ran \
             all the same.\n\n\
             No sample in the measured part, or more than 10 % of its seconds are missing.\n\n\
             The first reason that it gave stands beside its name."
        }
        Kind::MemoryGrowth => {
            "What a process holds grew until the end of the run. If it goes on like this, it ends with the memory of \
             the machine or the limit of its group.\n\n\
             At least 60 samples; the slope of the second half (Theil-Sen, with an interval that knows that seconds \
             are alike) is above zero for certain, floor and ceiling of the curve both rose, and it makes more than \
             5 % over the run. The teeth of a garbage collector, one spike, and a beginning that ends do not count.\n\n\
             Run longer: a leak goes on, a cache that fills does not."
        }
        Kind::SameMachine => {
            "Load generator and service share CPU, memory and the loopback, which has no link, no distance and no \
             loss.\n\n\
             The target's address belongs to this machine.\n\n\
             For figures that hold elsewhere load from another machine."
        }
        Kind::CertificateNotVerified => {
            "Everything went over TLS, but nobody knows with whom: with `-k` (`insecure: true`) a certificate of any \
             name and any authority is taken. A proxy in between, or another machine under the same name, would have \
             been measured just as well.\n\n\
             The plan says so; no number is needed.\n\n\
             For a self-signed certificate give its PEM with `--ca FILE` (`tls: { ca: FILE }`): then it is checked."
        }
        Kind::CensoredAtEnd => {
            "Requests were under way when the run ended. They are counted with the time they had had, which is a \
             lower bound.\n\n\
             More than 1 % of the samples, or enough to reach into a printed percentile.\n\n\
             Run longer: their share shrinks."
        }
        Kind::RttBound => {
            "A request took hardly longer than one round trip of its packets. The distance between client and \
             service was measured; users who wait for it make users / RTT requests a second however fast the \
             service is.\n\n\
             Closed model, users busy 80 % of the time: the median service time is at most 1.3 times the lowest \
             round trip that the kernel saw, and that is 1 ms or more.\n\n\
             Read nothing about the service out of the rate. Use more users or `-r RATE`, or load from nearby."
        }
        Kind::ShortRun => {
            "Single seconds differ: collectors, timers, neighbours. A few of them are no sample of a service.\n\n\
             Less than 10 s were measured.\n\n\
             Measure for at least 10 s, better a minute, and more than once."
        }
        Kind::DataExhausted => {
            "Users ended because their rows were used up, and the load was less from then on.\n\n\
             Users that ran out of data are counted; one is enough.\n\n\
             Give the feeder more rows, or let it begin again at its end."
        }
        Kind::StoppedEarly => {
            "The run did not reach its end: somebody stopped it, or a rule did.\n\n\
             What stopped it is in the record.\n\n\
             The figures hold for the part that ran."
        }
    }
}
