// A failed request of a batch does not end it.
// differs: exit failed-requests
// order: any
import http from 'k6/http';

export default function () {
  const responses = http.batch([`${__ENV.BASE}/close`, `${__ENV.BASE}/status/200`, 'http://127.0.0.1:1/']);
  console.log(responses.map((r) => r.status).join(), responses[2].error_code);
}
