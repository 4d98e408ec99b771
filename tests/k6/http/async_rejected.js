// A request that cannot be made rejects its promise.
// differs: exit failed-requests
// differs: metrics no-duration
// differs: keys no-duration
import http from 'k6/http';

export default async function () {
  try {
    const response = await http.asyncRequest('GET', 'http://127.0.0.1:1/');
    console.log('settled', response.status, response.error_code);
  } catch (e) {
    console.log('rejected');
  }
}
