// Next calls this once per server process, before the first request: event loop lag is measured from the start.
export async function register() {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    const { collectDefaultMetrics } = await import("prom-client");
    collectDefaultMetrics();
  }
}
