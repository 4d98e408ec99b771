// With `throw`, a failed request is an exception.
// differs: exit failed-requests
// differs: errors sentences
import http from 'k6/http';

export const options = { throw: true };

export default function () {
  try {
    http.get('http://127.0.0.1:1/');
    console.log('no exception');
  } catch (e) {
    console.log('exception', e instanceof Error, typeof e.message);
  }
  http.get(`${__ENV.BASE}/status/500`);
  http.get('http://127.0.0.1:1/');
  http.get(`${__ENV.BASE}/never`);
}
