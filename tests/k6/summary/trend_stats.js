// Statistics of trends as an option.
import http from 'k6/http';

export const options = { summaryTrendStats: ['avg', 'p(99.99)', 'count', 'med'] };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
