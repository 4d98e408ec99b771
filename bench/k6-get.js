// k6 as a peer in benchmarks: one GET per iteration; DISCARD=1 drops the bodies.
import http from 'k6/http';
export const options = { discardResponseBodies: !!__ENV.DISCARD };
export default function () { http.get(__ENV.URL); }
