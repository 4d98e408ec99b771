// All aggregators, all met.
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const [c, g, r, t] = [new Counter('cc'), new Gauge('gg'), new Rate('rr'), new Trend('tt')];
export const options = {
  vus: 1,
  iterations: 5,
  thresholds: {
    http_req_duration: ['avg<5000', 'min>0', 'med<5000', 'max<9000', 'p(90)<5000', 'p(95) < 5000'],
    http_req_failed: ['rate<0.1', 'rate===0'],
    http_reqs: ['count==5', 'count>=5', 'count<=5', 'rate>0', 'count!=6'],
    http_req_waiting: ['p(95)<5000'],
    http_req_receiving: ['avg<5000'],
    iterations: ['count==5'],
    iteration_duration: ['max<9000'],
    checks: ['rate==1'],
    data_received: ['count>100'],
    data_sent: ['count>100', 'rate>0'],
    cc: ['count==10'],
    gg: ['value==4'],
    rr: ['rate>0.5'],
    tt: ['avg==2', 'p(50)==2'],
  },
};

export default function () {
  check(http.get(`${__ENV.BASE}/echo`), { ok: (res) => res.status === 200 });
  c.add(2);
  g.add(__ITER);
  r.add(__ITER > 0);
  t.add(__ITER);
}
