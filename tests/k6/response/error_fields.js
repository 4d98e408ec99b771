// What a response has when there was none.
// differs: exit failed-requests
// differs: metrics no-duration
// differs: keys no-duration
// differs: console getters
import http from 'k6/http';

export default function () {
  const r = http.get('http://127.0.0.1:1/a?b=c');
  console.log(Object.keys(r).sort().join());
  console.log(r.status, r.status_text, r.url, r.body, JSON.stringify(r.headers), JSON.stringify(r.cookies));
  console.log(r.request.method, r.request.url, r.timings.duration, r.remote_ip, r.remote_port, r.proto);
  try {
    r.json();
  } catch (e) {
    console.log('exception');
  }
}
