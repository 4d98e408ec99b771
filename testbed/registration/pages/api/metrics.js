// Prometheus text of the process: CPU, memory, event loop lag, garbage collection, and the two queues of the users
// route.
import { register } from "prom-client";

export default async function metrics(_request, response) {
  response.setHeader("Content-Type", register.contentType);
  response.status(200).send(await register.metrics());
}
