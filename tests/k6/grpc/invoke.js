// k6/net/grpc: a call with one message and one response.
import grpc from 'k6/net/grpc';
import { check } from 'k6';

const client = new grpc.Client();
const methods = client.load([], 'echo.proto');

export default function () {
  console.log(methods.length);
  client.connect(__ENV.GRPC, { plaintext: true });
  const message = {
    aDouble: 1.5, a_float: 0.25, anInt64: '-9007199254740993', aUint64: 7, aBool: true, aString: 'ä"b',
    someBytes: 'AP8=', color: 'COLOR_BLUE', items: [{ id: 1, tags: ['x'] }, {}], counts: { a: 1 },
    byId: { '-5': { name: 'five' } }, right: { id: 3 }, maybe: 0,
  };
  const response = client.invoke('echo.v1.Echo/Send', message, { tags: { own: 'x' } });
  check(response, { 'is OK': (r) => r.status === grpc.StatusOK });
  console.log(JSON.stringify(sorted(response.message)), JSON.stringify(response.error));
  console.log(JSON.stringify(sorted(response.headers)), JSON.stringify(sorted(response.trailers)));
  console.log(JSON.stringify(sorted(client.invoke('/echo.v1.Echo/Send', {}).message)));
  client.close();
}

function sorted(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}
