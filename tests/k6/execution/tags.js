// Tags of a user apply to what follows.
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const counter = new Counter('counted');
export const options = {
  thresholds: { 'http_reqs{mine:1}': ['count==1'], 'counted{mine:1}': ['count==5'], 'http_reqs{mine:2}': ['count==1'] },
};

export default function () {
  http.get(`${__ENV.BASE}/echo?n=0`);
  exec.vu.metrics.tags.mine = '1';
  http.get(`${__ENV.BASE}/echo?n=1`);
  counter.add(5);
  exec.vu.metrics.tags['mine'] = 2;
  http.get(`${__ENV.BASE}/echo?n=2`);
  delete exec.vu.metrics.tags.mine;
  http.get(`${__ENV.BASE}/echo?n=3`);
  console.log(exec.vu.metrics.tags.scenario, exec.vu.metrics.tags.group);
}
