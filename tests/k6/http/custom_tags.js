// Own tags of requests, and thresholds on them.
import http from 'k6/http';

export const options = {
  thresholds: {
    'http_reqs{kind:a}': ['count==2'],
    'http_reqs{kind:b}': ['count==1'],
    'http_reqs{kind:a,part:x}': ['count==1'],
    'http_reqs{kind:none}': ['count==0'],
  },
};

export default function () {
  http.get(`${__ENV.BASE}/echo`, { tags: { kind: 'a', part: 'x' } });
  http.get(`${__ENV.BASE}/echo`, { tags: { kind: 'a', part: 'y' } });
  http.get(`${__ENV.BASE}/echo`, { tags: { kind: 'b' } });
}
