// Tags under their older name, and values that are refused.
import exec from 'k6/execution';
import http from 'k6/http';

export const options = { thresholds: { 'http_reqs{old:x}': ['count==1'] } };

export default function () {
  exec.vu.tags.old = 'x';
  http.get(`${__ENV.BASE}/echo`);
  for (const value of [5, true, null, undefined, {}, []]) {
    try {
      exec.vu.tags.value = value;
      console.log('accepted', exec.vu.tags.value);
    } catch (e) {
      console.log('refused');
    }
  }
}
