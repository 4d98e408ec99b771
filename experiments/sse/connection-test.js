// The published load test of the event-stream server as a script of k6, with its flow: each user opens a stream as an
// ordinary request, asks the server from a timer to end it, and then counts the events in the body.
//
//   plimsoll k6 run experiments/sse/connection-test.js --vus 1200 --iterations 1200 --duration 5m \
//     --env BACKEND_URL=http://127.0.0.1:4501 --env NOOP_INTERVAL=1 --env SECONDS=65
import http from 'k6/http';
import { setTimeout } from 'k6/experimental/timers';
import { check } from 'k6';
import { uuidv4 } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';

export const options = { vus: 10, iterations: 10, duration: '60m' };

const { BACKEND_URL: base, NOOP_INTERVAL: interval_s, SECONDS: length_s } = __ENV;
const open_s = length_s - 5;

export default async function () {
  const id = (__ENV.PREFIX || '') + uuidv4();
  const tags = { deviceId: id };
  setTimeout(() => {
    const end = http.del(`${base}/event/forcedisconnect?id=${id}`);
    check(end, { 'Delete status was 200': (r) => r.status === 200 }, tags);
  }, open_s * 1000);
  const stream = await http.asyncRequest('GET', `${base}/event/connect?id=${id}`, null, {
    timeout: `${length_s}s`,
  });
  const expected = Math.floor(open_s / interval_s);
  check(stream, {
    'Get status was 200': (r) => r.status === 200,
    'Received all messages': (r) => {
      const received = r.body.split('\n\n').filter((event) => event.includes('data: 0')).length;
      return Math.abs(expected - received) < 2;
    },
  }, tags);
}
