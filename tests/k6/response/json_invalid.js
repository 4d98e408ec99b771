// json() of what is not JSON throws.
import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/text`);
  try {
    r.json();
  } catch (e) {
    console.log(e instanceof Error);
  }
  http.get(`${__ENV.BASE}/text`).json('a');
}
