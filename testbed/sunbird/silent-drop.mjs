// A balancer that forgets: it hands TCP on, and a connection that was idle for too long is dropped without a word to
// either side, as IPVS does after 15 minutes. What is sent on it afterwards is taken and goes nowhere.
// FORWARD is a list such as `4370 4365 10000; 4371 4365 300`: port, port behind, idle time in ms.
import { connect, createServer } from "node:net";

function forward(port, behind, idleMs) {
  const server = createServer((near) => {
    const far = connect({ host: "127.0.0.1", port: behind });
    let forgotten = false;
    let timer;
    const touched = () => {
      clearTimeout(timer);
      timer = setTimeout(() => (forgotten = true), idleMs);
    };
    const hand = (from, to) => {
      from.on("data", (bytes) => {
        if (forgotten) return;
        touched();
        if (!to.write(bytes)) {
          from.pause();
          to.once("drain", () => from.resume());
        }
      });
      // When one side gives up, both sockets go: a lab must not collect them for ever.
      from.on("close", () => {
        clearTimeout(timer);
        to.destroy();
      });
      from.on("error", () => to.destroy());
    };
    near.setNoDelay(true);
    far.setNoDelay(true);
    hand(near, far);
    hand(far, near);
    touched();
  });
  server.listen({ port, host: "127.0.0.1", backlog: 4096 });
}

for (const entry of (process.env.FORWARD ?? "").split(";")) {
  const [port, behind, idleMs] = entry.trim().split(/\s+/).map(Number);
  forward(port, behind, idleMs);
}
process.on("SIGTERM", () => process.exit(0));
