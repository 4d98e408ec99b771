//! The explanation of each caution: `plimsoll explain CODE` prints it; `docs/explanation/cautions.md` consists of it.
//!
//! Three paragraphs each: what it means, how it is detected, what to do. The numbers are the defaults of
//! [`super::CautionLimits`].

use super::Kind;

/// Returns the explanation of one kind, without its title. The match is exhaustive, so a new row without an explanation
/// does not compile.
pub(super) const fn text(kind: Kind) -> &'static str {
    match kind {
        Kind::ClientFdLimit => {
            "Connections could not be opened because the load generator reached its limit of open files. The \
             users or arrivals that needed these connections sent nothing, so the service received less load than \
             planned and refused none of it.\n\n\
             Each connection attempt that fails with EMFILE or ENFILE counts as a fault of the load generator, \
             never as an error of the service, including during the warm-up. One is enough.\n\n\
             Raise the hard limit; plimsoll raises the soft limit to it. If runs with different numbers of \
             connections all stop at the same number in flight, they reached this limit."
        }
        Kind::ClientPortsExhausted => {
            "Each connection needs a local port, and none was free. A TCP connection that the load generator \
             closes keeps its port for a minute (TIME_WAIT), so 28,232 ports last for 470 connections per second.\n\n\
             Each attempt that fails with EADDRNOTAVAIL counts as a fault of the load generator. One is enough. \
             `low_ephemeral_ports` is the earlier warning.\n\n\
             Keep connections open, widen the port range, add local addresses, or split the load between several \
             load generators."
        }
        Kind::ClientOutOfMemory => {
            "The load generator ran out of memory: either the kernel for a socket or its buffers, or the process \
             for a response body that a check reads.\n\n\
             Each attempt that fails with ENOBUFS or ENOMEM counts as a fault of the load generator, and so does \
             each response whose body exceeds `kept_total_bytes`. One is enough.\n\n\
             Use fewer connections, smaller bodies, or several load generators with `--shard`."
        }
        Kind::ClientSendRefused => {
            "The load generator's own kernel refused to connect or to send. Typical reasons are a firewall for \
             outgoing packets, a sandbox, or a routing rule.\n\n\
             Each attempt that fails with EPERM, EACCES, or another refusal of the local kernel counts as a fault \
             of the load generator. One is enough.\n\n\
             Check the firewall and routing rules of the load generator, not the service."
        }
        Kind::ClientLimit => {
            "A limit of the load generator was too small for a response: a check needed more of a body than \
             `kept_body_bytes` keeps, or the plan lowered a limit (such as `head_bytes`) below its default. That \
             says nothing about the service.\n\n\
             Each such response counts as a fault of the load generator, never as an error of the server. One is \
             enough. A response that exceeds a default limit is a fault of the server: `unsafe_response`.\n\n\
             The failure examples name the limit; raise it with `--limit NAME=VALUE`."
        }
        Kind::OriginRefused => {
            "A script may compute URLs while it runs, so plimsoll checks each new origin during the run: a public \
             address requires permission, cloud metadata services are never loaded, and a run has at most 256 \
             origins.\n\n\
             Each request to an origin that is refused counts as a fault of the load generator. One is enough.\n\n\
             Add `--allow HOST` for hosts that you own or may load, or change the URLs of the script."
        }
        Kind::InvalidRequest => {
            "A script or a test plan may compute URLs, methods, and headers while it runs. If the result cannot \
             be sent as HTTP, or the script blocks the host itself (`blockHostnames` of k6), the request fails \
             without being sent.\n\n\
             Each such request counts as a fault of the load generator, because the service never saw it. One is \
             enough.\n\n\
             The messages of the run name the request and what is wrong with it."
        }
        Kind::ClientStalled => {
            "The load generator was stopped, or had no CPU, for long periods. During a stall, plimsoll neither \
             sends nor reads, so the service itself appears to stall.\n\n\
             A worker reads the clock each time it wakes. A step of more than 100 ms that no sleep explains is a \
             stall. The caution is raised if stalls take more than 1% of the workers' time.\n\n\
             Find the reason (a suspended process, a hypervisor that took the CPU, swapping), and rerun."
        }
        Kind::IncompleteRecord => {
            "The record lacks a part of the run: it was interrupted, a worker panicked, the disk was full, a shard is \
             missing from the merged runs, or an agent was lost.\n\n\
             The seconds, the end, and the shards in the plan are compared with those in the record. If only the \
             rows of some seconds are missing and the totals are complete, it is a warning. If an agent was lost, the \
             load was not the planned one, so the whole result is inconclusive.\n\n\
             The results apply to the recorded part only. Rerun to measure the whole."
        }
        Kind::NoRequests => {
            "No request completed in the measured part, so there are no results to judge.\n\n\
             Completed requests and opened streams after the warm-up are counted; there were none.\n\n\
             Try one request manually (`curl -v URL`). If it succeeds, run longer than one response takes."
        }
        Kind::OfferedRateMissed => {
            "The open model plans a number of arrivals, and more than 1% of them were never sent. The service was \
             tested at a lower rate than planned.\n\n\
             The planned number is the integral of the planned rate, minus what chance and rounding explain. \
             Arrivals that waited for a connection while a worker had no CPU left count as missing. Arrivals that \
             the service delayed do not.\n\n\
             Use more workers, a lower rate, or several load generators."
        }
        Kind::LateSends => {
            "Requests were sent late, and the delay is a significant part of the response times. The load \
             generator caused it.\n\n\
             The p99 of schedule lag (the send minus the intended start time, or the time from which a connection \
             was free) is above 1 ms and above 10% of the response p99.\n\n\
             Free CPU on the load generator, move the target to another machine, or lower the rate."
        }
        Kind::TooFewSamples => {
            "A percentile is an order statistic: the p99 of 1,000 samples is the tenth from the top. With fewer \
             samples it is close to the maximum and differs from run to run.\n\n\
             A percentile requires 10 / (1 - p) samples. If a threshold names the percentile, the caution affects \
             the verdict; otherwise it is a note.\n\n\
             Run longer, or use a lower percentile."
        }
        Kind::MergedRunsNotConcurrent => {
            "The merged load generators did not run at the same time, so the sum of their rates was never the \
             load at any moment.\n\n\
             According to their clocks, the runs overlap for less than 90% of the longest one.\n\n\
             Start them together. To relate runs at different times, compare them instead of merging them."
        }
        Kind::LoadChangedManually => {
            "During the run, a user of the console paused the load or changed its level. The offered load differs \
             from the plan, and rates over the whole run include seconds without load. A stall during a pause is \
             not a stall of the service.\n\n\
             Each change is an event in the timeline. Arrivals during a pause are neither offered nor missed: \
             `achieved` compares with the load that was offered, and the planned number of arrivals is not \
             required. Seconds of a pause are not spikes, and the run is not checked for a growing backlog or an \
             unsteady start.\n\n\
             Read the periods between the changes one by one in the timeline. After a pause, a service may \
             respond differently than before it: caches are cold and idle connections are closed, so the first \
             second shows that rather than the load."
        }
        Kind::BacklogGrew => {
            "Arrivals exceeded what the service could complete, and the queue grew from the first second to the \
             last. Every percentile then depends on the length of the run: twice the length, twice the response \
             time.\n\n\
             Open model, at a constant rate, for at least 6 s. The medians of the seconds rise with a Kendall's \
             tau of at least 0.7; the median of the last third is at least 1.5 times that of the first third and \
             at least 5 ms longer; and the requests in flight grew as well, or arrivals waited for a connection. \
             A spike that has ended has no trend, and a ramp is allowed to have one.\n\n\
             Read the achieved rate as the capacity, and measure response times at a lower rate."
        }
        Kind::UnsteadyStart => {
            "The first seconds differ from the rest, for example because code was not compiled yet, caches and \
             pools were empty, or an autoscaler had not reacted. The results mix both parts, and a run of another \
             length mixes them differently.\n\n\
             A constant load with one kind of request, for at least 6 s. The run is split where the sum of \
             distances from the two medians is smallest; the first part has at least 2 s and at most half of the \
             run. The medians of both parts differ by at least 20% and 0.5 ms, half of the difference remains \
             between the closest seconds of both parts, the means differ by at least 10% in the same direction, \
             and the second part has no drift. In the closed model, the mean alone is sufficient.\n\n\
             Exclude the start with `--warmup`; the advice names its length."
        }
        Kind::SynRetransmits => {
            "Connection attempts got no reply, and the kernel retried them after whole seconds: after 1 s, then 3 \
             s and 7 s in total (RFC 6298), or every second on newer Linux. This time is part of the response \
             time of the request that waited. The usual cause is a listen queue that is too short for many \
             clients at once; another cause is packet loss.\n\n\
             At least three connection times are 1–7 whole seconds (plus up to 0.25 s) above the fastest; they \
             are at least 0.1% of all, and at least 80% of those that took half a second or longer; and the \
             kernel counted as many retransmitted segments. A server that is slow to accept does not delay the \
             connection itself.\n\n\
             Raise the listen queue of the service (its backlog and `net.core.somaxconn`), start with a ramp, or \
             keep connections open."
        }
        Kind::ThunderingHerd => {
            "All users opened their connections at the same time (thundering herd). The listen backlog of most \
             servers is 128–511 connections (`net.core.somaxconn` limits it). The kernel drops attempts beyond \
             it, and clients retry after 1, 3, and 7 s. The start of the test caused these times, not the load \
             that follows.\n\n\
             At least 100 users without a ramp (closed model), and lost connection attempts: the kernel \
             retransmitted SYNs, or a monitor counted overflows of a listen queue.\n\n\
             Add a ramp, or exclude the start with `--warmup`. If real clients also arrive at once, raise the \
             backlog."
        }
        Kind::ListenQueueOverflow => {
            "The queue of connections that the kernel had established and the server had not accepted was full, \
             so the kernel dropped further ones. Their clients retried after a second or more, which is part of \
             the response times, or failed.\n\n\
             A monitor of the host counted at least ten overflows or drops during the load, including the \
             warm-up. These counters cover the whole host, not one server.\n\n\
             Raise the backlog that the server requests, and `net.core.somaxconn`, which limits it. Check that \
             the server accepts connections while it is busy."
        }
        Kind::ProcessFdLimit => {
            "A process has nearly as many open files and sockets as its limit allows. At the limit, a server \
             cannot accept connections: clients wait in its backlog, and the server may log `too many open \
             files`.\n\n\
             A monitor of a process saw at least 95% of its limit in use, including during the warm-up.\n\n\
             Raise the limit where the process is started, or close unused files and sockets."
        }
        Kind::CpuThrottled => {
            "A control group with a CPU quota gets its share in periods of 100 ms. Once the share is used up, \
             every process in the group stalls until the next period. These delays of some tens of milliseconds \
             are not caused by the program.\n\n\
             The kernel throttled the group in more than 5% of its periods in the measured part.\n\n\
             Raise the quota, or start fewer threads. Otherwise, read the result as the capacity at this quota."
        }
        Kind::NetworkSaturated => {
            "Users did nothing but receive, bytes arrived at a constant rate, and segments were lost as on a full \
             link. The link determines the results: two services with responses of different sizes would differ \
             by their sizes.\n\n\
             Closed model, users busy for at least 80% of the time, and workers with spare CPU. At least 75% of \
             the time of a request follows the first byte; the bytes of each fifth of the run are within 3% of \
             the mean (or within the bytes in flight, at most 10%); and at least ten segments arrived out of \
             order (TCP_INFO, Linux 5.4). A link that queues without loss, and a server that limits each \
             connection, look like a server that creates bodies slowly, so they are not reported. Neither is a \
             link that responses of one packet fill.\n\n\
             Use a faster link, run the load generator closer to the service, reduce the size of responses, and \
             compare bytes per second before requests per second."
        }
        Kind::ConnectionsUnfair => {
            "A few connections were served all the time, and the others hardly ever. Percentiles count responses, \
             so they describe the fast connections: the median falls while the mean and the maximum rise.\n\n\
             Closed model, a fixed number of users with one connection each, no reconnects, at least eight \
             connections, and at least five requests per connection on average. Jain's index of the requests per \
             connection is below 0.5; it corresponds to the share of connections that were served.\n\n\
             Check what limits connections in the service: workers that serve one connection each, a full accept \
             queue, or a load balancer."
        }
        Kind::ConnectionsNotReused => {
            "Connections should have stayed open, but the server closed them after one or a few responses. Part \
             of the measured time is connection setup.\n\n\
             The server closed at least ten connections and at least half of all, and they served fewer than two \
             requests on average, or setup (connect and TLS handshake, compared with service times) took at least \
             10% of the time.\n\n\
             Raise the server's limit of requests per connection, or its idle timeout. If this is intended, use \
             `--no-keepalive`."
        }
        Kind::LowEphemeralPorts => {
            "At this rate of closed connections, the local ports last for less than a minute. A short run ends \
             before the ports run out and hides this.\n\n\
             Closed connections per second × 60 s (TIME_WAIT) exceed 80% of the local ports × local addresses × \
             targets in use. This is an upper bound, because the side that closes first keeps the port. On \
             loopback the kernel reuses ports after a second, so there it is a note.\n\n\
             Keep connections open, widen the port range, or add local addresses or load generators."
        }
        Kind::CensoredByTimeouts => {
            "Requests timed out, so their true response times are unknown. Percentiles among them are lower \
             bounds and are printed with `≥`.\n\n\
             Each timeout counts with the time until it occurred; none is left out.\n\n\
             Raise `--timeout` to measure the real times."
        }
        Kind::CoordinatedOmission => {
            "In the closed model, a stall of the service becomes a handful of long requests among many short \
             ones, because users wait and send nothing in the meantime (coordinated omission). Percentiles hide \
             the stall, but clients that arrive independently would experience it.\n\n\
             Silences in which all users of a worker (at least two) waited, each longer than ten medians and at \
             least 25 ms above the median. The computed p99 of arrivals at random times is at least three times \
             the measured p99. Single slow requests hide nothing and raise no caution.\n\n\
             Use the open model, `-r RATE`."
        }
        Kind::ConnectionLimitReached => {
            "Arrivals were due while all connections were in use, and waited in the load generator. The wait is \
             part of the response times, and the service is not its only cause.\n\n\
             Arrivals that found no free connection are counted, including those that never got one.\n\n\
             Raise `--max-connections`, unless the clients of the real service share as few connections."
        }
        Kind::RequestsUnprocessed => {
            "The server closed HTTP/2 connections while requests on them were in flight, and said that it had not \
             processed those (GOAWAY), or it refused their streams (REFUSED_STREAM). The load generator sent each \
             again once, on another connection, as browsers do. The requests succeeded, but their response times \
             include both attempts.\n\n\
             At least 1% of the requests were retried.\n\n\
             Many servers close a connection after a number of requests (nginx: `keepalive_requests`, 1,000 by \
             default): raise it, or use fewer streams on a connection."
        }
        Kind::StreamLimitReached => {
            "HTTP/2 servers limit the streams that may be open on a connection at once \
             (SETTINGS_MAX_CONCURRENT_STREAMS). The plan has more users on each connection, so requests waited in \
             the load generator for a stream. The wait is part of the response times.\n\n\
             At least 1% of the requests waited although the plan's own number of streams would have let them \
             start.\n\n\
             Use fewer streams on more connections, or raise the server's limit."
        }
        Kind::LittlesLaw => {
            "The number of requests in flight, their rate, and their time must match (N = X R, Little 1961). If \
             they do not, users were delayed outside of requests, or a clock or a counter is wrong.\n\n\
             Users spent at least 10% of their time outside of requests, beyond what connecting and pauses after \
             failures explain; or the measured and the computed number in flight differ by at least 10%.\n\n\
             In the first case, use fewer users or more workers. In the second case, do not rely on the run."
        }
        Kind::ClientCpuSaturated => {
            "A worker of the load generator was saturated. Time spent waiting for this worker appears as time of \
             the service.\n\n\
             One worker was busy for more than 90% of the time. Busy-polling before an intended start time does \
             not count.\n\n\
             Use more workers, or several load generators with `--shard`."
        }
        Kind::ClientCpuWait => {
            "A worker of the load generator was ready to run but had no CPU, because other programs or the \
             service used it.\n\n\
             According to the kernel's accounting of the thread, it waited for a CPU for more than 10% of the \
             time.\n\n\
             Stop other programs on the load generator, or use fewer workers than CPUs."
        }
        Kind::CpuSteal => {
            "The hypervisor gave the CPUs of this virtual machine to others. Measured times include these delays.\n\n\
             Steal time is above 5% of all CPU time of the machine.\n\n\
             Run on a machine with dedicated CPUs."
        }
        Kind::Retransmits => {
            "The kernel retransmitted TCP segments because no acknowledgment arrived. Each retransmission costs \
             at least 200 ms. The segments may have been lost in the network, or reached a full listen queue or a \
             stalled machine. Loopback loses nothing, so the network is never the cause if the target is on the \
             load generator's machine.\n\n\
             The kernel's count of retransmitted segments, including SYNs, is at least ten and at least 0.1% of \
             the requests.\n\n\
             Compare with the counters of the server (`nstat -az TcpExtListenDrops`, `ip -s link`). \
             `syn_retransmits` covers delays of whole seconds when connections are opened."
        }
        Kind::StaleConnections => {
            "The server closed a reused connection at the moment when a request was sent on it. Real clients \
             experience the same. If the connections had been idle, the cause is the server's idle timeout (a \
             keep-alive race). If they had been busy, the cause is a worker that ended, a restart, or a limit on \
             requests.\n\n\
             A reused connection ended before the first byte of a response, while requests succeeded in the same \
             second or the next. If none succeeded, the service was down, and no idle timeout is reported. The \
             caution names an idle timeout only if at least 9 of 10 of these connections had been idle for at \
             least 10 ms.\n\n\
             Set the server's idle timeout above that of its clients, or check its log for the reason why it \
             closes connections in use."
        }
        Kind::UnexpectedBytes => {
            "Bytes arrived that belong to no response. Had they arrived a moment later, they would have been read \
             as the start of the next one.\n\n\
             Bytes arrived after the end that the response's framing defines, on an idle connection, or before \
             the server had read the request. plimsoll closes the connection, and unless the bytes are an empty \
             line, the response counts as `unsafe_response`. A 408 on an idle connection counts as a close, \
             because many servers close idle connections that way.\n\n\
             Fix the response lengths that the server sends."
        }
        Kind::MeanAboveP95 => {
            "The mean is above p95: a few very long response times determine it, and no typical request takes \
             that long.\n\n\
             Compared from 20 samples up. If another tool reports this with a harmless p99, it probably computed \
             percentiles and mean over different parts of the run. Here, both use all samples.\n\n\
             Check p99, the maximum, and the timeline."
        }
        Kind::ResponseChanged => {
            "The responses of a request changed during the run, for example to an error page with status 200, an \
             empty list, or a fallback. Its results mix two experiments.\n\n\
             The mean size in the last third differs from the first third by at least 20% and is outside of its \
             range; or the shape of the responses changed after a third in which all had the same shape.\n\n\
             Find out what the service did at that time, add a check to the request, and rerun."
        }
        Kind::RedirectsNotFollowed => {
            "All successful responses were redirects (301, 302, 303, 307, 308), and plimsoll follows redirects \
             only if you request it. The results describe the redirects, not the pages that they lead to.\n\n\
             The status codes of all responses include at least one redirect and no other status from 200 to 399. \
             There is no caution if redirects were followed, or if the plan expects them by a check on the status \
             or on `Location`.\n\n\
             Run with `--follow 3` (`redirects: 3` in a file), or load the URL in `Location`. plimsoll never \
             follows redirects to another host: load that host directly."
        }
        Kind::RowsNotWritten => {
            "Extracted values are missing from the output file.\n\n\
             Rows that could not be written are counted. One is enough.\n\n\
             Check the file and its disk."
        }
        Kind::TooManySeries => {
            "A program requested a series (requests, or a metric with its own labels) when the run already had as \
             many as `open_series` allows, 10,000 by default. Its values were counted under the same name without \
             labels, so the totals of each metric are exact, but the rows by label are not. If that was \
             impossible as well, the values were not counted.\n\n\
             Each such request is counted. One is enough. Names and labels longer than 256 bytes are rejected, \
             too.\n\n\
             Use labels for properties with few values, such as a kind or a region, not for properties that \
             differ for each user or order. Each series uses memory on each worker."
        }
        Kind::ValuesRejected => {
            "Values that a program added to its metrics were rejected: they were not numbers, or were negative \
             where only a sum or a distribution from 0 up is meaningful.\n\n\
             Rejected values are counted. One is enough.\n\n\
             Check how the program computes them."
        }
        Kind::EventStreamsAsResponses => {
            "A script requested event streams as ordinary responses. Such a response is complete when its stream \
             ends, so its response time is how long the stream was open, and every percentile of it describes the \
             plan. Late, missing, and duplicate events are invisible, and a pass says only that the streams ended \
             without a failure.\n\n\
             Responses with `Content-Type: text/event-stream` are counted. One is enough.\n\n\
             Open the streams with `open()` of `k6/x/sse`, or write them as steps with `stream`. Thresholds on \
             `event_gap` and `stream_head` then judge the service."
        }
        Kind::IterationsAbandoned => {
            "Iterations were abandoned although their requests succeeded, because a value that they needed was \
             missing. Their remaining steps were not sent, so the mix of requests differs from the plan.\n\n\
             More iterations were abandoned than requests failed.\n\n\
             The failure examples in the report show which value was missing."
        }
        Kind::MergedTargetsDiffer => {
            "The merged runs have different plans, so their sum is not an experiment.\n\n\
             Target, load, requests, thresholds, connections, warm-up, timeouts, durations, and shards are \
             compared.\n\n\
             Compare such runs instead of merging them."
        }
        Kind::MonitorFailed => {
            "A monitor returned no data, or much less than one sample per second. What it should have shown is \
             unknown, and the monitored resource may have been the bottleneck. The load was not affected.\n\n\
             There is no sample in the measured part, or more than 10% of its seconds have none.\n\n\
             The report shows the first reason next to the monitor's name."
        }
        Kind::MemoryGrowth => {
            "The memory of a process grew until the end of the run. If it continues to grow, it will reach the \
             memory of the machine or the limit of its control group.\n\n\
             There are at least 60 samples; the slope of the second half (Theil-Sen, with an interval that \
             accounts for autocorrelation) is significantly above zero; the minimum and the maximum of the curve \
             both rose; and the growth exceeds 5% over the run. The sawtooth of a garbage collector, a single \
             spike, and a start that levels off do not count.\n\n\
             Run longer: a leak continues, but a cache that fills up does not."
        }
        Kind::SameMachine => {
            "The load generator and the service share CPU, memory, and the loopback interface, which has no \
             bandwidth limit, no distance, and no loss.\n\n\
             The target's address belongs to the load generator's machine.\n\n\
             For results that hold elsewhere, run the load generator on another machine."
        }
        Kind::CertificateNotVerified => {
            "The connections used TLS, but the identity of the server was not verified: with `-k` (`insecure: \
             true`), plimsoll accepts a certificate of any name and any authority. A proxy in between, or another \
             machine with the same name, would have been measured just as well.\n\n\
             The plan disables verification; no measurement is needed.\n\n\
             For a self-signed certificate, pass its PEM with `--ca FILE` (`tls: { ca: FILE }`), which verifies \
             it."
        }
        Kind::CensoredAtEnd => {
            "Requests were in flight when the run ended. They count with the time up to the end, which is a lower \
             bound.\n\n\
             They are more than 1% of the samples, or enough to affect a printed percentile.\n\n\
             Run longer, so that their share shrinks."
        }
        Kind::RttBound => {
            "A request took hardly longer than one network round trip, so the results measure the distance \
             between the load generator and the service. Users who wait for responses send users / RTT requests \
             per second, no matter how fast the service is.\n\n\
             Closed model, users busy for at least 80% of the time. The median service time is at most 1.3 times \
             the lowest round trip time that the kernel measured, and that is at least 1 ms.\n\n\
             Draw no conclusion about the service from this rate. Use more users or `-r RATE`, or run the load \
             generator closer to the service."
        }
        Kind::ShortRun => {
            "Results vary between seconds because of garbage collection, timers, and other processes. A few \
             seconds are not representative of a service.\n\n\
             Less than 10 s were measured.\n\n\
             Measure for at least 10 s, ideally 60 s, and more than once."
        }
        Kind::DataExhausted => {
            "Users stopped because their data had no rows left, so the load was lower afterwards.\n\n\
             Users that ran out of data are counted. One is enough.\n\n\
             Add rows to the data file, or let it start over at its end."
        }
        Kind::StoppedEarly => {
            "The run was stopped before its end, by a user or by a rule.\n\n\
             The record contains the reason.\n\n\
             The results apply to the part that ran."
        }
    }
}
