// Bodies that are numbers, booleans, and arrays.
// differs: console wrong-arguments
// differs: metrics wrong-arguments
// differs: requests wrong-arguments
// differs: keys wrong-arguments
import http from 'k6/http';

export default function () {
  for (const body of [7, true, [1, 2]]) {
    try {
      console.log(http.post(`${__ENV.BASE}/echo`, body).json('body'));
    } catch (e) {
      console.log('exception');
    }
  }
}
