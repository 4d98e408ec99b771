// Groups: names of nested groups, and thresholds on them.
import http from 'k6/http';
import { check, group } from 'k6';

export const options = {
  thresholds: {
    'http_reqs{group:::outer}': ['count==1'],
    'http_reqs{group:::outer::inner}': ['count==2'],
    'group_duration{group:::outer}': ['max<5000'],
    'checks{group:::outer::inner}': ['rate==1'],
  },
};

export default function () {
  const result = group('outer', () => {
    http.get(`${__ENV.BASE}/echo?n=1`);
    group('inner', function () {
      http.get(`${__ENV.BASE}/echo?n=2`);
      const response = http.get(`${__ENV.BASE}/echo?n=3`);
      check(response, { 'inner is 200': (r) => r.status === 200 });
    });
    check(null, { 'outer check': () => true });
    return 'returned';
  });
  check(result, { 'a group returns': (r) => r === 'returned' });
}
