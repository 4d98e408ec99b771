// Thresholds on metrics without samples are met.
export const options = {
  thresholds: { http_req_duration: ['p(95)<1'], http_req_failed: ['rate<0.01'], checks: ['rate>0.99'] },
};

export default function () {}
