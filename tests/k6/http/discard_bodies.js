// Bodies are discarded unless a request asks for them.
import http from 'k6/http';

export const options = { discardResponseBodies: true };

export default function () {
  console.log(http.get(`${__ENV.BASE}/text`).body);
  console.log(http.get(`${__ENV.BASE}/text`, { responseType: 'text' }).body);
  console.log(http.get(`${__ENV.BASE}/text`, { responseType: 'none' }).body);
  try {
    http.get(`${__ENV.BASE}/json`).json();
    console.log('no exception');
  } catch (e) {
    console.log('exception');
  }
}
