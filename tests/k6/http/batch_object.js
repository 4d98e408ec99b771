// A batch of an object has its keys in the result.
// order: any
import http from 'k6/http';

export default function () {
  const responses = http.batch({
    first: `${__ENV.BASE}/status/201`,
    second: { method: 'GET', url: `${__ENV.BASE}/status/202` },
    third: ['POST', `${__ENV.BASE}/status/203`, { a: 1 }],
  });
  console.log(Object.keys(responses).sort().join());
  console.log(responses.first.status, responses.second.status, responses['third'].status);
}
