package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	streams = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "sse_streams", Help: "Streams that are open.",
	})
	eventsSent = promauto.NewCounter(prometheus.CounterOpts{
		Name: "sse_events_sent_total", Help: "Events handed to the kernel.",
	})
	writeErrors = promauto.NewCounter(prometheus.CounterOpts{
		Name: "sse_write_errors_total", Help: "Events that could not be written.",
	})
	clientsCut = promauto.NewCounter(prometheus.CounterOpts{
		Name: "sse_clients_cut_total", Help: "Clients cut off because their queue was full.",
	})
	roundsSkipped = promauto.NewCounter(prometheus.CounterOpts{
		Name: "sse_rounds_skipped_total", Help: "Rounds that came due while an earlier one still ran.",
	})
	fanOutTime = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "sse_fan_out_seconds", Help: "Time of one round, the wait for the lock included.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
	})
)
