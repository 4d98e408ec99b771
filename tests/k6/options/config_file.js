// A configuration file, which flags and the script replace.
// flags: --config lib/config.json
import http from 'k6/http';

export const options = { iterations: 3 };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
