// Variables of k6 instead of flags.
// variables: K6_VUS=2 K6_ITERATIONS=4
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
