// Sub-metrics by url and name.
// differs: exit url-tag
// differs: checks url-tag
// differs: metrics url-tag
// differs: keys url-tag
// differs: requests url-tag
// differs: thresholds url-tag
import http from 'k6/http';

export const options = {
  thresholds: { [`http_reqs{url:${__ENV.BASE}/echo}`]: ['count==1'], [`http_reqs{name:${__ENV.BASE}/text}`]: ['count==2'] },
};

export default function () {
  http.get(`${__ENV.BASE}/echo`);
  http.get(`${__ENV.BASE}/text`);
  http.get(`${__ENV.BASE}/text`);
}
