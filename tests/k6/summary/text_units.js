// The unit of times in the text.
// text: compared
// flags: --summary-time-unit=us --summary-trend-stats=avg,p(99),count
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
